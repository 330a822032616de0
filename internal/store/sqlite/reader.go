package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"shuffled/internal/ledger"
)

// readers are connections that read. Safe for concurrent use.
type readers struct {
	db     *sql.DB
	places chan struct{} // holds a value for each statement that is under way
	stmts  statements
}

func newReaders(path string, o Options, n int) (*readers, error) {
	db, err := connect(path, o, readerSettings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return &readers{db, make(chan struct{}, n), make(statements)}, nil
}

// enter waits for a connection, as long as ctx has patience. The caller calls leave.
func (r *readers) enter(ctx context.Context) error {
	waiting, cancel := ledger.Patience(ctx)
	defer cancel()
	select {
	case r.places <- struct{}{}:
		ledger.Began(ctx)
		return nil
	case <-waiting.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: no connection to the database became free, all %d are taken",
		ledger.ErrOverloaded, cap(r.places))
}

func (r *readers) leave() { <-r.places }

// close ends the connections; nil is none.
func (r *readers) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.stmts.close(), r.db.Close())
}

// of returns the connections for ctx.
func (s *Store) of(ctx context.Context) *readers {
	if ledger.IsReader(ctx) {
		return s.public
	}
	return s.reads
}
