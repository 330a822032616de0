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
// patience, and no longer than the store's timeout. Sent is the context of one statement on it: a caller who leaves does
// not end that, for it would cost the connection, and most statements are over
// before another one could be made. The caller calls release.
func (s *Store) reader(ctx context.Context) (conn *pgxpool.Conn, sent context.Context, release func(), err error) {
	bounded, stop := context.WithTimeout(ctx, s.timeout)
	waiting, cancel := ledger.Patience(bounded)
	conn, err = s.reads.Acquire(waiting)
	impatient := waiting.Err() != nil && bounded.Err() == nil
	cancel()
	stop()
	if err != nil {
		if impatient && errors.Is(err, context.DeadlineExceeded) {
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
