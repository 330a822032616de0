package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
)

// writer is the one connection that writes. The holder of the store's turn owns it. No caller's context reaches it, so
// that a transaction that was begun is also ended.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts statements
}

func newWriter(path string, o Options) (*writer, error) {
	db, err := connect(path, o, writerSettings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &writer{db: db, conn: conn, stmts: make(statements)}, nil
}

func (w *writer) close() error {
	err := w.stmts.close()
	if closed := w.conn.Close(); !errors.Is(closed, sql.ErrConnDone) {
		err = errors.Join(err, closed)
	}
	return errors.Join(err, w.db.Close())
}

// exec runs a statement and returns the number of rows that it changed.
func (w *writer) exec(text string, args ...any) (int64, error) {
	r, err := w.stmts[text].Exec(args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// exec is a store.Exec.
func (s *Store) exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = s.transact(ctx, func(w *writer) error {
		n, err = w.exec(text, args...)
		return refused(err)
	})
	return n, err
}

// transact runs do in a transaction that has the write lock. It waits for its turn no longer than ctx. If do fails, its
// error is returned, and nothing was written. With an error of the database nothing was written either, unless it is
// ledger.ErrUnknownOutcome.
func (s *Store) transact(ctx context.Context, do func(*writer) error) (err error) {
	defer func() { err = caused(err) }()
	if err := s.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.turn.Release(1)
	if err := s.sound(); err != nil {
		return err
	}
	if err := s.held.Check(); err != nil { // what is written now would be gone when this process ends
		return stops.With(fmt.Errorf("%w: %w", ledger.ErrFrozen, err), stops.Replaced)
	}
	if _, err := s.writer.exec(sqlBegin); err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	if err := do(s.writer); err != nil {
		if undone := s.rollback(); undone != nil {
			return s.fail(undone)
		}
		return err
	}
	return s.commit()
}

// commit ends a transaction. See the package comment for its errors.
func (s *Store) commit() error {
	_, err := s.writer.exec(sqlCommit)
	if err == nil {
		return nil
	}
	unknown := fmt.Errorf("%w: committing: %w", ledger.ErrUnknownOutcome, err)
	undone := s.rollback()
	if code := codeOf(err); undone == nil && (code == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_BUSY) {
		return unknown
	}
	s.fail(err)
	return unknown
}

// rollback undoes a transaction. After some errors SQLite has done so itself, and reports that there is none.
func (s *Store) rollback() error {
	_, err := s.writer.exec(sqlRollback)
	if codeOf(err) == sqlite3.SQLITE_ERROR {
		return nil
	}
	return err
}

// fail makes the store refuse every call whose answer would be acknowledged.
func (s *Store) fail(cause error) error {
	err := fmt.Errorf("the database failed and is not written until it is opened again: %w", cause)
	s.failed.CompareAndSwap(nil, &err)
	return err
}

// codeOf returns the primary result code of an error of SQLite, 0 for any other error.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

var causes = map[int]stops.Cause{
	sqlite3.SQLITE_FULL: stops.DiskFull, sqlite3.SQLITE_IOERR: stops.Disk,
	sqlite3.SQLITE_BUSY: stops.Lock, sqlite3.SQLITE_LOCKED: stops.Lock,
	sqlite3.SQLITE_READONLY: stops.ReadOnly,
	sqlite3.SQLITE_CORRUPT:  stops.Damaged, sqlite3.SQLITE_NOTADB: stops.Damaged,
}

// caused names the cause of an error of SQLite, if it is one of those that are distinguished.
func caused(err error) error { return stops.With(err, causes[codeOf(err)]) }

// refused names why a row was not added, as store.Exec does. Triggers find a key that is taken before the relation
// does, and an access record that is not the next one.
func refused(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return ledger.ErrNotFound
	case sqlite3.SQLITE_CONSTRAINT_TRIGGER, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		if strings.Contains(e.Error(), "it is not the next number") {
			return ledger.ErrStale
		}
		return ledger.ErrExists
	}
	return err
}
