package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"shuffled/internal/store"
)

// words puts a statement of both stores into SQLite's words.
var words = strings.NewReplacer("$", "?", "/*", "", "*/", "")

// statements are prepared ones, by their texts.
type statements map[string]*sql.Stmt

// prepare adds statements of a connection, or of several.
func (all statements) prepare(of interface {
	PrepareContext(context.Context, string) (*sql.Stmt, error)
}, texts []string) error {
	for _, text := range texts {
		one, err := of.PrepareContext(context.Background(), words.Replace(text))
		if err != nil {
			return err
		}
		all[text] = one
	}
	return nil
}

func (all statements) close() (err error) {
	for _, one := range all {
		err = errors.Join(err, one.Close())
	}
	return err
}

// All statements of this package.

// What the writer runs.
const (
	sqlBegin    = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`

	sqlTaken     = `SELECT count(*) FROM ledgers WHERE ledger = ? OR name = ? OR origin = ?`
	sqlNewLedger = `INSERT INTO ledgers (ledger, name, origin) VALUES (?, ?, ?)`
	sqlNewHead   = `INSERT INTO heads (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlHead     = `SELECT size, root, checkpoint FROM heads WHERE ledger = ?`
	sqlMoveHead = `UPDATE heads SET size = ?, root = ?, checkpoint = ? WHERE ledger = ? AND size = ? AND root = ?`

	sqlNewEntry = `INSERT INTO entries (ledger, idx, time, serial, shuffle, type, tbl, key_tag, entry, kept, game_ref)
VALUES (?, ?, ?, nullif(?, 0), nullif(?, 0), ?, nullif(?, ''), ?, ?, ?, nullif(?, ''))`
	sqlNewSlot       = `INSERT INTO slots (ledger, slot, idx) VALUES (?, ?, ?)`
	sqlNewTile       = `INSERT INTO tiles (ledger, level, idx, data) VALUES (?, ?, ?, ?)`
	sqlNewCheckpoint = `INSERT INTO checkpoints (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlNewCosigned = `INSERT INTO cosigned (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlNewLate = `INSERT INTO late (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlNewDeck = `INSERT INTO decks (ledger, hash, cards) SELECT ?1, ?2, ?3
WHERE NOT EXISTS (SELECT 1 FROM decks WHERE ledger = ?1 AND hash = ?2)`

	sqlNewTerms = `INSERT INTO terms (ledger, hash, kind, bytes) SELECT ?1, ?2, ?3, ?4
WHERE NOT EXISTS (SELECT 1 FROM terms WHERE ledger = ?1 AND hash = ?2)`

	sqlDropAccess = `DELETE FROM access_records WHERE ledger = $1 AND (time, request) IN
(SELECT time, request ` + store.OverdueAccess + ` ORDER BY seq LIMIT $3)`
)

// What readers run, alongside store.Statements.
const (
	sqlByKeyTag = `SELECT ` + store.RowColumns + ` FROM entries e WHERE e.ledger = ? AND e.key_tag = ?`
	sqlHasTag   = `SELECT idx FROM entries WHERE ledger = ? AND key_tag = ?`
	sqlHasSlot  = `SELECT idx FROM slots WHERE ledger = ? AND slot = ?`

	sqlByShuffle = `SELECT ` + store.RowColumns + ` FROM entries e WHERE e.ledger = ?1 AND e.idx = ?2 AND e.type = 2
UNION ALL SELECT ` + store.RowColumns + ` FROM entries e WHERE e.ledger = ?1 AND e.shuffle = ?2 ORDER BY idx`

	sqlNewestCosigned = `SELECT size FROM cosigned WHERE ledger = ? ORDER BY size DESC LIMIT 1`
	sqlCosignedAtMost = `SELECT size, root, checkpoint FROM cosigned
WHERE ledger = ? AND size <= ? ORDER BY size DESC LIMIT 1`
)

var (
	sqlWrites = []string{sqlBegin, sqlCommit, sqlRollback, sqlTaken, sqlNewLedger, sqlNewHead, sqlHead, sqlMoveHead,
		sqlNewEntry, sqlNewSlot, sqlNewTile, sqlNewCheckpoint, sqlNewestCosigned, sqlNewCosigned, sqlNewLate,
		sqlNewDeck, sqlNewTerms,
		store.SQLNewAccess, store.SQLNewStatement, store.SQLLastAccess, sqlDropAccess}
	sqlReads = append([]string{sqlByKeyTag, sqlHasTag, sqlHasSlot, sqlByShuffle, sqlCosignedAtMost},
		store.Statements...)
)
