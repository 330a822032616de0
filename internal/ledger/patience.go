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

// readerKey marks the context of a reader.
type readerKey struct{}

// AsReader returns a context for the work of a reader: of a stranger, a player, an auditor or a
// regulator, and of anything else that no dealer waits for.
func AsReader(ctx context.Context) context.Context { return context.WithValue(ctx, readerKey{}, true) }

// IsReader reports whether ctx came from AsReader.
func IsReader(ctx context.Context) bool { return ctx.Value(readerKey{}) != nil }

// Apart holds a thing that work waits for twice, so that readers take nothing from dealers: once for
// the work of readers, once for all other work. Of alone decides which of the two work uses: the
// connections of a store, the questions to it, and the reads of tiles are each Apart.
type Apart[T any] struct{ dealers, readers T }

// NewApart returns both.
func NewApart[T any](dealers, readers T) Apart[T] { return Apart[T]{dealers, readers} }

// Of returns what the work of ctx uses.
func (a Apart[T]) Of(ctx context.Context) T {
	if IsReader(ctx) {
		return a.readers
	}
	return a.dealers
}

// Both returns both, that of dealers first, for the owner who opens and closes them.
func (a Apart[T]) Both() [2]T { return [2]T{a.dealers, a.readers} }

// Detached returns a context that neither ends with ctx nor has its patience: for work that several
// callers wait for. The work of readers stays theirs.
func Detached(ctx context.Context) context.Context {
	if IsReader(ctx) {
		return AsReader(context.Background())
	}
	return context.Background()
}

// Sleep waits for d, or until the channel is closed. It returns false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-until:
	case <-ctx.Done():
		return false
	}
	return true
}
