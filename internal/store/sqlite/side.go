package sqlite

import (
	"context"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// Deck implements [ledger.Finder].
func (s *Store) Deck(ctx context.Context, id ledger.ID, hash [32]byte) ([]string, error) {
	var list []byte
	err := s.one(ctx, sqlDeck, []any{int64(id), hash[:]}, func(row scanner) error { return row.Scan(&list) })
	if err != nil {
		return nil, err
	}
	return store.DecodeDeck(list)
}
