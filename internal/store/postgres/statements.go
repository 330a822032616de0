package postgres

import (
	"context"
	"math"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// PutStatement implements [ledger.Statements].
func (s *Store) PutStatement(ctx context.Context, id ledger.ID, shuffle uint64, n int, note []byte) error {
	_, err := s.exec(ctx, store.SQLNewStatement, int64(id), int64(min(shuffle, math.MaxInt64)), int16(n), note)
	switch {
	case isCode(err, codeUnique):
		return ledger.ErrExists
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	}
	return err
}
