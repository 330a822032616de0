package ledger

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// patienceKey finds a patience in a context.
type patienceKey struct{}

// patience is the queue deadline of work: until when it waits for its turn.
type patience struct {
	until time.Time
	first bool        // only the first wait has an end
	began atomic.Bool // the first wait is over
}

// WithPatience returns a context whose work waits for its turn until a time at most: for a connection of the store, or
// for the sequencer. Work that still waits then is refused with ErrOverloaded; work that has begun goes on for as long
// as ctx does. Without a patience only ctx bounds the wait, as is right for the daemon's own entries.
func WithPatience(ctx context.Context, until time.Time) context.Context {
	return context.WithValue(ctx, patienceKey{}, &patience{until: until})
}

// WithFirstPatience is WithPatience for work that takes many turns, one after another, and
// writes nothing: it is refused only while it waits for the first turn. A reader that has
// begun is not told to come back, for it would begin anew.
func WithFirstPatience(ctx context.Context, until time.Time) context.Context {
	return context.WithValue(ctx, patienceKey{}, &patience{until: until, first: true})
}

// Began says that the work of ctx has had its first turn.
func Began(ctx context.Context) {
	if p, ok := ctx.Value(patienceKey{}).(*patience); ok {
		p.began.Store(true)
	}
}

// Patience returns a context for one wait for a turn: ctx, ended when its patience does. The
// caller calls cancel when it has its turn, or waits no longer.
func Patience(ctx context.Context) (waiting context.Context, cancel context.CancelFunc) {
	p, ok := ctx.Value(patienceKey{}).(*patience)
	if !ok || p.first && p.began.Load() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, p.until)
}

// Await receives from a channel, as long as ctx has patience. It returns the error of ctx, or
// an ErrOverloaded that says what was waited for.
func Await[T any](ctx context.Context, from <-chan T, what string) (v T, err error) {
	waiting, cancel := Patience(ctx)
	defer cancel()
	select {
	case v = <-from:
		return v, nil
	case <-waiting.Done():
	}
	if err = ctx.Err(); err == nil {
		err = fmt.Errorf("%w: %s", ErrOverloaded, what)
	}
	return v, err
}
