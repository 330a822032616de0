package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// reader takes a connection for reading, for which it waits as long as ctx has
// patience, and no longer than the store's timeout: one of dealers, or of readers
// (ledger.AsReader). Sent is the context of one statement on it: a caller that leaves does
// not end that: it would cost the connection, and most statements end before another
// one could be made. The caller calls release.
func (s *Store) reader(ctx context.Context) (conn *pgxpool.Conn, sent context.Context, release func(), err error) {
	pool, of := s.reads, "dealers"
	if ledger.IsReader(ctx) {
		pool, of = s.public, "readers"
	}
	bounded, stop := context.WithTimeout(ctx, s.timeout)
	defer stop()
	waiting, cancel := ledger.Patience(bounded)
	defer cancel()
	late := waiting.Err() != nil && ctx.Err() == nil
	conn, err = pool.Acquire(waiting)
	impatient := waiting.Err() != nil && bounded.Err() == nil
	switch {
	case err == nil:
		ledger.Began(ctx)
	case late:
		return nil, nil, nil, fmt.Errorf("%w: its patience ended before it asked for a connection to the database",
			ledger.ErrOverloaded)
	case impatient && errors.Is(err, context.DeadlineExceeded):
		return nil, nil, nil, fmt.Errorf("%w: no connection to the database became free, all %d of %s are taken",
			ledger.ErrOverloaded, pool.Config().MaxConns, of)
	default:
		return nil, nil, nil, fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	by := time.Now().Add(s.timeout)
	if end, ok := ctx.Deadline(); ok && end.Before(by) {
		by = end
	}
	sent, cancel = context.WithDeadline(context.WithoutCancel(ctx), by)
	return conn, sent, func() { cancel(); conn.Release() }, nil
}

type scanner = store.Scanner

// query runs one statement, which is its own transaction, and hands over its rows. It returns nil only after the
// transaction's commit: with a locking read that is the barrier.
func (s *Store) query(ctx context.Context, sql string, args []any, each func(scanner) error) error {
	conn, ctx, release, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer release()
	watched := s.watch(conn)
	rows, err := conn.Query(ctx, sql, args...)
	if err == nil {
		err = scanAll(conn, rows, each)
	}
	return clean(watched.ended(err))
}

// scanAll hands over rows and ends their statement.
func scanAll(conn *pgxpool.Conn, rows pgx.Rows, each func(scanner) error) error {
	// To the end, errors of the commit included.
	if err := handOver(rows, each); err != nil {
		return err
	}
	return replicated(conn.Conn().PgConn())
}

// handOver reads rows to their end.
func handOver(rows pgx.Rows, each func(scanner) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return clean(err)
		}
	}
	if err := rows.Err(); err != nil {
		return clean(err)
	}
	return nil
}

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

func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ledger.ErrNotFound
	}
	return clean(err)
}

// ByShuffles implements [ledger.Finder].
func (s *Store) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, shuffles ...uint64) (
	[][]ledger.Row, error) {
	var ids []int64
	for _, shuffle := range shuffles {
		if shuffle <= math.MaxInt64 {
			ids = append(ids, int64(shuffle))
		}
	}
	read := s.visible
	if standing == ledger.Durable {
		read = s.durable
	}
	found := make(map[uint64][]ledger.Row)
	err := read(ctx, []any{int64(id), ids}, func(row scanner) error {
		r, err := store.ScanRow(row)
		of := r.Shuffle
		if of == 0 { // a commit
			of = r.Index
		}
		found[of] = append(found[of], r)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([][]ledger.Row, len(shuffles))
	missing := false
	for i, shuffle := range shuffles {
		if rows := found[shuffle]; len(rows) > 0 && rows[0].Index == shuffle {
			list[i] = rows
		} else {
			missing = true // no commit has this index
		}
	}
	if missing && standing == ledger.Durable {
		// A server that was left behind in a failover lacks rows, and locks none.
		return list, s.query(ctx, sqlBarrier, []any{int64(id)}, func(scanner) error { return nil })
	}
	return list, nil
}

// visible reads shuffles without the barrier.
func (s *Store) visible(ctx context.Context, args []any, each func(scanner) error) error {
	return s.query(ctx, sqlShuffles, args, each)
}

// durable reads shuffles behind the barrier. Both statements are one transaction
// and one round trip; the first one's lock holds its commit until all that either
// read is replicated.
func (s *Store) durable(ctx context.Context, args []any, each func(scanner) error) (err error) {
	conn, ctx, release, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer release()
	watched := s.watch(conn)
	defer func() { err = watched.ended(err) }()
	var b pgx.Batch
	b.Queue(sqlCommits, args...)
	b.Queue(sqlOfShuffles, args...)
	results := conn.SendBatch(ctx, &b)
	defer results.Close()
	for range b.Len() {
		rows, err := results.Query()
		if err != nil {
			return clean(err)
		}
		if err := handOver(rows, each); err != nil {
			return err
		}
	}
	// The commit comes after both results.
	if err := results.Close(); err != nil {
		return clean(err)
	}
	return replicated(conn.Conn().PgConn())
}
