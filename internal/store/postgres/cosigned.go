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

// CosignedAtMost implements [ledger.Cosigned].
func (s *Store) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (ledger.Head, error) {
	most := int64(min(size, math.MaxInt64))
	return store.One(ctx, s.query, store.ScanHead, sqlCosignedAtMost, int64(id), most)
}
