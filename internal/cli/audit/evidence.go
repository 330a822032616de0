package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"shuffled/internal/bundle"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// exportSource is a ledger in a database as the source of a bundle.
type exportSource struct{ store.Export }

// Head returns the newest checkpoint that can be seen. It takes no lock, and so
// waits for no replica: an export is not what acknowledges an entry.
func (x exportSource) Head(ctx context.Context) ([]byte, error) {
	b, err := x.Newest(ctx)
	return b, contradiction(err)
}

func (x exportSource) CheckpointAfter(ctx context.Context, index uint64) ([]byte, error) {
	b, err := x.Export.CheckpointAfter(ctx, index)
	return b, contradiction(err)
}

func (x exportSource) Entries(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return contradictions(x.Export.Entries(ctx, from, to))
}

func (x exportSource) Cosigned(ctx context.Context, size uint64) iter.Seq2[[]byte, error] {
	return contradictions(x.Export.Cosigned(ctx, size))
}

func (x exportSource) Deck(ctx context.Context, hash [32]byte) ([]string, error) {
	cards, err := x.Export.Deck(ctx, hash)
	if errors.Is(err, ledger.ErrNotFound) || errors.Is(err, store.ErrOdd) {
		err = bundle.ErrNoDeck
	}
	return cards, err
}

func contradictions(all iter.Seq2[[]byte, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for b, err := range all {
			if !yield(b, contradiction(err)) || err != nil {
				return
			}
		}
	}
}

// contradiction tells an error of what is stored from one of reading it.
func contradiction(err error) error {
	for _, odd := range []error{ledger.ErrNotFound, store.ErrOdd, store.ErrSchema} {
		if errors.Is(err, odd) {
			return fmt.Errorf("%w: %w", bundle.ErrContradiction, err)
		}
	}
	return err
}
