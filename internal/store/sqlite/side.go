package sqlite

import (
	"bytes"
	"context"
	"errors"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// PutDeck implements [ledger.Finder]. It returns ErrNotFound for an unknown
// ledger.
func (s *Store) PutDeck(ctx context.Context, id ledger.ID, hash [32]byte, cards []string) error {
	list, err := store.EncodeDeck(cards)
	if err != nil {
		return err
	}
	return s.transact(ctx, func(w *writer) error {
		var stored []byte
		err := notFound(w.stmts[sqlDeck].QueryRow(int64(id), hash[:]).Scan(&stored))
		switch {
		case errors.Is(err, ledger.ErrNotFound):
			_, err = w.exec(sqlNewDeck, int64(id), hash[:], list)
			if isForeignKey(err) {
				return ledger.ErrNotFound
			}
			return err
		case err != nil:
			return err
		case !bytes.Equal(stored, list):
			return errors.New("another deck is stored under the same hash")
		}
		return nil
	})
}

// Deck implements [ledger.Finder].
func (s *Store) Deck(ctx context.Context, id ledger.ID, hash [32]byte) ([]string, error) {
	var list []byte
	err := s.one(ctx, sqlDeck, []any{int64(id), hash[:]}, func(row scanner) error { return row.Scan(&list) })
	if err != nil {
		return nil, err
	}
	return store.DecodeDeck(list)
}

// PutToken implements [ledger.TokenStore]. It returns ErrNotFound for an unknown
// ledger.
func (s *Store) PutToken(ctx context.Context, id ledger.ID, t ledger.Token) error {
	tables, err := store.TokenTables(t)
	if err != nil {
		return err
	}
	return s.transact(ctx, func(w *writer) error {
		_, err := w.exec(sqlNewToken, int64(id), t.ID, int64(t.Role), t.Hash[:], t.Created, t.Expires, t.Revoked, tables)
		switch {
		case isForeignKey(err):
			return ledger.ErrNotFound
		case isTaken(err):
			return ledger.ErrExists
		}
		return err
	})
}

// Token implements [ledger.TokenStore].
func (s *Store) Token(ctx context.Context, id ledger.ID, token string) (t ledger.Token, err error) {
	err = s.one(ctx, sqlToken, []any{int64(id), token}, func(row scanner) (err error) {
		t, err = store.ScanToken(row)
		return err
	})
	return t, err
}

// Tokens implements [ledger.TokenStore].
func (s *Store) Tokens(ctx context.Context, id ledger.ID) (list []ledger.Token, err error) {
	err = s.query(ctx, sqlTokens, []any{int64(id)}, func(row scanner) error {
		t, err := store.ScanToken(row)
		list = append(list, t)
		return err
	})
	return list, err
}

// RevokeToken implements [ledger.TokenStore].
func (s *Store) RevokeToken(ctx context.Context, id ledger.ID, token string, at int64) error {
	return s.transact(ctx, func(w *writer) error {
		n, err := w.exec(sqlRevokeToken, at, int64(id), token)
		if err == nil && n == 0 {
			err = ledger.ErrNotFound
		}
		return err
	})
}
