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
// patience. Sent is the context of one statement on it: a caller who leaves does
// not end that, for it would cost the connection, and most statements are over
// before another one could be made. The caller calls release.
func (s *Store) reader(ctx context.Context) (conn *pgxpool.Conn, sent context.Context, release func(), err error) {
	waiting, cancel := ledger.Patience(ctx)
	conn, err = s.reads.Acquire(waiting)
	cancel()
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return nil, nil, nil, fmt.Errorf("%w: all connections to the database are taken", ledger.ErrOverloaded)
		}
		return nil, nil, nil, fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	by := time.Now().Add(s.timeout)
	if end, ok := ctx.Deadline(); ok && end.Before(by) {
		by = end
	}
	sent, cancel = context.WithDeadline(context.WithoutCancel(ctx), by)
	return conn, sent, func() { cancel(); conn.Release() }, nil
}
