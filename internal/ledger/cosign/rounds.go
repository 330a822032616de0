// Package cosign has witnesses cosign the heads of a ledger, in rounds, at intervals and on trial. It signs nothing.
package cosign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/witness/gateway"
)

// New returns what asks the witnesses of the ledger's policies. There may be none.
func New(of *ledger.Core, cfg ledger.Config, shown *ledger.Shown, life *ledger.Life, keys func() []note.Verifier,
	alarm func(audit.Alarm, string), stop func()) (*Rounds, error) {
	l := &core{of, cfg, shown, life}
	policies, err := newPolicyHistory(l)
	if err != nil {
		return nil, err
	}
	w := &Rounds{l: l, news: make(chan struct{}, 1), settled: make(chan struct{}), rounds: make(chan *round, 1),
		policies: policies, raise: alarm, stop: stop}
	w.roll.l, w.roll.doubts = l, make(map[address]*gateway.Contradiction)
	w.late.asked = make(map[string]time.Time)
	log := gateway.Log{Origin: cfg.Info.Origin, Keys: keys, Prove: l.prove, Reach: of.Reach, Extends: l.extends}
	w.gateway = gateway.New(l.life.Running, log, w.ReachWitness, w.heard)
	w.learn()
	if w.policies.shown.Load().Ask() && l.cfg.Witness == nil {
		return nil, errors.New("the ledger has witnesses, and there is no way to reach them")
	}
	return w, nil
}

// Start finds out which policy is in force, and starts the goroutine of run.
func (w *Rounds) Start() error {
	w.Follow()
	if err := w.checkOpen(); err != nil {
		return err
	}
	w.roll.call(w.policies.witnesses())
	if head := w.l.Head(); w.due(head) {
		w.openRound(head)
	} else {
		w.settle.Do(func() { close(w.settled) })
	}
	w.askers.Go(w.run)
	return nil
}

// Join waits for the end of all goroutines, after the ledger was closed.
func (w *Rounds) Join() {
	w.askers.Wait()
	w.gateway.Wait()
}

// Policies returns the witness policies, by the sizes for which they govern. The caller does not change them.
func (w *Rounds) Policies() *trust.Policies { return w.policies.shown.Load() }

// Confirmed reports whether a quorum cosigned a head of this daemon.
func (w *Rounds) Confirmed() bool { return w.confirmed.Load() }

// Settled returns a channel that is closed after the first round, when every witness has answered.
func (w *Rounds) Settled() <-chan struct{} { return w.settled }

// Wake has run look whether there is a reason for a round.
func (w *Rounds) Wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// run opens a round whenever there is a reason, one at a time, until the ledger is closed. After
// a round without a quorum it pauses.
func (w *Rounds) run() {
	retry := time.NewTicker(min(witnessRetry, w.l.cfg.Probe))
	defer retry.Stop()
	var earliest time.Time // of the next round
	for {
		select {
		case <-w.l.life.Running.Done():
			return
		case <-w.news:
		case r := <-w.rounds:
			w.asking = false
			if failed := w.ended(r); failed || w.roll.doubted() {
				earliest = time.Now().Add(witnessRetry)
			}
			w.settle.Do(func() { w.askers.Go(func() { w.awaitAll(r) }) })
		case <-retry.C:
			w.Follow()
			w.askLate()
		}
		head := w.l.Head()
		w.learn() // from the entries below head, at least
		if !w.asking && w.due(head) && !time.Now().Before(earliest) {
			w.openRound(head)
		}
	}
}

// learn takes in the policies of new entries, whose witnesses are asked from now on.
func (w *Rounds) learn() {
	if w.policies.learn() {
		w.roll.call(w.policies.witnesses())
	}
}

// Follow takes in which policies took over, by stored checkpoints of this daemon or of another.
func (w *Rounds) Follow() {
	if w.policies.follow() {
		w.roll.call(w.policies.witnesses())
	}
}

// awaitAll ends the wait of the start when every witness has answered in the round.
func (w *Rounds) awaitAll(r *round) {
	select {
	case <-r.came.Heard:
		close(w.settled)
	case <-w.l.life.Running.Done():
	}
}

// due reports whether the witnesses are to be asked for head: if a witness doubts, or if the
// policy asks for witnesses and head is above the cosigned one or not confirmed yet.
func (w *Rounds) due(head ledger.Head) bool {
	return w.roll.doubted() || w.policies.in.At(head.Size).Asks() &&
		(head.Size > w.CosignedSize() || !w.confirmed.Load())
}

// openRound begins a round. The witnesses of all policies that wait are asked as well, so that they
// are at the head when their policy takes over.
func (w *Rounds) openRound(head ledger.Head) {
	r := &round{governing: w.policies.in.At(head.Size), from: w.policies.unseen(head.Size)}
	quorums := w.policies.quorums(head.Size)
	ask, slow := w.split()
	ask = append(ask, w.roll.doubters(slow)...) // nothing is signed until they doubt no more
	w.asking = true
	w.askers.Go(func() {
		r.came = w.gateway.Cosign(w.l.life.Running, head, ask, quorums...)
		select {
		case w.rounds <- r:
		case <-w.l.life.Running.Done():
		}
	})
}

// ended stores and shows the result of a round. failed says that the round must be repeated.
func (w *Rounds) ended(r *round) (failed bool) {
	switch {
	case !r.governing.Asks():
	case r.came.Met:
		w.confirmed.Store(true)
		failed = !w.keepCosigned(r.came.Head, r.from)
		w.missing(false)
	default:
		failed = !w.followCosigned()
		if r.governing.Satisfied(r.came.Head.Checkpoint) {
			w.confirmed.Store(true) // only the policy that waits was not met
		} else if h, ok := w.Cosigned(); ok && r.came.Confirms(h, w.policies.shown.Load().At(h.Size)) {
			w.confirmed.Store(true)
		}
		w.missing(failed)
	}
	w.Follow()
	return failed
}

// missing counts successive rounds without a quorum. At missedRounds it has the alarm written.
func (w *Rounds) missing(missed bool) {
	if !missed {
		w.missed.Store(0)
		return
	}
	if w.missed.Add(1) != missedRounds {
		return
	}
	reason := w.without(missedRounds)
	w.l.Ask(w.l.life.Running, func() { w.raise(audit.AlarmWitnesses, reason) }) // unless the ledger is closing
}

// Lacking is why nothing can be dealt that needs a quorum, nil if the last round had one.
func (w *Rounds) Lacking() error {
	missed := w.missed.Load()
	if missed == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ledger.ErrNotWitnessed, w.without(missed))
}

// without says in words that rounds had no quorum.
func (w *Rounds) without(rounds uint32) string {
	return fmt.Sprintf("%d rounds without a quorum of the witnesses, since the cosigned checkpoint of size %d", rounds,
		w.CosignedSize())
}

// heard takes in what a witness answered, in time or late. If a witness that is asked doubts,
// signing stops. A witness that is only tried is no reason to stop.
func (w *Rounds) heard(a gateway.Answer) {
	if w.roll.note(a); errors.As(a.Err, new(*gateway.Contradiction)) {
		w.l.Ask(w.l.life.Running, w.stop)
	}
}

// checkOpen is checkIntervals for the policy in force and for each policy that waits.
func (w *Rounds) checkOpen() error {
	for _, p := range w.policies.open() {
		if err := w.checkIntervals(p); err != nil {
			return err
		}
	}
	return nil
}

// split returns the witnesses that are asked for every head, and those that are asked at an interval. If another daemon
// wrote a policy whose quorum needs one of the latter, all are asked for every head.
func (w *Rounds) split() (fast, slow []trust.Witness) {
	all := w.policies.witnesses()
	if len(w.l.cfg.Intervals) == 0 || w.checkOpen() != nil {
		return all, nil
	}
	for _, one := range all {
		if w.hasInterval(one) {
			slow = append(slow, one)
		} else {
			fast = append(fast, one)
		}
	}
	return fast, slow
}

// askLate offers the newest cosigned head to the witnesses whose interval is over. One goroutine does so at a time.
func (w *Rounds) askLate() {
	_, slow := w.split()
	head, ok := w.Cosigned()
	if len(slow) == 0 || !ok || !w.late.turn.TryLock() {
		return
	}
	w.askers.Go(func() {
		defer w.late.turn.Unlock()
		if err := w.offer(head, slow); err != nil {
			w.l.cfg.Log.Error("witnesses that have an interval could not be asked", "size", head.Size, "error", err)
		}
	})
}

// offer asks the witnesses whose interval is over for late cosignatures of a cosigned head, and
// stores these. A late checkpoint that another daemon stored counts for the intervals too.
func (w *Rounds) offer(head ledger.Head, slow []trust.Witness) error {
	l, t := w.l, &w.late
	if head.Size <= t.size || len(t.due(l.cfg.Intervals, slow)) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.life.Running, ledger.StoreTimeout)
	defer cancel()
	rows, err := l.cfg.Store.NewestLate(ctx, l.ID(), lateRows)
	if err != nil {
		return err
	}
	policies := w.policies.shown.Load()
	known := func(h ledger.Head) bool { return h.Size <= t.size || !w.isCosigned(h, policies) }
	t.read(slices.DeleteFunc(rows, known), slow)
	due := t.due(l.cfg.Intervals, slow)
	if head.Size <= t.size || len(due) == 0 {
		return nil
	}
	now := time.Now()
	for _, one := range due {
		t.asked[one.Key.Name()] = now
	}
	bare, own := head, l.SignedBy(head.Size) // with the ledger's own signature lines alone
	bare.Checkpoint = gateway.LinesOf(head.Checkpoint, func(signer string) bool {
		return slices.ContainsFunc(own, func(k note.Verifier) bool { return gateway.Signer(k) == signer })
	})
	r := w.gateway.Cosign(l.life.Running, bare, due)
	lines := r.Cosignatures(head.Checkpoint)
	if len(lines) == 0 {
		return nil // the roll has each error
	}
	head.Checkpoint = append(slices.Clip(head.Checkpoint), lines...)
	if _, err := audit.CheckpointText(head.Checkpoint); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(l.life.Running, ledger.StoreTimeout)
	defer cancel()
	if err := l.cfg.Store.PutLate(ctx, l.ID(), head); err != nil && !errors.Is(err, ledger.ErrExists) {
		return err
	}
	t.size = head.Size
	return nil
}
