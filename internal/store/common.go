package store

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"golang.org/x/sync/semaphore"

	"shuffled/internal/ledger"
)

// Common has those methods of a store that both databases do alike. Each store embeds it.
type Common struct {
	db    DB
	chain *semaphore.Weighted // of 1: held to add an access record

	tags     ledger.Apart[*loader]
	shuffles map[ledger.Standing]ledger.Apart[*loader]
}

// NewCommon returns the methods that both databases do alike, on this one.
func NewCommon(db DB) Common {
	return Common{db, semaphore.NewWeighted(1), tagLoaders(db), map[ledger.Standing]ledger.Apart[*loader]{
		ledger.Visible: shuffleLoaders(db, ledger.Visible), ledger.Durable: shuffleLoaders(db, ledger.Durable)}}
}

// DB is how the methods of Common reach a database.
type DB struct {
	// Query runs a statement that reads. The lists among its parameters have one length.
	Query Query
	// Keep runs a statement that writes evidence, on a connection that readers cannot take.
	Keep Exec
	// Note runs a statement that writes what auditors sign, or access records, on a connection for reading.
	Note Exec
	// Shuffles hands over the commits of the shuffles in the list args[1], each of the ledger at its place in the list
	// args[0], and behind the commit of a shuffle its mix, deals, takeovers and close in order. What is Durable is read
	// behind the barrier, also that there is nothing.
	Shuffles func(ctx context.Context, standing ledger.Standing, args []any, each func(Scanner) error) error
	// ByKeyTags reads RowColumns of the commits with the key tags of list $2, each of the ledger at its place in list
	// $1, behind the barrier.
	ByKeyTags string
	// DropAccess removes the first $3 of the records of OverdueAccess.
	DropAccess string
}

// Exec runs a statement and returns the number of rows that it wrote. They are durable, replicas included. The error
// is ledger.ErrExists if the key of a row is taken, ledger.ErrNotFound if its ledger is unknown, and ledger.ErrStale if
// an access record is not the next one of the chain.
type Exec func(ctx context.Context, sql string, args ...any) (int64, error)

// Ledgers implements [ledger.Store].
func (c *Common) Ledgers(ctx context.Context) ([]ledger.Info, error) {
	return All(ctx, c.db.Query, func(row Scanner) (i ledger.Info, err error) {
		err = row.Scan(&i.Name, &i.Origin)
		return i, err
	}, SQLLedgers)
}

// Rows implements [ledger.Store]. A range of more than one part ends at the ledger's size of the moment: entries below
// it are never changed and none is added there, so all parts are of one snapshot.
func (c *Common) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	to = min(to, math.MaxInt64)
	cut := from >= to || to-from <= chunk
	return parts(from, func(at uint64) ([]ledger.Row, uint64, error) {
		if !cut {
			size, err := c.Size(ctx, id)
			if err != nil {
				return nil, at, err
			}
			to, cut = min(to, size), true
		}
		if at >= to {
			return nil, at, nil
		}
		next := at + min(chunk, to-at)
		rows, err := All(ctx, c.db.Query, func(row Scanner) (r ledger.Row, err error) {
			_, r, err = ScanRow(row)
			return r, err
		}, SQLRows, int64(id), int64(at), int64(next))
		return rows, next, err
	})
}

// CheckpointAfter implements [ledger.Store].
func (c *Common) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (ledger.Head, error) {
	return One(ctx, c.db.Query, ScanHead, SQLCheckpointAfter, int64(id), Number(index))
}

// Tile implements [ledger.Store].
func (c *Common) Tile(ctx context.Context, id ledger.ID, level int, index uint64) ([]byte, error) {
	if level < 0 || level > math.MaxInt16 || index > math.MaxInt64 {
		return nil, ledger.ErrNotFound
	}
	return One(ctx, c.db.Query, Only[[]byte], SQLTile, int64(id), int16(level), int64(index))
}

// Deck implements [ledger.Store].
func (c *Common) Deck(ctx context.Context, id ledger.ID, hash [32]byte) ([]string, error) {
	list, err := One(ctx, c.db.Query, Only[[]byte], SQLDeck, int64(id), hash[:])
	if err != nil {
		return nil, err
	}
	return DecodeDeck(list)
}

// Terms implements [ledger.Store].
func (c *Common) Terms(ctx context.Context, id ledger.ID, hash [32]byte) (ledger.Terms, error) {
	return One(ctx, c.db.Query, func(row Scanner) (ledger.Terms, error) {
		t := ledger.Terms{Hash: hash}
		err := row.Scan(&t.Kind, &t.Bytes)
		return t, err
	}, SQLTerms, int64(id), hash[:])
}

// Statements implements [ledger.Store].
func (c *Common) Statements(ctx context.Context, id ledger.ID, shuffle uint64) ([][]byte, error) {
	return All(ctx, c.db.Query, Only[[]byte], SQLStatements, int64(id), Number(shuffle))
}

// Size implements [ledger.Store].
func (c *Common) Size(ctx context.Context, id ledger.ID) (uint64, error) {
	n, err := One(ctx, c.db.Query, Only[uint64], SQLSize, int64(id))
	if errors.Is(err, ledger.ErrNotFound) {
		return 0, nil
	}
	return n, err
}

// EntryAt implements [ledger.Store].
func (c *Common) EntryAt(ctx context.Context, id ledger.ID, size uint64, time int64) (uint64, error) {
	n, err := One(ctx, c.db.Query, Only[uint64], RecallEntryAt, int64(id), time, firstStep(size))
	return min(n, size), err
}

// Commits implements [ledger.Store].
func (c *Common) Commits(ctx context.Context, id ledger.ID, q ledger.CommitQuery) ([]ledger.CommitEntry, error) {
	sql, args := commitsOf(id, q)
	list, err := All(ctx, c.db.Query, func(row Scanner) (c ledger.CommitEntry, err error) {
		err = row.Scan(&c.Index, &c.Commit, &c.Close)
		return c, err
	}, sql, args...)
	outside := func(c ledger.CommitEntry) bool { return c.Index < q.From || c.Index >= q.To }
	return slices.DeleteFunc(list, outside), err
}

// chunk is the number of rows that are read at a time.
const chunk = 512

// parts yields what read returns from a place on. read returns the place where the next part begins, or its own place
// at the end. Each part is read by one short statement and held in memory before it is yielded. One long statement
// would keep an old snapshot alive and hold a connection while the caller works: PostgreSQL could not clean up the
// heads, nor SQLite reset its write-ahead log.
func parts[T any](at uint64, read func(at uint64) (part []T, next uint64, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for at, end := at, false; !end; {
			part, next, err := read(at)
			for _, v := range part {
				if !yield(v, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			at, end = next, next == at
		}
	}
}

// The statements on access records.
const (
	SQLNewAccess = `INSERT INTO access_records (ledger, time, request, token, method, path, seq, prev)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	SQLLastAccess = `SELECT seq, prev, time, request, token, method, path FROM access_records
WHERE ledger = $1 ORDER BY seq DESC LIMIT 1`

	SQLAccess = `SELECT time, request, token, method, path FROM access_records
WHERE ledger = $1 AND time >= $2 AND time < $3 AND (time, request) > (CAST($4 AS bigint), CAST($5 AS text))
ORDER BY time, request LIMIT $6`

	// OverdueAccess are the access records of ledger $1 from the beginning of the chain up to the first that is of the
	// time $2 or later. The newest stays.
	OverdueAccess = `FROM access_records WHERE ledger = $1 AND time < $2
    AND seq < coalesce((SELECT min(seq) FROM access_records WHERE ledger = $1 AND time >= $2), 9223372036854775807)
    AND seq < (SELECT max(seq) FROM access_records WHERE ledger = $1)`

	SQLCountAccess = `SELECT count(*) ` + OverdueAccess
)

// PutAccess implements [ledger.Store]. Only one can be the next of the chain, so this process adds one at a time.
func (c *Common) PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error {
	if err := c.chain.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.chain.Release(1)
	for {
		head, err := c.AccessHead(ctx, id)
		if err != nil {
			return err
		}
		_, err = c.db.Note(ctx, SQLNewAccess, int64(id), a.Time, a.Request, a.Token, a.Method, a.Path,
			int64(head.Count+1), head.Hash[:])
		if !errors.Is(err, ledger.ErrStale) {
			return err
		} // else another daemon added the next one; ctx ends this
	}
}

// AccessHead implements [ledger.Store].
func (c *Common) AccessHead(ctx context.Context, id ledger.ID) (ledger.AccessHead, error) {
	h, err := One(ctx, c.db.Query, scanAccessHead, SQLLastAccess, int64(id))
	if errors.Is(err, ledger.ErrNotFound) {
		return ledger.AccessHead{}, nil
	}
	return h, err
}

// AccessRecords implements [ledger.Store].
func (c *Common) AccessRecords(ctx context.Context, id ledger.ID, q ledger.AccessQuery) ([]ledger.Access, error) {
	from, to := max(q.From, q.After.Time), cmp.Or(q.To, math.MaxInt64)
	return All(ctx, c.db.Query, func(row Scanner) (a ledger.Access, err error) {
		err = row.Scan(&a.Time, &a.Request, &a.Token, &a.Method, &a.Path)
		return a, err
	}, SQLAccess, int64(id), from, to, q.After.Time, q.After.Request, q.Limit)
}

// CountAccess implements [ledger.Store].
func (c *Common) CountAccess(ctx context.Context, id ledger.ID, before int64) (int, error) {
	return One(ctx, c.db.Query, Only[int], SQLCountAccess, int64(id), before)
}

// DropAccess implements [ledger.Store].
func (c *Common) DropAccess(ctx context.Context, id ledger.ID, before int64, limit int) (int, error) {
	n, err := c.db.Note(ctx, c.db.DropAccess, int64(id), before, limit)
	return int(n), err
}

// scanAccessHead reads the newest access record, and returns the end of the chain.
func scanAccessHead(row Scanner) (ledger.AccessHead, error) {
	var (
		seq  int64
		prev []byte
		a    ledger.Access
	)
	if err := row.Scan(&seq, &prev, &a.Time, &a.Request, &a.Token, &a.Method, &a.Path); err != nil {
		return ledger.AccessHead{}, err
	}
	if seq < 1 || len(prev) != 32 {
		return ledger.AccessHead{}, errors.New("the newest access record has no number or no hash")
	}
	return ledger.AccessHead{Count: uint64(seq) - 1, Hash: [32]byte(prev)}.Next(a), nil
}
