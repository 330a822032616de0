package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// readers are connections that read. They are safe for concurrent use.
type readers struct {
	db     *sql.DB
	places chan struct{} // has a value for each connection that is free
	stmts  statements
	full   string // says that no place became free
}

func newReaders(path string, o Options, n int) (*readers, error) {
	db, err := connect(path, o, readerSettings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	r := &readers{db, make(chan struct{}, n), make(statements),
		fmt.Sprintf("no connection to the database became free, all %d are taken", n)}
	for range n {
		r.leave()
	}
	return r, nil
}

// enter waits for a connection, as long as ctx has patience. The caller calls leave.
func (r *readers) enter(ctx context.Context) error {
	_, err := ledger.Await(ctx, r.places, r.full)
	if err == nil {
		ledger.Began(ctx)
	}
	return err
}

func (r *readers) leave() { r.places <- struct{}{} }

// close ends the connections. r may be nil.
func (r *readers) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.stmts.close(), r.db.Close())
}

type scanner = store.Scanner

// query is a store.Query. With lists among the arguments, it runs the statement once for each of their places.
func (s *Store) query(ctx context.Context, text string, args []any, each func(scanner) error) error {
	if strings.HasSuffix(text, store.Barrier) {
		if err := s.sound(); err != nil {
			return err
		}
	}
	r := s.reads.Of(ctx)
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.leave()
	for _, args := range runs(args) {
		if err := r.query(ctx, text, args, each); err != nil {
			return err
		}
	}
	return nil
}

// runs returns the arguments of each run of a statement: of lists the values at one place.
func runs(args []any) [][]any {
	n := 1
	for _, arg := range args {
		switch list := arg.(type) {
		case [][]byte:
			n = len(list)
		case []int64:
			n = len(list)
		}
	}
	all := make([][]any, n)
	for i := range all {
		for _, arg := range args {
			switch list := arg.(type) {
			case [][]byte:
				arg = list[i]
			case []int64:
				arg = list[i]
			}
			all[i] = append(all[i], arg)
		}
	}
	return all
}

func (r *readers) query(ctx context.Context, text string, args []any, each func(scanner) error) error {
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

// words puts a statement of both stores into SQLite's words. A statement with a list runs once for each of its values
// (Store.query).
var words = strings.NewReplacer(" = ANY ($1::bigint[])", " = ?1", " = ANY ($2::bytea[])", " = ?2",
	store.Barrier, "", "$", "?", "/*", "", "*/", "")

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
