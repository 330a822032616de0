package cosign

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

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/witness/gateway"
)

// Rounds gets cosignatures on published heads. The goroutine of run takes the newest head, has the gateway ask the
// witnesses of the policy in force and of the policies that wait, and stores and shows what a quorum cosigned. Only
// published heads are sent, because their commit is known.
type Rounds struct {
	l         *core
	gateway   *gateway.Gateway
	news      chan struct{} // of capacity 1: the published head moved
	askers    sync.WaitGroup
	roll      roll
	confirmed atomic.Bool                 // a quorum cosigned a head of this daemon
	cosigned  atomic.Pointer[ledger.Head] // the newest cosigned head, nil for none; written by run
	newer     ledger.Moved                // tells of a newer cosigned head
	missed    atomic.Uint32               // rounds without a quorum since the last with one; written by run
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
	governing *trust.Policy
	from      uint64 // policyHistory.unseen
	came      gateway.Round
}

// ReachWitness returns the way to a witness.
func (w *Rounds) ReachWitness(lines []trust.Witness) (ledger.Witness, error) {
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

func (w *Rounds) mayAsk(one trust.Witness) error {
	if w.l.cfg.MayAsk == nil {
		return nil
	}
	return w.l.cfg.MayAsk(w.l.Genesis(), one)
}

// prove is that of gateway.Log.
func (l *core) prove(ctx context.Context, old uint64, head ledger.Head) ([]tlog.Hash, error) {
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.OwnTiles(ctx))
	proof, err := tlog.ProveTree(int64(head.Size), int64(old), reader)
	if err != nil {
		return nil, fmt.Errorf("proving that size %d extends size %d: %w", head.Size, old, err)
	}
	return proof, nil
}

func (l *core) extends(ctx context.Context, c audit.Checkpoint) (bool, error) {
	return l.Extends(ctx, l.Head(), c)
}

// trialRounds is how many rounds the quorum of a new policy may take. overtakenRounds is how many it may take if the
// last round failed only because another round, of this daemon or of another, had brought the witnesses a newer head.
const trialRounds, overtakenRounds = 3, 10

// TryPolicy has the witnesses of a policy cosign the newest head, at the addresses that the policy gives them. A policy
// whose quorum is never met could not take over, and deals that wait for witnesses would wait for ever. In production
// any two of its quorums must share a witness (docs/SPEC.md section 7.3).
func (w *Rounds) TryPolicy(ctx context.Context, text []byte) error {
	p, err := trust.ParsePolicy(text)
	if err != nil {
		return ledger.NotTaken("%s", err)
	}
	if err := p.CheckOverlap(); err != nil && w.l.Genesis().Production {
		return ledger.NotTaken("a production ledger does not take this policy: %s", err)
	}
	for _, one := range p.Witnesses {
		if err := w.mayAsk(one); err != nil {
			return ledger.NotTaken("witness %s: %s", one.Name, err)
		}
	}
	if !p.Asks() {
		return nil // whether it may is for the rules
	}
	if err := w.checkIntervals(p); err != nil {
		return ledger.NotTaken("%s; %s", err, stops.Intervals.Cure())
	}
	ask := slices.DeleteFunc(slices.Clone(p.Witnesses), w.hasInterval)
	if !w.trial.TryLock() {
		return fmt.Errorf("%w: the policy was not tried, because another trial runs", ledger.ErrPolicy)
	}
	defer w.trial.Unlock()
	for try := 1; ; try++ {
		r := w.gateway.Cosign(ctx, w.l.Head(), ask, p)
		switch {
		case r.Met:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w in time", ledger.ErrPolicy)
		case try == overtakenRounds || try >= trialRounds && !overtaken(r.Refused):
			var why []string
			for _, a := range r.Refused {
				why = append(why, a.Witness.Name+": "+a.Err.Error())
			}
			return fmt.Errorf("%w: %s", ledger.ErrPolicy, strings.Join(why, "; "))
		}
		running := w.l.life.Running
		if ledger.Sleep(ctx, witnessRetry, running.Done()) && running.Err() != nil {
			return ledger.ErrClosed
		}
	}
}

// overtaken reports whether witnesses refused, and each because it has a newer head than it was asked about.
func overtaken(refused []gateway.Answer) bool {
	moved := func(a gateway.Answer) bool { return errors.As(a.Err, new(*gateway.Moved)) }
	return len(refused) > 0 && !slices.ContainsFunc(refused, func(a gateway.Answer) bool { return !moved(a) })
}

// hasInterval reports whether the configuration gives a witness an interval.
func (w *Rounds) hasInterval(one trust.Witness) bool { return w.l.cfg.Intervals[one.Key.Name()] > 0 }

// checkIntervals refuses a policy whose quorum cannot be met without the witnesses that have an interval.
func (w *Rounds) checkIntervals(p *trust.Policy) error {
	if p.MetWithout(w.hasInterval) {
		return nil
	}
	var slow []string
	for _, one := range p.Witnesses {
		if w.hasInterval(one) && !slices.Contains(slow, one.Key.Name()) {
			slow = append(slow, one.Key.Name())
		}
	}
	return fmt.Errorf("%w: %v", stops.Intervals, slow)
}

const (
	// witnessRetry is the pause after a round without a quorum.
	witnessRetry = time.Second
	// missedRounds is how many rounds without a quorum raise the alarm. They take ten seconds if
	// witnesses refuse, and a minute if they do not answer.
	missedRounds = 10
)

// contact is a witness that is asked, at one address.
type contact struct {
	witness trust.Witness
	size    uint64 // of the newest head that it cosigned for this daemon
	err     error  // why it did not cosign the newest head that it was asked for; nil: it did
	told    string // err as it was last logged
	toldAt  time.Time
}

// WitnessState is what the daemon knows of a witness.
type WitnessState struct {
	Name string // in its policy; followed by the key's id, and by the URL, if the name alone is another's
	Size uint64 // of the newest head that it cosigned for this daemon
	Err  error  // why it did not cosign the newest head that it was asked for; nil: it did
}

// roll is what each witness that is asked said last, and which witnesses doubt.
type roll struct {
	l *core

	mu       sync.Mutex
	contacts []*contact                         // each at one address
	doubts   map[address]*gateway.Contradiction // of witnesses that have seen another history
}

// call makes these the witnesses that are asked. If a witness that is no longer asked doubts,
// the doubt stays if the witness showed a checkpoint for it, and ends if it did not.
func (r *roll) call(named []trust.Witness) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.contacts
	r.contacts = nil
	for _, one := range named {
		a := find(before, addressOf(one))
		if a == nil {
			a = &contact{witness: one, err: errors.New("not asked yet")}
		}
		r.contacts = append(r.contacts, a)
	}
	for at, c := range r.doubts {
		if c.Seen == nil && find(r.contacts, at) == nil {
			delete(r.doubts, at)
		}
	}
}

// find returns the witness at an address, nil for none.
func find(list []*contact, at address) *contact {
	i := slices.IndexFunc(list, func(a *contact) bool { return addressOf(a.witness) == at })
	if i < 0 {
		return nil
	}
	return list[i]
}

// doubted reports whether a witness has seen another history.
func (r *roll) doubted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.doubts) > 0
}

// doubters returns those of the given witnesses that have seen another history.
func (r *roll) doubters(of []trust.Witness) []trust.Witness {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(of, func(one trust.Witness) bool { return r.doubts[addressOf(one)] == nil })
}

// note takes in what a witness said. A witness that cosigns doubts no more. Why one did not is logged if that is new;
// and not too often, for a witness can make up a reason for every head.
func (r *roll) note(a gateway.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := addressOf(a.Witness)
	one := find(r.contacts, at)
	if one == nil {
		return
	}
	if one.err = a.Err; a.Err == nil {
		one.size, one.told = a.Size, ""
		delete(r.doubts, at)
		return
	}
	if doubt, ok := errors.AsType[*gateway.Contradiction](a.Err); ok {
		r.doubts[at] = doubt
	}
	if why := one.err.Error(); why != one.told && time.Since(one.toldAt) >= witnessRetry {
		one.told, one.toldAt = why, time.Now()
		r.l.cfg.Log.Warn("a witness did not cosign", "witness", one.witness.Name, "url", one.witness.URL,
			"error", one.err)
	}
}

// Doubt returns what a witness has seen that contradicts the history up to head, nil for nothing. A doubt ends when
// head extends the checkpoint that the witness showed, even if the witness cannot be reached.
func (w *Rounds) Doubt(ctx context.Context, head ledger.Head) *gateway.Contradiction {
	r := &w.roll
	r.mu.Lock()
	doubts := maps.Clone(r.doubts)
	r.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(doubts)) {
		c := doubts[at]
		if c.Seen == nil {
			return c
		}
		if held, err := r.l.Extends(ctx, head, *c.Seen); err != nil || !held {
			return c
		}
		r.mu.Lock()
		if r.doubts[at] == c {
			delete(r.doubts, at)
		}
		r.mu.Unlock()
	}
	return nil
}
