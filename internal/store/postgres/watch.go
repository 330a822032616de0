package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/ledger"
)

// sqlWaits asks what a server process of the same role waits for. Behind a pooler the number that the connection has is
// not that of the process, and may have 32 bits without a sign: nothing is found.
const sqlWaits = `SELECT coalesce(wait_event_type, ''), coalesce(wait_event, '') FROM pg_stat_activity
	WHERE pid = $1::bigint`

// watching asks the server, on another connection, what a statement waits for.
type watching struct {
	s     *Store
	pid   int64
	ctx   context.Context
	stop  context.CancelFunc
	timer *time.Timer

	mu    sync.Mutex // held by look
	cause ledger.Cause
}

// watch looks at the statement that is sent on conn next, if it is still under way after a tenth of the timeout, and
// again after each further tenth. When the statement has ended, the caller calls ended, which returns the error with
// the cause that was found.
func (s *Store) watch(conn *pgxpool.Conn) *watching {
	w := &watching{s: s, pid: int64(conn.Conn().PgConn().PID())}
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(s.timeout/10, w.look)
	return w
}

func (w *watching) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if found := w.s.waits(w.ctx, w.pid); found != "" {
		w.cause = found
		w.s.blocked.Store(&found)
	}
	if w.ctx.Err() == nil {
		w.timer.Reset(w.s.timeout / 10)
	}
}

func (w *watching) ended(err error) error {
	w.stop()
	w.timer.Stop()
	w.mu.Lock() // waits for a look that is under way, which may have set the timer again
	defer w.mu.Unlock()
	w.timer.Stop()
	if w.cause == "" {
		return err
	}
	w.s.blocked.Store(nil)
	if err == nil {
		return nil
	}
	return &ledger.StoreError{Cause: w.cause, Err: err}
}

// waits returns what a server process waits for, "" if it waits for nothing that has a name.
func (s *Store) waits(ctx context.Context, pid int64) (cause ledger.Cause) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout/10)
	defer cancel()
	conn, err := s.reads.Of(ctx).Acquire(ctx)
	if err != nil {
		return ""
	}
	defer conn.Release()
	var class, event string
	if err := conn.QueryRow(ctx, sqlWaits, pid).Scan(&class, &event); err != nil {
		return ""
	}
	switch {
	case event == "SyncRep":
		return ledger.CauseStandby
	case class == "Lock":
		return ledger.CauseLock
	}
	return ""
}

// Blocked returns what a statement under way waits for, "" for nothing that is known.
func (s *Store) Blocked() ledger.Cause {
	if cause := s.blocked.Load(); cause != nil {
		return *cause
	}
	return ""
}
