package ledger

import (
	"context"
	"sync/atomic"
	"time"
)

// patienceKey finds a patience in a context.
type patienceKey struct{}

// deadline is until when work waits for its turn.
type deadline struct {
	until time.Time
	first bool        // only the first wait has an end
	began atomic.Bool // the first wait is over
}

// WithPatience returns a context for work that is refused with ErrOverloaded if
// it still waits for its turn at until: for a connection of the store, or for the
// sequencer. What was begun by then goes on for as long as ctx does. Without it
// only ctx bounds the wait, as is right for the daemon's own entries.
func WithPatience(ctx context.Context, until time.Time) context.Context {
	return context.WithValue(ctx, patienceKey{}, &deadline{until: until})
}

// WithFirstPatience is WithPatience for work that needs many turns, one after
// another, and writes nothing: only the wait for the first one is refused. A reader
// that has begun is not told to come back, for it would begin anew.
func WithFirstPatience(ctx context.Context, until time.Time) context.Context {
	return context.WithValue(ctx, patienceKey{}, &deadline{until: until, first: true})
}

// Began says that the work of ctx has had its first turn.
func Began(ctx context.Context) {
	if p, ok := ctx.Value(patienceKey{}).(*deadline); ok {
		p.began.Store(true)
	}
}

// patienceOf returns when the wait that begins now is over, if it has an end.
func patienceOf(ctx context.Context) (until time.Time, ok bool) {
	p, ok := ctx.Value(patienceKey{}).(*deadline)
	if !ok || p.first && p.began.Load() {
		return time.Time{}, false
	}
	return p.until, true
}

// Patience returns ctx, ended when its patience does, for anyone who waits for a
// turn. The caller calls cancel when it has its turn, or waits no longer.
func Patience(ctx context.Context) (waiting context.Context, cancel context.CancelFunc) {
	if until, ok := patienceOf(ctx); ok {
		return context.WithDeadline(ctx, until)
	}
	return ctx, func() {}
}

// Impatience returns what is received from, once, when the patience of ctx ends;
// nil for one without. The caller calls stop when it waits no longer.
func Impatience(ctx context.Context) (end <-chan time.Time, stop func() bool) {
	until, ok := patienceOf(ctx)
	if !ok {
		return nil, func() bool { return true }
	}
	t := time.NewTimer(time.Until(until))
	return t.C, t.Stop
}

// readerKey marks the context of a reader.
type readerKey struct{}

// AsReader returns a context for work that is a reader's: of a stranger, a player,
// an auditor or a regulator, and nothing that a dealer waits for. Its questions to
// the store go over connections that dealers do not use, and it uses no other.
func AsReader(ctx context.Context) context.Context { return context.WithValue(ctx, readerKey{}, true) }

// IsReader reports whether ctx came from AsReader.
func IsReader(ctx context.Context) bool { return ctx.Value(readerKey{}) != nil }
