package ledger

import (
	"context"
	"time"
)

// patienceKey finds a patience in a context.
type patienceKey struct{}

// WithPatience returns a context for work that is refused with ErrOverloaded if
// it still waits for its turn at until: for a connection of the store, or for the
// sequencer. What was begun by then goes on for as long as ctx does. Without it
// only ctx bounds the wait, as is right for the daemon's own entries.
func WithPatience(ctx context.Context, until time.Time) context.Context {
	return context.WithValue(ctx, patienceKey{}, until)
}

// Patience returns ctx, ended when its patience does, for whoever waits for a
// turn. The caller calls cancel when it has its turn, or waits no longer.
func Patience(ctx context.Context) (waiting context.Context, cancel context.CancelFunc) {
	if until, ok := ctx.Value(patienceKey{}).(time.Time); ok {
		return context.WithDeadline(ctx, until)
	}
	return ctx, func() {}
}

// Impatience returns what is received from, once, when the patience of ctx ends;
// nil for one without. The caller calls stop when it waits no longer.
func Impatience(ctx context.Context) (end <-chan time.Time, stop func() bool) {
	until, ok := ctx.Value(patienceKey{}).(time.Time)
	if !ok {
		return nil, func() bool { return true }
	}
	t := time.NewTimer(time.Until(until))
	return t.C, t.Stop
}
