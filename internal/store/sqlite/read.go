package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// readers are connections that read. Safe for concurrent use.
type readers struct {
	db     *sql.DB
	places chan struct{} // holds a value for each statement that is under way
	stmts  statements
}

func newReaders(path string, o Options, n int) (*readers, error) {
	db, err := connect(path, o, readerSettings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return &readers{db, make(chan struct{}, n), make(statements)}, nil
}

// enter waits for a connection, as long as ctx has patience. The caller calls leave.
func (r *readers) enter(ctx context.Context) error {
	waiting, cancel := ledger.Patience(ctx)
	defer cancel()
	select {
	case r.places <- struct{}{}:
		ledger.Began(ctx)
		return nil
	case <-waiting.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: no connection to the database became free, all %d are taken",
		ledger.ErrOverloaded, cap(r.places))
}

func (r *readers) leave() { <-r.places }

// close ends the connections; nil is none.
func (r *readers) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.stmts.close(), r.db.Close())
}

// of returns the connections for ctx.
func (s *Store) of(ctx context.Context) *readers {
	if ledger.IsReader(ctx) {
		return s.public
	}
	return s.reads
}

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
