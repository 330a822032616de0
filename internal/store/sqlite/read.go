package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

type scanner = store.Scanner

// query runs one statement and hands over its rows.
func (s *Store) query(ctx context.Context, text string, args []any, each func(scanner) error) error {
	r := s.of(ctx)
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.leave()
	rows, err := r.stmts[text].QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ledger.ErrNotFound
	}
	return err
}

// ByKeyTags implements [ledger.Finder].
func (s *Store) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) (list []ledger.Row, err error) {
	if err := s.sound(); err != nil {
		return nil, err
	}
	for _, tag := range tags {
		found, err := store.All(ctx, s.query, store.ScanRow, sqlByKeyTag, int64(id), tag[:])
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// ByShuffles implements [ledger.Finder]. What it sees is durable.
func (s *Store) ByShuffles(ctx context.Context, id ledger.ID, _ ledger.Standing, shuffles ...uint64) (
	[][]ledger.Row, error) {
	if err := s.sound(); err != nil {
		return nil, err
	}
	list := make([][]ledger.Row, len(shuffles))
	for i, shuffle := range shuffles {
		if shuffle > math.MaxInt64 {
			continue
		}
		rows, err := store.All(ctx, s.query, store.ScanRow, sqlByShuffle, int64(id), int64(shuffle))
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 && rows[0].Index == shuffle {
			list[i] = rows // else no commit has this index
		}
	}
	return list, nil
}
