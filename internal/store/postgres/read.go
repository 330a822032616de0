package postgres

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// scanner is one row of a result.
type scanner interface{ Scan(dest ...any) error }

// query runs one statement, which is its own transaction, and hands over its
// rows. It returns nil only after the transaction's commit: with a locking read
// that is the barrier.
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

// one runs a statement that returns at most one row, ErrNotFound for none.
func (s *Store) one(ctx context.Context, sql string, args []any, scan func(scanner) error) error {
	found := false
	err := s.query(ctx, sql, args, func(row scanner) error {
		found = true
		return scan(row)
	})
	if err == nil && !found {
		err = ledger.ErrNotFound
	}
	return err
}

func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ledger.ErrNotFound
	}
	return clean(err)
}

func scanRow(row scanner) (r ledger.Row, err error) {
	var tag []byte
	err = row.Scan(&r.Index, &r.Time, (*uint8)(&r.Type), &r.Serial, &r.Shuffle, &r.Table, &tag, &r.Entry, &r.Sealed, &r.GameRef)
	copy(r.KeyTag[:], tag)
	return r, err
}

func (s *Store) rows(ctx context.Context, sql string, args ...any) (list []ledger.Row, err error) {
	err = s.query(ctx, sql, args, func(row scanner) error {
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
func (s *Store) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) ([]ledger.Row, error) {
	return s.rows(ctx, sqlByKeyTags, int64(id), store.Hashes(tags))
}

// ByShuffles implements [ledger.Finder].
func (s *Store) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, shuffles ...uint64) ([][]ledger.Row, error) {
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
		r, err := scanRow(row)
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
	if level < 0 || level > math.MaxInt16 || index > math.MaxInt64 {
		return nil, ledger.ErrNotFound
	}
	args := []any{int64(id), int16(level), int64(index)}
	err = s.one(ctx, sqlTile, args, func(row scanner) error { return row.Scan(&data) })
	return data, err
}
