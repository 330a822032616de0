package entropy

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrLatched is matched by the error of every Tape that was refused because the
// source is, or has just been, latched. The error's text names the cause.
var ErrLatched = errors.New("the entropy latch is set")

// ErrNotLatched is the answer of Clear to a source that is not latched.
var ErrNotLatched = errors.New("the entropy latch is not set")

// Reason is why the latch was set. Its numbers and names are those of the ledger's latch
// events. The last four come from outside, through Trip: a shuffle that ran out of its
// tape, which has a chance below 2^-66, or gave no permutation; an operator's word, or a
// latch found in the ledger; and statistics over outcomes.
type Reason uint8

// String returns the reason's name in logs, metrics and events.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("unknown_%d", uint8(r))
}

// Cause is the first failure since the latch was last clear.
type Cause struct {
	Reason Reason
	At     time.Time // UTC, when it was noticed
	Detail string    // for people; holds no byte of a tape
}

// latch is set by the first trip and cleared only when no other came in that time.
type latch struct {
	cause    atomic.Pointer[Cause] // nil: clear. Written under mu, read without
	failures atomic.Uint64         // trips ever, those of a set latch included
	mu       sync.Mutex            // held for the few instructions of set and clear
	onSet    func(Cause)           // may be nil; called without mu
}

// err returns nil, or the refusal.
func (l *latch) err() error {
	c := l.cause.Load()
	if c == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %s (%s)", ErrLatched, c.Reason, c.Detail, c.At.Format(time.RFC3339))
}

// trip sets the latch unless it is set, and returns the refusal.
func (l *latch) trip(r Reason, detail string) error {
	c := &Cause{Reason: r, At: time.Now().UTC(), Detail: detail}
	l.mu.Lock()
	l.failures.Add(1)
	first := l.cause.CompareAndSwap(nil, c)
	l.mu.Unlock()
	if first && l.onSet != nil {
		l.onSet(*c)
	}
	if err := l.err(); err != nil {
		return err
	}
	// Cleared in this instant: the caller is still refused.
	return fmt.Errorf("%w: %s: %s", ErrLatched, r, detail)
}

// clear opens the latch if there were exactly so many failures ever, and says
// whether it did: a failure during the start-up test keeps it set.
func (l *latch) clear(failures uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures.Load() != failures {
		return false
	}
	l.cause.Store(nil)
	return true
}
