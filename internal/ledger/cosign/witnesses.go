package ledger

import (
	"context"
	"errors"
	"fmt"
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

// witnesses gets cosignatures on published heads. The goroutine of run takes the newest head, has the gateway ask the
// witnesses of the policy in force and of the policies that wait, and stores and shows what a quorum cosigned. Only
// published heads are sent, because their commit is known.
type witnesses struct {
	l         *core
	gateway   *gateway.Gateway
	news      chan struct{} // of capacity 1: the published head moved
	askers    sync.WaitGroup
	roll      roll
	confirmed atomic.Bool          // a quorum cosigned a head of this daemon
	cosigned  atomic.Pointer[Head] // the newest cosigned head, nil for none; written by run
	newer     moved                // tells of a newer cosigned head
	missed    atomic.Uint32        // rounds without a quorum since the last with one; written by run
	late      late
	trial     sync.Mutex // held while a policy is tried

	// On the sequencer's goroutine: to have an alarm written, and to stop signing if a witness doubts.
	raise func(audit.Alarm, string)
	stop  func()

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

// reachWitness returns the way to a witness.
func (w *witnesses) reachWitness(lines []audit.Witness) (Witness, error) {
	if w.l.cfg.Witness == nil {
		return nil, errors.New("there is no way to reach witnesses")
	}
	asked, err := w.l.cfg.Witness(lines)
	if err == nil {
		err = w.mayAsk(lines[0])
	}
	if err != nil {
		return nil, fmt.Errorf("reaching witness %s: %w", lines[0].Name, err)
	}
	return asked, nil
}

func (w *witnesses) mayAsk(one audit.Witness) error {
	if w.l.cfg.MayAsk == nil {
		return nil
	}
	return w.l.cfg.MayAsk(w.l.Genesis(), one)
}

// witnessedLog is the ledger as a gateway.Log.
type witnessedLog struct {
	l    *core
	keys func() []note.Verifier // under which a checkpoint that a witness shows is evidence of another history
}

func (w witnessedLog) Origin() string        { return w.l.cfg.Info.Origin }
func (w witnessedLog) Keys() []note.Verifier { return w.keys() }

func (w witnessedLog) Prove(ctx context.Context, old uint64, head Head) ([]tlog.Hash, error) {
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, w.l.ownTiles(ctx))
	proof, err := tlog.ProveTree(int64(head.Size), int64(old), reader)
	if err != nil {
		return nil, fmt.Errorf("proving that size %d extends size %d: %w", head.Size, old, err)
	}
	return proof, nil
}

func (w witnessedLog) Reach(ctx context.Context, size uint64) (uint64, error) {
	return w.l.reach(ctx, size)
}

func (w witnessedLog) Extends(ctx context.Context, c audit.Checkpoint) (bool, error) {
	return w.l.extends(ctx, w.l.Head(), c)
}

// trialRounds is how many rounds the quorum of a new policy may take. overtakenRounds is how many it may take if the
// last round failed only because another round, of this daemon or of another, had brought the witnesses a newer head.
const trialRounds, overtakenRounds = 3, 10

// tryPolicy has the witnesses of a policy cosign the newest head, at the addresses that the policy gives them. A policy
// whose quorum is never met could not take over, and deals that wait for witnesses would wait for ever. In production
// any two of its quorums must share a witness (docs/SPEC.md section 7.3).
func (w *witnesses) tryPolicy(ctx context.Context, text []byte) error {
	p, err := audit.ParsePolicy(text)
	if err != nil {
		return NotTaken("%s", err)
	}
	if err := p.CheckOverlap(); err != nil && w.l.Genesis().Production {
		return NotTaken("a production ledger does not take this policy: %s", err)
	}
	for _, one := range p.Witnesses {
		if err := w.mayAsk(one); err != nil {
			return NotTaken("witness %s: %s", one.Name, err)
		}
	}
	if !p.Asks() {
		return nil // whether it may is for the rules
	}
	if err := w.checkIntervals(p); err != nil {
		return NotTaken("%s", err)
	}
	ask := slices.DeleteFunc(slices.Clone(p.Witnesses), w.hasInterval)
	if !w.trial.TryLock() {
		return fmt.Errorf("%w: the policy was not tried, because another trial runs", ErrPolicy)
	}
	defer w.trial.Unlock()
	for try := 1; ; try++ {
		r := w.gateway.Cosign(ctx, w.l.Head(), ask, p)
		switch {
		case r.Met:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w in time", ErrPolicy)
		case try == overtakenRounds || try >= trialRounds && !overtaken(r.Refused):
			var why []string
			for _, a := range r.Refused {
				why = append(why, a.Witness.Name+": "+a.Err.Error())
			}
			return fmt.Errorf("%w: %s", ErrPolicy, strings.Join(why, "; "))
		}
		select {
		case <-time.After(witnessRetry):
		case <-ctx.Done():
		case <-w.l.life.running.Done():
			return ErrClosed
		}
	}
}

// overtaken reports whether witnesses refused, and each because it has a newer head than it was asked about.
func overtaken(refused []gateway.Answer) bool {
	moved := func(a gateway.Answer) bool { return errors.As(a.Err, new(*gateway.Moved)) }
	return len(refused) > 0 && !slices.ContainsFunc(refused, func(a gateway.Answer) bool { return !moved(a) })
}

// hasInterval reports whether the configuration gives a witness an interval.
func (w *witnesses) hasInterval(one audit.Witness) bool { return w.l.cfg.Intervals[one.Key.Name()] > 0 }

// checkIntervals refuses a policy whose quorum cannot be met without the witnesses that have an interval.
func (w *witnesses) checkIntervals(p *audit.Policy) error {
	if p.MetWithout(w.hasInterval) {
		return nil
	}
	var slow []string
	for _, one := range p.Witnesses {
		if w.hasInterval(one) && !slices.Contains(slow, one.Key.Name()) {
			slow = append(slow, one.Key.Name())
		}
	}
	return fmt.Errorf("without the witnesses that have an interval in the configuration, %v, the quorum cannot be met: "+
		"remove as many of these witnesses from witness.intervals as the quorum needs", slow)
}
