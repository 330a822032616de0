// Package store holds what the two stores have in common: the methods and statements that need nothing of one database
// alone, the check of a batch before any of it is sent, the encoding of decks, reads of rows that are not believed yet,
// and migrations. The stores are store/postgres, the system of record, and store/sqlite, the embedded one. Both are a
// ledger.Store, and pass store/storetest.
package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/migrations"
)

// The statements that both stores run. Parameters are $1, $2 …, typed if PostgreSQL could not tell. package sqlite puts
// them into SQLite's words: a comment is for SQLite, which without it prefers the index of the key.

// Barrier ends a statement whose rows may be acknowledged: in PostgreSQL it locks head h (see package postgres), in
// SQLite the store must not have failed.
const Barrier = ` FOR KEY SHARE OF h`

// RowColumns are the columns that ScanRow reads, of entries e.
const RowColumns = `e.ledger, e.idx, e.time, e.type, coalesce(e.serial, 0), coalesce(e.shuffle, 0), coalesce(e.tbl, ''),
e.key_tag, e.entry, e.kept, coalesce(e.game_ref, '')`

// What reads evidence.
const (
	SQLLedgers = `SELECT name, origin FROM ledgers ORDER BY name`

	SQLSize = `SELECT size FROM heads WHERE ledger = $1`

	SQLRows = `SELECT ` + RowColumns + ` FROM entries e
WHERE e.ledger = $1 AND e.idx >= $2 AND e.idx < $3 ORDER BY e.idx`

	SQLCheckpointAfter = `SELECT size, root, checkpoint FROM checkpoints
WHERE ledger = $1 AND size > $2 ORDER BY size LIMIT 1`

	SQLCosignedFrom = `SELECT size, root, checkpoint FROM cosigned
WHERE ledger = $1 AND size >= $2 ORDER BY size LIMIT $3`

	SQLLateFrom = `SELECT size, root, checkpoint FROM late
WHERE ledger = $1 AND size >= $2 ORDER BY size LIMIT $3`

	SQLNewestLate = `SELECT size, root, checkpoint FROM late
WHERE ledger = $1 ORDER BY size DESC LIMIT $2`

	SQLTile = `SELECT data FROM tiles WHERE ledger = $1 AND level = $2 AND idx = $3`

	SQLTerms = `SELECT kind, bytes FROM terms WHERE ledger = $1 AND hash = $2`

	SQLStatements = `SELECT note FROM statements WHERE ledger = $1 AND shuffle = $2 ORDER BY n`

	SQLDeck = `SELECT cards FROM decks WHERE ledger = $1 AND hash = $2`
)

// What reads evidence behind the barrier.
const (
	SQLKeyTags = `SELECT e.key_tag FROM heads h JOIN entries e ON e.ledger = h.ledger
WHERE h.ledger = $1 AND e.key_tag = ANY ($2::bytea[])` + Barrier

	SQLSlots = `SELECT s.slot FROM heads h JOIN slots s ON s.ledger = h.ledger
WHERE h.ledger = $1 AND s.slot = ANY ($2::bytea[])` + Barrier

	SQLHasTerms = `SELECT t.kind FROM heads h JOIN terms t ON t.ledger = h.ledger
WHERE h.ledger = $1 AND t.hash = $2` + Barrier

	SQLHasCosigned = `SELECT c.size FROM heads h JOIN cosigned c ON c.ledger = h.ledger
WHERE h.ledger = $1 AND c.size = $2` + Barrier

	SQLCosignedAtMost = `SELECT c.size, c.root, c.checkpoint FROM heads h JOIN cosigned c ON c.ledger = h.ledger
WHERE h.ledger = $1 AND c.size <= $2 ORDER BY c.size DESC LIMIT 1` + Barrier
)

// What writes. A guard of SQLite refuses a row whose key is taken before ON CONFLICT is asked.
const (
	SQLNewCosigned = `INSERT INTO cosigned (ledger, size, root, checkpoint) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING`

	SQLNewHandover = `INSERT INTO cosigned (ledger, size, root, checkpoint) SELECT $1, $2, $3, $4
WHERE NOT EXISTS (SELECT 1 FROM cosigned WHERE ledger = $1 AND size >= $5) ON CONFLICT DO NOTHING`

	SQLNewLate = `INSERT INTO late (ledger, size, root, checkpoint) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING`

	SQLNewTerms = `INSERT INTO terms (ledger, hash, kind, bytes) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING`

	SQLNewStatement = `INSERT INTO statements (ledger, shuffle, n, note) VALUES ($1, $2, $3, $4)`
)

// Statements and Writes list what Common runs.
var (
	Statements = []string{
		SQLLedgers, SQLSize, SQLRows, SQLCheckpointAfter, SQLCosignedFrom, SQLLateFrom, SQLNewestLate, SQLTile,
		SQLDeck, SQLTerms, SQLStatements, SQLLastAccess, SQLAccess, SQLCountAccess, RecallEntryAt, RecallByID,
		RecallByGameRef, RecallByTable, SQLKeyTags, SQLSlots, SQLHasTerms, SQLHasCosigned, SQLCosignedAtMost,
	}
	Writes = []string{SQLNewCosigned, SQLNewHandover, SQLNewLate, SQLNewTerms, SQLNewStatement, SQLNewAccess}
)

// ErrOldSchema reports a database that a program up to 1.0.0-rc.1 made.
var ErrOldSchema = errors.New("it cannot be migrated: read and export it with the program that made it, " +
	"and make a new database for this program")

// OldSchema returns the error of a database with the schema of a number, made by a program up to 1.0.0-rc.1.
func OldSchema(number int) error {
	return fmt.Errorf("the database has schema %d of shuffled 1.0.0-rc.1 or older, and %w", number, ErrOldSchema)
}

// CheckSchema returns an error unless version is that of this program.
func CheckSchema(version int) error {
	switch {
	case version == migrations.Latest:
		return nil
	case version > migrations.Latest:
		return fmt.Errorf("the database has schema %d and this program knows %d: %w", version, migrations.Latest,
			stops.TablesNew)
	}
	return fmt.Errorf("the database has schema %d and this program needs %d: %w", version, migrations.Latest,
		stops.TablesOld)
}

// Pool is how the connections of one pool to the database are used.
type Pool struct {
	Name  string // appends, reads or public
	Limit int    // connections that it may have
	Used  int    // connections that are at work
	Open  int
	Waits uint64        // how often a call waited for one
	Wait  time.Duration // for how long all of these calls together
}

// Standbys is what the server says of its synchronous replication.
type Standbys struct {
	Wanted bool // the server's settings name synchronous standbys
	Known  bool // the role may count them (deploy/roles.sql)
	Synced int  // how many are connected as sync or quorum
}

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
