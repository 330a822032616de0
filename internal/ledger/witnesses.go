package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// Witness is an outside party that cosigns checkpoints (C2SP tlog-witness).
type Witness = gateway.Witness

const (
	// witnessRetry is the pause after a round without a quorum.
	witnessRetry = time.Second
	// missedRounds is how many rounds without a quorum raise the alarm. They take ten seconds if
	// witnesses refuse, and a minute if they do not answer.
	missedRounds = 10
)

// witnesses gets cosignatures on published heads. The goroutine of run takes the newest head, has the gateway ask the
// witnesses of the policy in force and of the policies that wait, and stores and shows what a quorum cosigned. Only
// published heads are sent, because their commit is known.
type witnesses struct {
	l         *Ledger
	gateway   *gateway.Gateway
	moved     chan struct{} // of capacity 1: the published head moved
	group     sync.WaitGroup
	roll      roll
	confirmed atomic.Bool          // a quorum cosigned a head of this daemon
	cosigned  atomic.Pointer[Head] // the newest cosigned head, nil for none; written by run
	newer     moved                // tells of a newer cosigned head
	missed    atomic.Uint32        // rounds without a quorum since the last with one; written by run
	late      late
	trial     sync.Mutex // held while a policy is tried

	settled chan struct{} // closed after the first round, when every witness has answered, if only with an error
	settle  sync.Once     // closes settled

	// Fields of the goroutine of run.
	policies *policyHistory
	asking   bool        // a round is under way
	rounds   chan *round // rounds that are over
}

// round is one head on its way to a quorum. Its policies are those of the time when it began.
// If another daemon lets a policy take over before it ends, the store refuses its result.
type round struct {
	governing *audit.Policy
	from      uint64 // policyHistory.unseen
	came      gateway.Round
}

// newWitnesses returns what asks the witnesses of the ledger's policies. There may be none.
func (l *Ledger) newWitnesses() (*witnesses, error) {
	policies, err := l.newPolicyHistory()
	if err != nil {
		return nil, err
	}
	w := &witnesses{l: l, moved: make(chan struct{}, 1), settled: make(chan struct{}), rounds: make(chan *round, 1),
		policies: policies}
	w.roll.l, w.roll.doubts = l, make(map[gateway.Address]*gateway.Contradiction)
	w.late.asked = make(map[string]time.Time)
	w.gateway = gateway.New(l.running, witnessedLog{l}, l.reachWitness, w.heard)
	w.learn()
	if w.policies.shown.Load().Ask() && l.cfg.Witness == nil {
		return nil, errors.New("the ledger has witnesses, and there is no way to reach them")
	}
	return w, nil
}

// start finds out which policy is in force, and starts the goroutine of run.
func (w *witnesses) start() error {
	w.follow()
	if err := w.checkIntervals(); err != nil {
		return err
	}
	w.roll.call(w.policies.witnesses())
	if head := w.l.Head(); w.due(head) {
		w.open(head)
	} else {
		w.settle.Do(func() { close(w.settled) })
	}
	w.group.Go(w.run)
	return nil
}

// wait waits for the end of all goroutines, after the ledger was closed.
func (w *witnesses) wait() {
	w.group.Wait()
	w.gateway.Wait()
}

// wake has run look whether there is a reason for a round.
func (w *witnesses) wake() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// run opens a round whenever there is a reason, one at a time, until the ledger is closed. After
// a round without a quorum it pauses.
func (w *witnesses) run() {
	retry := time.NewTicker(min(witnessRetry, w.l.cfg.Probe))
	defer retry.Stop()
	var earliest time.Time // of the next round
	for {
		select {
		case <-w.l.running.Done():
			return
		case <-w.moved:
		case r := <-w.rounds:
			w.asking = false
			if failed := w.ended(r); failed || w.roll.doubted() {
				earliest = time.Now().Add(witnessRetry)
			}
			w.settle.Do(func() { w.group.Go(func() { w.awaitAll(r) }) })
		case <-retry.C:
			w.follow()
			w.askLate()
		}
		head := w.l.Head()
		w.learn() // from the entries below head, at least
		if !w.asking && w.due(head) && !time.Now().Before(earliest) {
			w.open(head)
		}
	}
}

// learn takes in the policies of new entries, whose witnesses are asked from now on.
func (w *witnesses) learn() {
	if w.policies.learn() {
		w.roll.call(w.policies.witnesses())
	}
}

// follow takes in which policies took over, by stored checkpoints of this daemon or of another.
func (w *witnesses) follow() {
	if w.policies.follow() {
		w.roll.call(w.policies.witnesses())
	}
}

// awaitAll ends the wait of the start when every witness has answered in the round.
func (w *witnesses) awaitAll(r *round) {
	select {
	case <-r.came.Heard:
		close(w.settled)
	case <-w.l.running.Done():
	}
}

// due reports whether the witnesses are to be asked for head: if a witness doubts, or if the
// policy asks for witnesses and head is above the cosigned one or not confirmed yet.
func (w *witnesses) due(head Head) bool {
	return w.roll.doubted() || w.policies.in.At(head.Size).Asks() &&
		(head.Size > w.l.cosignedSize() || !w.confirmed.Load())
}

// open begins a round. The witnesses of all policies that wait are asked as well, so that they
// are at the head when their policy takes over.
func (w *witnesses) open(head Head) {
	r := &round{governing: w.policies.in.At(head.Size), from: w.policies.unseen(head.Size)}
	quorums := w.policies.quorums(head.Size)
	ask, slow := w.split()
	ask = append(ask, w.roll.doubters(slow)...) // nothing is signed until they doubt no more
	w.asking = true
	w.group.Go(func() {
		r.came = w.gateway.Cosign(w.l.running, gateway.Head(head), ask, quorums...)
		select {
		case w.rounds <- r:
		case <-w.l.running.Done():
		}
	})
}

// ended stores and shows the result of a round. failed says that the round must be repeated.
func (w *witnesses) ended(r *round) (failed bool) {
	switch {
	case !r.governing.Asks():
	case r.came.Met:
		w.confirmed.Store(true)
		failed = !w.keepCosigned(Head(r.came.Head), r.from)
		w.missing(false)
	default:
		failed = !w.followCosigned()
		if r.governing.Satisfied(r.came.Head.Checkpoint) {
			w.confirmed.Store(true) // only the policy that waits was not met
		} else if h, ok := w.l.Cosigned(); ok && r.came.Confirms(gateway.Head(h), w.policies.shown.Load().At(h.Size)) {
			w.confirmed.Store(true)
		}
		w.missing(failed)
	}
	w.follow()
	return failed
}

// missing counts successive rounds without a quorum. At missedRounds it has the alarm written.
func (w *witnesses) missing(missed bool) {
	if !missed {
		w.missed.Store(0)
		return
	}
	if w.missed.Add(1) != missedRounds {
		return
	}
	reason := w.without(missedRounds)
	w.l.ask(w.l.running, func() { w.l.alarm(audit.AlarmWitnesses, reason) }) // unless the ledger is closing
}

// lacking is why nothing can be dealt that needs a quorum, nil if the last round had one.
func (w *witnesses) lacking() error {
	missed := w.missed.Load()
	if missed == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNotWitnessed, w.without(missed))
}

// without says in words that rounds had no quorum.
func (w *witnesses) without(rounds uint32) string {
	return fmt.Sprintf("%d rounds without a quorum of the witnesses, since the cosigned checkpoint of size %d", rounds,
		w.l.cosignedSize())
}

// heard takes in what a witness answered, in time or late. If a witness that is asked doubts,
// signing stops. A witness that is only tried is no reason to stop.
func (w *witnesses) heard(a gateway.Answer) {
	var doubt *gateway.Contradiction
	if w.roll.note(a); errors.As(a.Err, &doubt) {
		w.l.ask(w.l.running, w.l.stopForDoubts)
	}
}

// reachWitness returns the way to a witness.
func (l *Ledger) reachWitness(lines []audit.Witness) (Witness, error) {
	if l.cfg.Witness == nil {
		return nil, errors.New("there is no way to reach witnesses")
	}
	asked, err := l.cfg.Witness(lines)
	if err == nil {
		err = l.mayAsk(lines[0])
	}
	if err != nil {
		return nil, fmt.Errorf("reaching witness %s: %w", lines[0].Name, err)
	}
	return asked, nil
}

func (l *Ledger) mayAsk(one audit.Witness) error {
	if l.cfg.MayAsk == nil {
		return nil
	}
	return l.cfg.MayAsk(l.Genesis(), one)
}

// witnessedLog is the ledger as a gateway.Log.
type witnessedLog struct{ l *Ledger }

func (w witnessedLog) Origin() string        { return w.l.cfg.Info.Origin }
func (w witnessedLog) Keys() []note.Verifier { return w.l.witnessedKeys() }

func (w witnessedLog) Prove(ctx context.Context, old uint64, head gateway.Head) ([]tlog.Hash, error) {
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, w.l.ownTiles(ctx))
	proof, err := tlog.ProveTree(int64(head.Size), int64(old), reader)
	if err != nil {
		return nil, fmt.Errorf("proving that size %d extends size %d: %w", head.Size, old, err)
	}
	return proof, nil
}

// Reach folds what other daemons wrote. That a frozen ledger does not is no error: it reads on at every probe.
func (w witnessedLog) Reach(ctx context.Context, size uint64) (uint64, error) {
	if w.l.Head().Size < size {
		if err := w.l.Refresh(ctx); err != nil && !errors.Is(err, ErrFrozen) {
			return 0, err
		}
	}
	return w.l.Head().Size, nil
}

func (w witnessedLog) Extends(ctx context.Context, c audit.Checkpoint) (bool, error) {
	return w.l.extends(ctx, w.l.Head(), c)
}

// extends reports whether head extends a checkpoint of at least one entry.
func (l *Ledger) extends(ctx context.Context, head Head, c audit.Checkpoint) (bool, error) {
	if c.Size > head.Size {
		return false, nil
	}
	root, err := l.rootAt(ctx, head, c.Size)
	return err == nil && root == c.Root, err
}
