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
