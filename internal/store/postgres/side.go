package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// exec runs one statement and returns the number of rows it changed.
func (s *Store) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	conn, ctx, release, err := s.reader(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	watched := s.watch(conn)
	tag, err := conn.Exec(ctx, sql, args...)
	if err = watched.ended(err); err != nil {
		return 0, clean(err)
	}
	return tag.RowsAffected(), replicated(conn.Conn().PgConn())
}

// PutDeck implements [ledger.Finder]. It returns ErrNotFound for an unknown
// ledger. A deck that is there already needs no barrier: the commit that names
// it comes later in the same log.
func (s *Store) PutDeck(ctx context.Context, id ledger.ID, hash [32]byte, cards []string) error {
	list, err := store.EncodeDeck(cards)
	if err != nil {
		return err
	}
	n, err := s.exec(ctx, sqlPutDeck, int64(id), hash[:], list)
	switch {
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	case err != nil:
		return fmt.Errorf("keeping a deck: %w", err)
	case n == 1:
		return nil
	}
	stored, err := s.deck(ctx, id, hash)
	if err == nil && !bytes.Equal(stored, list) {
		err = errors.New("another deck is stored under the same hash")
	}
	return err
}

// Deck implements [ledger.Finder].
func (s *Store) Deck(ctx context.Context, id ledger.ID, hash [32]byte) ([]string, error) {
	list, err := s.deck(ctx, id, hash)
	if err != nil {
		return nil, err
	}
	return store.DecodeDeck(list)
}

func (s *Store) deck(ctx context.Context, id ledger.ID, hash [32]byte) (list []byte, err error) {
	err = s.one(ctx, sqlDeck, []any{int64(id), hash[:]}, func(row scanner) error { return row.Scan(&list) })
	return list, err
}
