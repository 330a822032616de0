// Package store holds what the two stores have in common: their interface, the methods and statements that need nothing
// of one database alone, the check of a batch before any of it is sent, the encoding of decks, reads of rows that are
// not believed yet, and migrations. The stores are store/postgres, the system of record, and store/sqlite, the embedded
// one. Both pass store/storetest.
package store

import (
	"errors"
	"fmt"
	"time"

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
	// SQLBarrier is the barrier alone, for what was not found: no row, no lock.
	SQLBarrier = `SELECT true FROM heads h WHERE h.ledger = $1` + Barrier

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
		RecallByGameRef, RecallByTable, SQLBarrier, SQLKeyTags, SQLSlots, SQLHasTerms, SQLHasCosigned,
		SQLCosignedAtMost,
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

// Database is an open store: the evidence, which is appended to and read, and the access records, on which no proof
// rests.
type Database interface {
	ledger.Store
	ledger.CommitFinder
	ledger.AccessStore
	Close() error
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
