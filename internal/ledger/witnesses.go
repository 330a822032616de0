package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	// witnessRetry is how soon a round without a quorum is followed by the next.
	witnessRetry = time.Second
	// missedRounds is how many rounds without a quorum are an alarm: ten seconds of
	// refusals, or a minute of silence.
	missedRounds = 10
)

// witnesses gets cosignatures on published heads: the goroutine of run takes the newest
// head, has the gateway ask the witnesses of the policy in force and of those that wait,
// and stores and shows what a quorum cosigned. Only published heads are sent: their commit
// is known.
type witnesses struct {
	l         *Ledger
	gateway   *gateway.Gateway
	moved     chan struct{} // capacity 1: the published head moved
	group     sync.WaitGroup
	intervals atomic.Pointer[intervals] // which policy governs; written by run
	confirmed atomic.Bool               // a quorum cosigned a head of this daemon
	cosigned  cosignedHead
	trial     sync.Mutex // held while a policy is tried

	settled chan struct{} // closed when the first round is over and everybody has answered, if only that he does not
	settle  sync.Once     // closes settled

	mu     sync.Mutex
	asked  []*asked                                   // the witnesses of the policy in force, then of those that wait
	doubts map[gateway.Address]*gateway.Contradiction // of witnesses that have seen another history

	// Of run.
	policies *audit.Policies
	history  int              // records of the key history that policies has
	past     []policyInterval // of the policies that are or were in force
	looked   uint64           // stored checkpoints below this size let no waiting policy take over
	round    *round           // nil: none is under way
	rounds   chan *round      // rounds that are over
	missed   int              // rounds without a quorum since the last with one
}

// round is one head on its way to a quorum.
type round struct {
	head            Head
	governing, next *audit.Policy
	stop            context.CancelFunc
	came            gateway.Round
}

// asked is a witness that is asked, at one address.
type asked struct {
	witness audit.Witness
	size    uint64 // of the newest head that it cosigned for this daemon
	err     error  // why it did not cosign the newest it was asked for
	told    string // err as the log has it
	toldAt  time.Time
}

// WitnessState is what the daemon knows of a witness.
type WitnessState struct {
	Name string // in its policy; where two have it, with the key's id, and then the URL, behind it
	Size uint64 // of the newest head that it cosigned for this daemon
	Err  error  // why it did not cosign the newest it was asked for; nil: it did
}

// newWitnesses returns what asks the witnesses of the ledger's policies, whether it has
// any now or not.
func (l *Ledger) newWitnesses() (*witnesses, error) {
	policies, err := audit.NewPolicies(l.Genesis().Policy)
	if err != nil {
		return nil, err
	}
	w := &witnesses{l: l, moved: make(chan struct{}, 1), settled: make(chan struct{}), rounds: make(chan *round, 1),
		doubts: make(map[gateway.Address]*gateway.Contradiction), policies: policies, past: []policyInterval{{0, policies.Governing(0)}}}
	w.cosigned.more = make(chan struct{})
	w.gateway = gateway.New(l.running, witnessedLog{l}, l.reachWitness, w.heard)
	w.learn()
	if w.intervals.Load().ask() && l.cfg.Witness == nil {
		return nil, errors.New("the ledger has witnesses, and there is no way to reach them")
	}
	return w, nil
}

// start finds out which policy is in force, and runs the goroutine, which ends with the
// ledger.
func (w *witnesses) start() {
	w.follow()
	if head := w.l.Head(); w.due(head) {
		w.open(head)
	} else {
		w.settle.Do(func() { close(w.settled) })
	}
	w.group.Go(w.run)
}

// wait waits for the end of the goroutines.
func (w *witnesses) wait() {
	w.group.Wait()
	w.gateway.Wait()
}

// wake says that there may be a reason for a round.
func (w *witnesses) wake() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// run opens a round whenever there is a reason to, and again after a pause when the round
// before found no quorum.
func (w *witnesses) run() {
	retry := time.NewTicker(min(witnessRetry, w.l.cfg.Probe))
	defer retry.Stop()
	var earliest time.Time // of the next round
	for {
		select {
		case <-w.l.stop:
			return
		case <-w.moved:
		case r := <-w.rounds:
			if w.round == r {
				w.round = nil
				if failed := w.ended(r); failed || w.doubted() {
					earliest = time.Now().Add(witnessRetry)
				}
			}
			w.settle.Do(func() { w.group.Go(func() { w.awaitAll(r) }) })
		case <-retry.C:
			w.follow()
		}
		head := w.l.Head()
		w.learn() // of the entries below head, at least
		if w.round == nil && w.due(head) && !time.Now().Before(earliest) {
			w.open(head)
		}
	}
}

// awaitAll ends the wait of the start when everybody has answered.
func (w *witnesses) awaitAll(r *round) {
	select {
	case <-r.came.Heard:
		close(w.settled)
	case <-w.l.stop:
	}
}

// due reports whether the witnesses are to be asked for head: it is above the cosigned
// one or not confirmed yet, or somebody doubts.
func (w *witnesses) due(head Head) bool {
	return w.doubted() || w.policies.Governing(head.Size).Asks() &&
		(head.Size > w.l.cosignedSize() || !w.confirmed.Load())
}

// open begins a round. A checkpoint that lets a waiting policy take over needs both quorums
// here, though the old one's is enough for docs/SPEC.md section 7.3: the new one is shown
// to be met before it governs. All that wait are asked, so that they are at the head when
// their turn comes.
func (w *witnesses) open(head Head) {
	r := &round{head: head, governing: w.policies.Governing(head.Size), next: w.policies.Next(head.Size)}
	var quorums []*audit.Policy
	if r.governing.Asks() {
		quorums = []*audit.Policy{r.governing, r.next}
	}
	var ask []audit.Witness
	w.mu.Lock()
	for _, one := range w.asked {
		ask = append(ask, one.witness)
	}
	w.mu.Unlock()
	ctx, stop := context.WithCancel(w.l.running)
	r.stop, w.round = stop, r
	w.group.Go(func() {
		defer stop()
		r.came = w.gateway.Cosign(ctx, gateway.Head(head), ask, quorums...)
		select {
		case w.rounds <- r:
		case <-w.l.stop:
		}
	})
}

// abandon ends the round that is under way: it may be of a size that another policy governs.
func (w *witnesses) abandon() {
	if w.round != nil {
		w.round.stop()
		w.round = nil
	}
}

// ended stores and shows what a round brought; failed: not what it was for.
func (w *witnesses) ended(r *round) (failed bool) {
	if r.governing != w.policies.Governing(r.head.Size) || r.next != w.policies.Next(r.head.Size) {
		return false // a policy came while it was under way
	}
	switch {
	case !r.governing.Asks():
	case r.came.Met:
		w.confirmed.Store(true)
		failed = !w.keepCosigned(Head(r.came.Head), w.unseen(r.head.Size))
		w.missing(false)
	default:
		failed = !w.followCosigned()
		if r.governing.Satisfied(r.came.Head.Checkpoint) {
			w.confirmed.Store(true) // only the policy that waits was not met
		} else if h, ok := w.l.Cosigned(); ok && r.came.Confirms(gateway.Head(h), w.intervals.Load().at(h.Size)) {
			w.confirmed.Store(true)
		}
		w.missing(failed)
	}
	w.follow()
	return failed
}

// missing counts rounds without a quorum, one after another, and has the alarm
// written when there were missedRounds of them.
func (w *witnesses) missing(missed bool) {
	if !missed {
		w.missed = 0
		return
	}
	if w.missed++; w.missed != missedRounds {
		return
	}
	reason := fmt.Sprintf("%d rounds without a quorum of the witnesses, since the cosigned checkpoint of size %d",
		missedRounds, w.l.cosignedSize())
	if w.l.ask(w.l.running, func() { w.l.alarm(audit.AlarmWitnesses, reason) }) != nil {
		w.missed-- // the ledger is closing
	}
}

// name has those asked whom the policies name, each at the addresses that they name.
// Of one that is asked no more what it showed stays a doubt, its mere word does not.
func (w *witnesses) name() {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.asked
	w.asked = nil
	want := func(p *audit.Policy) {
		if !p.Asks() {
			return
		}
		for _, one := range p.Witnesses {
			at := gateway.AddressOf(one)
			if find(w.asked, at) != nil {
				continue
			}
			a := find(before, at)
			if a == nil {
				a = &asked{witness: one, err: errors.New("not asked yet")}
			}
			w.asked = append(w.asked, a)
		}
	}
	want(w.policies.Governing(0))
	for _, p := range w.policies.Waiting() {
		want(p.Policy)
	}
	for at, c := range w.doubts {
		if c.Seen == nil && find(w.asked, at) == nil {
			delete(w.doubts, at)
		}
	}
}

// find returns the witness at an address, nil for none.
func find(list []*asked, at gateway.Address) *asked {
	i := slices.IndexFunc(list, func(a *asked) bool { return gateway.AddressOf(a.witness) == at })
	if i < 0 {
		return nil
	}
	return list[i]
}

// doubted reports whether a witness has seen another history.
func (w *witnesses) doubted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.doubts) > 0
}

// heard takes what a witness said, in time or late. On a doubt the sequencer stops; a
// witness that cosigns doubts no more. One that is only tried is no reason to stop.
func (w *witnesses) heard(a gateway.Answer) {
	var doubt *gateway.Contradiction
	if w.note(a); errors.As(a.Err, &doubt) {
		w.l.ask(w.l.running, w.l.stopForDoubts)
	}
}

func (w *witnesses) note(a gateway.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := gateway.AddressOf(a.Witness)
	one := find(w.asked, at)
	if one == nil {
		return
	}
	var doubt *gateway.Contradiction
	if one.err = a.Err; a.Err == nil {
		one.size = a.Size
		delete(w.doubts, at)
	} else if errors.As(a.Err, &doubt) {
		w.doubts[at] = doubt
	}
	w.tell(one)
}

// doubt returns a doubt about the history that head ends, nil for none. What a witness
// showed is no doubt any more once head extends it, whether the witness is there or not.
func (w *witnesses) doubt(ctx context.Context, head Head) *gateway.Contradiction {
	w.mu.Lock()
	doubts := maps.Clone(w.doubts)
	w.mu.Unlock()
	for _, at := range slices.SortedFunc(maps.Keys(doubts), gateway.Address.Compare) {
		c := doubts[at]
		if c.Seen == nil {
			return c
		}
		if held, err := w.l.extends(ctx, head, *c.Seen); err != nil || !held {
			return c
		}
		w.mu.Lock()
		if w.doubts[at] == c {
			delete(w.doubts, at)
		}
		w.mu.Unlock()
	}
	return nil
}

// tell logs why a witness did not cosign when that is new, and not too often: a witness
// can make up a reason for every head. It needs the lock.
func (w *witnesses) tell(one *asked) {
	if one.err == nil {
		one.told = ""
		return
	}
	if why := one.err.Error(); why != one.told && time.Since(one.toldAt) >= witnessRetry {
		one.told, one.toldAt = why, time.Now()
		w.l.cfg.Log.Warn("a witness did not cosign", "ledger", w.l.cfg.Info.Name, "witness", one.witness.Name, "url",
			one.witness.URL, "error", one.err)
	}
}

// Witnesses returns the witnesses of the policy in force and of those that wait, by name;
// empty without any.
func (l *Ledger) Witnesses() []WitnessState {
	w := l.witnesses
	w.mu.Lock()
	defer w.mu.Unlock()
	states := make([]WitnessState, 0, len(w.asked))
	shown := make(map[string]bool)
	for _, one := range w.asked {
		s := WitnessState{Size: one.size, Err: one.err}
		keyed := one.witness.Name + fmt.Sprintf("+%08x", one.witness.Key.KeyHash())
		for _, s.Name = range []string{one.witness.Name, keyed, keyed + " " + one.witness.URL} {
			if !shown[s.Name] {
				break
			}
		}
		shown[s.Name] = true
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b WitnessState) int { return strings.Compare(a.Name, b.Name) })
	return states
}

// reachWitness returns the way to a witness.
func (l *Ledger) reachWitness(one audit.Witness) (Witness, error) {
	if l.cfg.Witness == nil {
		return nil, errors.New("there is no way to reach witnesses")
	}
	asked, err := l.cfg.Witness(one)
	if err == nil {
		err = l.mayAsk(one)
	}
	if err != nil {
		return nil, fmt.Errorf("reaching witness %s: %w", one.Name, err)
	}
	return asked, nil
}

func (l *Ledger) mayAsk(one audit.Witness) error {
	if l.cfg.MayAsk == nil {
		return nil
	}
	return l.cfg.MayAsk(l.Genesis(), one)
}

// witnessedLog is the ledger as the gateway sees it.
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

// Reach folds what other daemons wrote. A frozen ledger does that by itself.
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
