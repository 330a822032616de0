package store

import (
	"context"
	"errors"
	"math"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/ledger"
)

// The statements of recall. Rows are numbered in order, and a search halves its step until the step is 0. low is how
// many rows are known to come before what is looked for. A row that is missing does not come before it.
const (
	// RecallEntryAt searches the entries of ledger $1, whose times never decrease, for the time $2, with first step $3.
	RecallEntryAt = `WITH RECURSIVE search (low, step) AS (
    SELECT CAST(0 AS bigint), CAST($3 AS bigint)
    UNION ALL
    SELECT low + CASE WHEN (SELECT e.time < CAST($2 AS bigint) FROM entries e
        WHERE e.ledger = CAST($1 AS bigint) AND e.idx = low + step - 1) THEN step ELSE 0 END, step / 2
    FROM search WHERE step > 0
) SELECT low FROM search WHERE step < 1`

	recallColumns = `SELECT e.idx, e.entry, (SELECT c.entry FROM entries c
    WHERE c.ledger = e.ledger AND c.shuffle = e.idx AND c.type = 5) FROM entries e`

	// RecallByID reads the commits of ledger $1 from $2 to below $3, $4 at most.
	RecallByID = recallColumns + ` WHERE e.ledger = CAST($1 AS bigint) AND e.type = 2
AND e.idx >= CAST($2 AS bigint) AND e.idx < CAST($3 AS bigint) ORDER BY e.idx LIMIT CAST($4 AS bigint)`

	// RecallByGameRef is RecallByID for the game reference $5.
	RecallByGameRef = recallColumns + ` /* INDEXED BY entries_game_ref */
WHERE e.ledger = CAST($1 AS bigint) AND e.game_ref = CAST($5 AS text)
AND e.idx >= CAST($2 AS bigint) AND e.idx < CAST($3 AS bigint) ORDER BY e.idx LIMIT CAST($4 AS bigint)`

	// RecallByTable reads commits of ledger $1 and table $2 in the order of serials, which is that of indexes: $3 at
	// most, from index $4 on, and up to serial $7. It searches for the index $4 among the serials above $5, with first
	// step $6.
	RecallByTable = `WITH RECURSIVE search (low, step) AS (
    SELECT CAST($5 AS bigint), CAST($6 AS bigint)
    UNION ALL
    SELECT low + CASE WHEN (SELECT e.idx < CAST($4 AS bigint) FROM entries e
        WHERE e.ledger = CAST($1 AS bigint) AND e.tbl = CAST($2 AS text) AND e.serial = low + step)
        THEN step ELSE 0 END, step / 2
    FROM search WHERE step > 0
) ` + recallColumns + ` /* INDEXED BY entries_serial */
WHERE e.ledger = CAST($1 AS bigint) AND e.tbl = CAST($2 AS text)
AND e.serial > (SELECT low FROM search WHERE step < 1) AND e.serial <= CAST($7 AS bigint)
ORDER BY e.serial LIMIT CAST($3 AS bigint)`
)

// commitsOf returns the statement that answers a query, and its parameters. Commits that it reads by serial may lie
// outside the range of indexes.
func commitsOf(id ledger.ID, q ledger.CommitQuery) (sql string, args []any) {
	from, to := Number(q.From), Number(q.To)
	switch {
	case q.Serial > 0:
		serial := Number(q.Serial)
		return RecallByTable, []any{int64(id), q.Table, q.Limit, from, serial - 1, 0, serial}
	case q.Table != "": // below From stand at most as many commits as entries
		return RecallByTable, []any{int64(id), q.Table, q.Limit, from, 0, firstStep(q.From), math.MaxInt64}
	case q.GameRef != "":
		return RecallByGameRef, []any{int64(id), from, to, q.Limit, q.GameRef}
	}
	return RecallByID, []any{int64(id), from, to, q.Limit}
}

// firstStep is the first step of a search among n rows: the largest power of 2 that is at most n.
func firstStep(n uint64) int64 {
	if n == 0 {
		return 0
	}
	return 1 << min(bits.Len64(n)-1, 62)
}

// Scanner is one row of a result.
type Scanner interface{ Scan(dest ...any) error }

// Query runs one statement, whose parameters are $1, $2 …, and hands over its rows. Rows that are read behind the
// barrier (Barrier) are durable when it returns nil.
type Query func(ctx context.Context, sql string, args []any, each func(Scanner) error) error

// All returns the rows of a statement.
func All[T any](ctx context.Context, q Query, scan func(Scanner) (T, error), sql string, args ...any) ([]T, error) {
	var list []T
	err := q(ctx, sql, args, func(row Scanner) error {
		v, err := scan(row)
		list = append(list, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// One returns the row of a statement that has at most one, ledger.ErrNotFound if there is none.
func One[T any](ctx context.Context, q Query, scan func(Scanner) (T, error), sql string, args ...any) (v T, err error) {
	found := false
	err = q(ctx, sql, args, func(row Scanner) (err error) {
		found = true
		v, err = scan(row)
		return err
	})
	if err == nil && !found {
		err = ledger.ErrNotFound
	}
	return v, err
}

// Only reads the one column of a row.
func Only[T any](row Scanner) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// ScanRow reads the columns of an entry, and of which ledger it is.
func ScanRow(row Scanner) (of ledger.ID, r ledger.Row, err error) {
	var tag []byte
	err = row.Scan(&of, &r.Index, &r.Time, (*uint8)(&r.Type), &r.Serial, &r.Shuffle, &r.Table, &tag, &r.Entry, &r.Kept,
		&r.GameRef)
	copy(r.KeyTag[:], tag)
	return of, r, err
}

// ScanHead reads size, root and checkpoint.
func ScanHead(row Scanner) (h ledger.Head, err error) {
	var root []byte
	if err := row.Scan(&h.Size, &root, &h.Checkpoint); err != nil {
		return ledger.Head{}, err
	}
	if len(root) != tlog.HashSize {
		return ledger.Head{}, errors.New("the stored root has not 32 bytes")
	}
	h.Root = tlog.Hash(root)
	return h, nil
}
