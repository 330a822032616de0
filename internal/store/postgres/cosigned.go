package postgres

import (
	"context"
	"iter"
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
	err = s.one(ctx, sqlHasCosigned, []any{int64(id), size}, func(row scanner) error { return row.Scan(&size) })
	if err != nil {
		return err
	}
	return ledger.ErrExists
}

// PutHandover implements [ledger.Cosigned].
func (s *Store) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	args := []any{int64(id), int64(min(h.Size, math.MaxInt64)), h.Root[:], h.Checkpoint, int64(min(from, math.MaxInt64))}
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
func (s *Store) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (h ledger.Head, err error) {
	args := []any{int64(id), int64(min(size, math.MaxInt64))}
	err = s.one(ctx, sqlCosignedAtMost, args, func(row scanner) (err error) {
		h, err = scanHead(row)
		return err
	})
	return h, err
}

// CosignedFrom implements [ledger.Cosigned].
func (s *Store) CosignedFrom(ctx context.Context, id ledger.ID, size uint64) iter.Seq2[ledger.Head, error] {
	return store.Heads(size, func(size uint64, n int) (list []ledger.Head, err error) {
		err = s.query(ctx, sqlCosignedFrom, []any{int64(id), int64(size), n}, func(row scanner) error {
			h, err := scanHead(row)
			list = append(list, h)
			return err
		})
		return list, err
	})
}
