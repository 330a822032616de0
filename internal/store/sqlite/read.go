package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"math"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// scanner is one row of a result.
type scanner interface{ Scan(dest ...any) error }

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

// one runs a statement that returns at most one row, ErrNotFound for none.
func (s *Store) one(ctx context.Context, text string, args []any, scan func(scanner) error) error {
	found := false
	err := s.query(ctx, text, args, func(row scanner) error {
		found = true
		return scan(row)
	})
	if err == nil && !found {
		err = ledger.ErrNotFound
	}
	return err
}

func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ledger.ErrNotFound
	}
	return err
}

func scanRow(row scanner) (r ledger.Row, err error) {
	var tag []byte
	err = row.Scan(&r.Index, &r.Time, &r.Type, &r.Serial, &r.Shuffle, &r.Table, &tag, &r.Entry, &r.Sealed, &r.GameRef)
	copy(r.KeyTag[:], tag)
	return r, err
}

func (s *Store) rows(ctx context.Context, text string, args ...any) (list []ledger.Row, err error) {
	err = s.query(ctx, text, args, func(row scanner) error {
		r, err := scanRow(row)
		list = append(list, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Ledgers implements [ledger.Store].
func (s *Store) Ledgers(ctx context.Context) (list []ledger.Info, err error) {
	err = s.query(ctx, sqlLedgers, nil, func(row scanner) error {
		var i ledger.Info
		err := row.Scan(&i.Name, &i.Origin)
		list = append(list, i)
		return err
	})
	return list, err
}

// Rows implements [ledger.Store].
func (s *Store) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	size := func() (uint64, error) { return s.Size(ctx, id) }
	read := func(from, to uint64) ([]ledger.Row, error) {
		return s.rows(ctx, sqlRows, int64(id), int64(from), int64(to))
	}
	return store.Rows(from, min(to, math.MaxInt64), size, read)
}

// ByKeyTags implements [ledger.Finder].
func (s *Store) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) (list []ledger.Row, err error) {
	if err := s.sound(); err != nil {
		return nil, err
	}
	for _, tag := range tags {
		found, err := s.rows(ctx, sqlByKeyTag, int64(id), tag[:])
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// ByShuffles implements [ledger.Finder]. What it sees is durable.
func (s *Store) ByShuffles(ctx context.Context, id ledger.ID, _ ledger.Standing, shuffles ...uint64) ([][]ledger.Row, error) {
	if err := s.sound(); err != nil {
		return nil, err
	}
	list := make([][]ledger.Row, len(shuffles))
	for i, shuffle := range shuffles {
		if shuffle > math.MaxInt64 {
			continue
		}
		rows, err := s.rows(ctx, sqlByShuffle, int64(id), int64(shuffle))
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 && rows[0].Index == shuffle {
			list[i] = rows // else no commit has this index
		}
	}
	return list, nil
}

// CheckpointAfter implements [ledger.Finder].
func (s *Store) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (h ledger.Head, err error) {
	args := []any{int64(id), int64(min(index, math.MaxInt64))}
	err = s.one(ctx, sqlCheckpointAfter, args, func(row scanner) (err error) {
		h, err = scanHead(row)
		return err
	})
	return h, err
}

// Tile implements [ledger.Finder].
func (s *Store) Tile(ctx context.Context, id ledger.ID, level int, index uint64) (data []byte, err error) {
	if index > math.MaxInt64 {
		return nil, ledger.ErrNotFound
	}
	args := []any{int64(id), int64(level), int64(index)}
	err = s.one(ctx, sqlTile, args, func(row scanner) error { return row.Scan(&data) })
	return data, err
}
