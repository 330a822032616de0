package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// reader takes a connection for reading from the pool of dealers, or from that of readers (ledger.AsReader). It waits
// as long as ctx has patience, and no longer than the store's timeout. sent is the context of one statement on the
// connection. A caller that leaves does not end the statement: that would cost the connection, and most statements end
// before another connection could be made. The caller calls release.
func (s *Store) reader(ctx context.Context) (conn *pgxpool.Conn, sent context.Context, release func(), err error) {
	pool := s.reads.Of(ctx)
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
		return nil, nil, nil, fmt.Errorf("%w: the time of the request ended before it asked for a connection to the database",
			ledger.ErrOverloaded)
	case impatient && errors.Is(err, context.DeadlineExceeded):
		return nil, nil, nil, fmt.Errorf("%w: no connection to the database became free, all %d of %s are taken",
			ledger.ErrOverloaded, pool.Config().MaxConns, pool.of)
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

// query is a store.Query on a connection for reading.
func (s *Store) query(ctx context.Context, sql string, args []any, each func(scanner) error) error {
	conn, ctx, release, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.run(ctx, conn, sql, args, each)
}

// queryAppends is a store.Query on a connection that readers cannot take: the sequencer waits for its answer.
func (s *Store) queryAppends(ctx context.Context, sql string, args []any, each func(scanner) error) error {
	conn, err := s.appends.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	defer conn.Release()
	return s.run(ctx, conn, sql, args, each)
}

// run runs one statement, which is its own transaction, and hands over its rows. It returns nil only after the
// transaction's commit: if the statement locks, that is the barrier.
func (s *Store) run(ctx context.Context, conn *pgxpool.Conn, sql string, args []any, each func(scanner) error) error {
	ended := s.watch(conn)
	rows, err := conn.Query(ctx, sql, args...)
	if err == nil {
		err = handOver(rows, each)
	}
	if err == nil {
		err = replicated(conn.Conn().PgConn())
	}
	return clean(ended(err))
}

// handOver reads rows to their end.
func handOver(rows pgx.Rows, each func(scanner) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return clean(err)
		}
	}
	return clean(rows.Err())
}

// note is a store.Exec on a connection for reading.
func (s *Store) note(ctx context.Context, sql string, args ...any) (int64, error) {
	conn, ctx, release, err := s.reader(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	ended := s.watch(conn)
	tag, err := conn.Exec(ctx, sql, args...)
	if err = ended(err); err != nil {
		return 0, refused(clean(err))
	}
	return tag.RowsAffected(), replicated(conn.Conn().PgConn())
}

// refused names why a row was not added.
func refused(err error) error {
	var pg *pgconn.PgError
	switch {
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	case errors.As(err, &pg) && pg.Code == codeUnique && pg.ConstraintName == "access_records_seq":
		return ledger.ErrStale
	case isCode(err, codeUnique):
		return ledger.ErrExists
	}
	return err
}

// shuffles hands over the entries of shuffles, as store.DB says.
func (s *Store) shuffles(ctx context.Context, standing ledger.Standing, args []any, each func(scanner) error) error {
	if standing == ledger.Durable {
		return s.durable(ctx, args, each)
	}
	return s.query(ctx, sqlShuffles, args, each)
}

// durable reads shuffles behind the barrier. Both statements are one transaction and one round trip. The lock of the
// first one delays the commit until all that the second one read is replicated. It is taken for what is not found, too,
// and on the same connection: a server that was left behind in a failover lacks rows.
func (s *Store) durable(ctx context.Context, args []any, each func(scanner) error) error {
	conn, ctx, release, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer release()
	ended := s.watch(conn)
	var b pgx.Batch
	b.Queue(sqlBarrier, args[0])
	b.Queue(sqlShuffles, args...).Query(func(rows pgx.Rows) error { return handOver(rows, each) })
	if err = conn.SendBatch(ctx, &b).Close(); err == nil { // behind the commit
		err = replicated(conn.Conn().PgConn())
	}
	return clean(ended(err))
}

// The finders' own statements. LIMIT and OFFSET have each thing looked up on its own, and connections set
// enable_seqscan off, so in its index: a plan that was made while the table was small stays in use. In a subquery that
// nothing reads, the lock of the barrier would not be taken. The condition on heads has each read once, and not once
// for each key: while an old snapshot is open, dead versions of a head pile up.
const (
	sqlByKeyTags = `SELECT ` + store.RowColumns + ` FROM unnest($1::bigint[], $2::bytea[]) AS t (ledger, tag)
JOIN heads h ON h.ledger = t.ledger CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = h.ledger AND key_tag = t.tag LIMIT 1) e
WHERE h.ledger = ANY ($1::bigint[])` + store.Barrier

	sqlBarrier = `SELECT true FROM heads h WHERE h.ledger = ANY ($1::bigint[])` + store.Barrier

	sqlShuffles = `SELECT ` + store.RowColumns + ` FROM unnest($1::bigint[], $2::bigint[]) AS s (ledger, id)
CROSS JOIN LATERAL (SELECT * FROM entries WHERE ledger = s.ledger AND idx = s.id AND type = 2 LIMIT 1) e
UNION ALL SELECT ` + store.RowColumns + ` FROM unnest($1::bigint[], $2::bigint[]) AS s (ledger, id) CROSS JOIN
LATERAL (SELECT * FROM entries WHERE ledger = s.ledger AND shuffle = s.id ORDER BY idx OFFSET 0) e ORDER BY 2`
)

const sqlDropAccess = `DELETE FROM access_records WHERE ctid = ANY (ARRAY(
    SELECT ctid ` + store.OverdueAccess + ` ORDER BY seq LIMIT $3))`
