package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/ledger"
)

// reader takes a connection for reading, for which it waits as long as ctx has
// patience, and no longer than the store's timeout: one of dealers, or of readers
// (ledger.AsReader). Sent is the context of one statement on it: a caller that leaves does
// not end that: it would cost the connection, and most statements end before another
// one could be made. The caller calls release.
func (s *Store) reader(ctx context.Context) (conn *pgxpool.Conn, sent context.Context, release func(), err error) {
	pool, of := s.reads, "dealers"
	if ledger.IsReader(ctx) {
		pool, of = s.public, "readers"
	}
	bounded, stop := context.WithTimeout(ctx, s.timeout)
	defer stop()
	waiting, cancel := ledger.Patience(bounded)
	defer cancel()
	late := waiting.Err() != nil && ctx.Err() == nil
	conn, err = pool.Acquire(waiting)
	impatient := waiting.Err() != nil && bounded.Err() == nil
	switch {
	case err == nil:
		ledger.Began(ctx)
	case late:
		return nil, nil, nil, fmt.Errorf("%w: its patience ended before it asked for a connection to the database",
			ledger.ErrOverloaded)
	case impatient && errors.Is(err, context.DeadlineExceeded):
		return nil, nil, nil, fmt.Errorf("%w: no connection to the database became free, all %d of %s are taken",
			ledger.ErrOverloaded, pool.Config().MaxConns, of)
	default:
		return nil, nil, nil, fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	by := time.Now().Add(s.timeout)
	if end, ok := ctx.Deadline(); ok && end.Before(by) {
		by = end
	}
	sent, cancel = context.WithDeadline(context.WithoutCancel(ctx), by)
	return conn, sent, func() { cancel(); conn.Release() }, nil
}
