package sqlite

import (
	"context"
	"errors"
	"math"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// PutCosigned implements [ledger.Cosigned].
func (s *Store) PutCosigned(ctx context.Context, id ledger.ID, h ledger.Head) error {
	size := int64(min(h.Size, math.MaxInt64))
	return s.transact(ctx, func(w *writer) error {
		err := notFound(w.stmts[sqlHasCosigned].QueryRow(int64(id), size).Scan(&size))
		switch {
		case err == nil:
			return ledger.ErrExists
		case !errors.Is(err, ledger.ErrNotFound):
			return err
		}
		_, err = w.exec(sqlNewCosigned, int64(id), size, h.Root[:], h.Checkpoint)
		if isForeignKey(err) {
			return ledger.ErrNotFound
		}
		return err
	})
}

// PutHandover implements [ledger.Cosigned].
func (s *Store) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	newest := int64(0)
	return s.transact(ctx, func(w *writer) error {
		err := notFound(w.stmts[sqlNewestCosigned].QueryRow(int64(id)).Scan(&newest))
		switch {
		case err == nil && uint64(newest) >= from:
			return ledger.ErrStale
		case err != nil && !errors.Is(err, ledger.ErrNotFound):
			return err
		}
		_, err = w.exec(sqlNewCosigned, int64(id), int64(min(h.Size, math.MaxInt64)), h.Root[:], h.Checkpoint)
		if isForeignKey(err) {
			return ledger.ErrNotFound
		}
		return err
	})
}

// CosignedAtMost implements [ledger.Cosigned].
func (s *Store) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (ledger.Head, error) {
	if err := s.sound(); err != nil {
		return ledger.Head{}, err
	}
	most := int64(min(size, math.MaxInt64))
	return store.One(ctx, s.query, store.ScanHead, sqlCosignedAtMost, int64(id), most)
}
