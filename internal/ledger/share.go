package ledger

import "context"

// readerKey marks the context of a reader.
type readerKey struct{}

// AsReader returns a context for work that is a reader's: of a stranger, a player,
// an auditor or a regulator, and nothing that a dealer waits for. Its questions to
// the store go over connections that dealers do not use, and it uses no other.
func AsReader(ctx context.Context) context.Context { return context.WithValue(ctx, readerKey{}, true) }

// IsReader reports whether ctx came from AsReader.
func IsReader(ctx context.Context) bool { return ctx.Value(readerKey{}) != nil }
