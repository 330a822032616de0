package postgres

import (
	"context"

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
