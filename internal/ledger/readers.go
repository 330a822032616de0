package ledger

import "context"

// readerKey marks the context of a reader.
type readerKey struct{}

// AsReader returns a context for the work of a reader: of a stranger, a player, an auditor or a
// regulator, and of anything else that no dealer waits for.
func AsReader(ctx context.Context) context.Context { return context.WithValue(ctx, readerKey{}, true) }

// IsReader reports whether ctx came from AsReader.
func IsReader(ctx context.Context) bool { return ctx.Value(readerKey{}) != nil }

// Apart holds a thing that work waits for twice, so that readers take nothing from dealers: once for
// the work of readers, once for all other work. Of alone decides which of the two work uses: the
// connections of a store, the questions of a dealer to the store, and the reads of tiles are each Apart.
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
