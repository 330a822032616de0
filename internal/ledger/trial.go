package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"shuffled/internal/audit"
)

// ErrPolicy: the witnesses of a new policy did not cosign the newest checkpoint.
// Nothing was written.
var ErrPolicy = errors.New("the policy's quorum did not cosign the newest checkpoint")

// trial is a policy that is tried before it is written: one that can never be met
// could not take over, and deals that wait for witnesses would wait for ever.
// Its rounds begin with those of the policy in force and hold up none of them: a
// witness that does not answer is the trial's alone to wait for. What counts is
// what the witnesses answer where the policy says that they are.
// Goroutine run of witnessing owns what is below done.
type trial struct {
	ctx    context.Context
	policy *audit.Policy
	done   chan error // capacity 1
	round  *round     // nil: none under way
	next   time.Time  // earliest begin of the next
	rounds int        // that ended without the quorum
}

// names reports whether the policy has the member's witness at its address.
func (t *trial) names(m *member) bool {
	return slices.ContainsFunc(t.policy.Witnesses, func(one audit.Witness) bool { return addressOf(one) == m.at })
}

// waits reports whether a member is yet to answer the trial's round.
func (t *trial) waits(m *member) bool { return t != nil && t.round != nil && t.round.waits[m] }

// due reports whether the trial wants a round.
func (t *trial) due() bool { return t != nil && t.round == nil && !time.Now().Before(t.next) }

// trialRounds is how many rounds a quorum may take: another daemon may be with a
// witness.
const trialRounds = 3

// tryPolicy asks the witnesses of a policy to cosign the newest head. In production
// any two quorums of it share a witness (docs/SPEC.md section 7.3).
func (l *Ledger) tryPolicy(ctx context.Context, text []byte) error {
	p, err := audit.ParsePolicy(text)
	if err != nil {
		return notTaken("%s", err)
	}
	if err := p.CheckOverlap(); err != nil && l.Genesis().Production {
		return notTaken("a production ledger does not take this policy: %s", err)
	}
	for _, one := range p.Witnesses {
		if err := l.mayAsk(one); err != nil {
			return notTaken("witness %s: %s", one.Name, err)
		}
	}
	if !p.Asks() {
		return nil // whether it may is for the rules
	}
	t := &trial{ctx: ctx, policy: p, done: make(chan error, 1)}
	select {
	case l.witnessing.trials <- t:
	case <-ctx.Done():
		return fmt.Errorf("%w: it was not tried: another one is", ErrPolicy)
	case <-l.stop:
		return ErrClosed
	}
	select {
	case err := <-t.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w in time", ErrPolicy)
	case <-l.stop:
		return ErrClosed
	}
}

// begin tries a policy, one at a time.
func (w *witnessing) begin(t *trial) {
	if w.trial != nil {
		t.done <- fmt.Errorf("%w: it was not tried: another one is", ErrPolicy)
		return
	}
	w.trial = t
	w.recruit()
	w.round = nil // for both rounds to be of the newest head
}

// end tells what came of the trial, and lets its members go on to what was kept
// from them.
func (w *witnessing) end(err error) {
	t := w.trial
	t.done <- err
	w.trial = nil
	if t.round != nil && w.round != nil && t.round.head.Size != w.round.head.Size {
		for m := range t.round.waits {
			if w.round.waits[m] {
				m.send(w.round.head)
			}
		}
	}
	w.recruit()
}

// try counts a reply to the trial's round, which ends when the quorum is reached
// or everybody has answered.
func (w *witnessing) try(a reply) {
	t := w.trial
	t.round.add(a)
	if a.err == nil && t.policy.Satisfied(t.round.signed(t.policy)) {
		w.end(nil)
		return
	}
	if len(t.round.waits) > 0 {
		return
	}
	t.round, t.next = nil, time.Now().Add(witnessRetry)
	if t.rounds++; t.rounds < trialRounds {
		return
	}
	var why []string
	for _, m := range w.members {
		if err := w.states[m].Err; err != nil && t.names(m) {
			why = append(why, m.name+": "+err.Error())
		}
	}
	w.end(fmt.Errorf("%w: %s", ErrPolicy, strings.Join(why, "; ")))
}

// expire ends a trial that nobody waits for any more.
func (w *witnessing) expire() {
	if w.trial != nil && w.trial.ctx.Err() != nil {
		w.end(w.trial.ctx.Err())
	}
}

// tryKey asks the witnesses whether they know a new signing key of the ledger: a
// witness that does not would cosign nothing after its entry. One that cannot be
// reached is told later.
//
// The question is the newest head under the new key with the old size 0. A witness
// looks at the signature before the size (C2SP tlog-witness), so one that knows the
// key answers with the size it is at, and changes nothing.
func (l *Ledger) tryKey(ctx context.Context, public []byte) error {
	key, err := audit.Verifier(l.cfg.Info.Origin, public)
	if err != nil {
		return notTaken("%s", err)
	}
	s := l.signer(key)
	if s == nil {
		return notTaken("this daemon does not hold the private half of the new signing key")
	}
	head := l.Head()
	policy := l.witnessing.tenures.Load().at(head.Size)
	if !policy.Asks() {
		return nil
	}
	head, err = signHead(head.Size, head.Root, s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, witnessTimeout)
	defer cancel()
	unaware := make([]string, len(policy.Witnesses))
	var group sync.WaitGroup
	for i, one := range policy.Witnesses {
		group.Go(func() {
			_, err := l.reachWitness(one).AddCheckpoint(ctx, 0, nil, head.Checkpoint)
			if errors.Is(err, audit.ErrWitnessRefused) && !errors.Is(err, audit.ErrWitnessContradicts) {
				unaware[i] = one.Name
			}
		})
	}
	group.Wait()
	unaware = slices.DeleteFunc(unaware, func(name string) bool { return name == "" })
	if len(unaware) > 0 {
		return notTaken("these witnesses do not know the new signing key: %s", strings.Join(unaware, ", "))
	}
	return nil
}
