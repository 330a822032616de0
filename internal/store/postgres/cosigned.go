package postgres

import (
	"context"
	"math"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// PutCosigned implements [ledger.Cosigned]. What is there already is read behind
// the barrier before it is acknowledged.
func (s *Store) PutCosigned(ctx context.Context, id ledger.ID, h ledger.Head) error {
	size := int64(min(h.Size, math.MaxInt64))
	added, err := s.write(ctx, sqlPutCosigned, []any{int64(id), size, h.Root[:], h.Checkpoint})
	switch {
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	case err != nil || added:
		return err
	}
	_, err = store.One(ctx, s.query, store.Only[int64], sqlHasCosigned, int64(id), size)
	if err != nil {
		return err
	}
	return ledger.ErrExists
}

// PutHandover implements [ledger.Cosigned].
func (s *Store) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	args := []any{int64(id), int64(min(h.Size, math.MaxInt64)), h.Root[:], h.Checkpoint,
		int64(min(from, math.MaxInt64))}
	added, err := s.write(ctx, sqlPutHandover, args, earlier{sqlHandovers, args[:1]})
	switch {
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	case err == nil && !added, isCode(err, codeUnique): // of a PutCosigned that was not committed yet
		return ledger.ErrStale
	}
	return err
}

// CosignedAtMost implements [ledger.Cosigned].
func (s *Store) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (ledger.Head, error) {
	most := int64(min(size, math.MaxInt64))
	return store.One(ctx, s.query, store.ScanHead, sqlCosignedAtMost, int64(id), most)
}
