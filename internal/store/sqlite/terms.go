package sqlite

import (
	"context"

	"shuffled/internal/ledger"
)

// PutTerms implements [ledger.TermsKeeper].
func (s *Store) PutTerms(ctx context.Context, id ledger.ID, t ledger.Terms) error {
	return s.transact(ctx, func(w *writer) error {
		_, err := w.exec(sqlNewTerms, int64(id), t.Hash[:], int64(t.Kind), t.Bytes)
		if isForeignKey(err) {
			return ledger.ErrNotFound
		}
		return err
	})
}
