package postgres

import (
	"context"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// sqlPutTerms counts what it writes, for Store.write.
const sqlPutTerms = `
WITH new_terms AS (
    INSERT INTO terms (ledger, hash, kind, bytes) VALUES ($1, $2, $3, $4)
    ON CONFLICT (ledger, hash) DO NOTHING
    RETURNING ledger
)
SELECT count(*) FROM new_terms`

// PutTerms implements [ledger.TermsKeeper]. What is there already is read behind the
// barrier before it is acknowledged.
func (s *Store) PutTerms(ctx context.Context, id ledger.ID, t ledger.Terms) error {
	added, err := s.write(ctx, sqlPutTerms, []any{int64(id), t.Hash[:], int16(t.Kind), t.Bytes})
	switch {
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	case err != nil || added:
		return err
	}
	_, err = store.One(ctx, s.query, store.Only[int16], `SELECT kind FROM terms WHERE ledger = $1 AND hash = $2`,
		int64(id), t.Hash[:])
	return err
}
