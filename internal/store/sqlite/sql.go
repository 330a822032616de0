package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"shuffled/internal/store"
)

// words puts a statement of both stores into SQLite's words. A statement with a list runs once for each of its values
// (Store.query).
var words = strings.NewReplacer(" = ANY ($2::bytea[])", " = ?2", store.Barrier, "", "$", "?", "/*", "", "*/", "")

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

// What readers run, alongside store.Statements.
const (
	sqlByKeyTag = `SELECT ` + store.RowColumns + ` FROM entries e WHERE e.ledger = ?1 AND e.key_tag = ?2` +
		store.Barrier

	sqlByShuffle = `SELECT ` + store.RowColumns + ` FROM entries e WHERE e.ledger = ?1 AND e.idx = ?2 AND e.type = 2
UNION ALL SELECT ` + store.RowColumns + ` FROM entries e WHERE e.ledger = ?1 AND e.shuffle = ?2 ORDER BY idx` +
		store.Barrier
)

const (
	sqlDropAccess = `DELETE FROM access_records WHERE ledger = $1 AND (time, request) IN
(SELECT time, request ` + store.OverdueAccess + ` ORDER BY seq LIMIT $3)`

	sqlBegin    = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`
)

var (
	sqlWrites = slices.Concat([]string{sqlDropAccess, sqlBegin, sqlCommit, sqlRollback}, sqlAppends, store.Writes)
	sqlReads  = append([]string{sqlByKeyTag, sqlByShuffle}, store.Statements...)
)
