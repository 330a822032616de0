package sqlite

import (
	"context"
	"math"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// PutStatement implements [ledger.Statements].
func (s *Store) PutStatement(ctx context.Context, id ledger.ID, shuffle uint64, n int, note []byte) error {
	return s.transact(ctx, func(w *writer) error {
		_, err := w.exec(store.SQLNewStatement, int64(id), int64(min(shuffle, math.MaxInt64)), n, note)
		switch {
		case isForeignKey(err):
			return ledger.ErrNotFound
		case isTaken(err):
			return ledger.ErrExists
		}
		return err
	})
}
