package testdb

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestNewStandby(t *testing.T) {
	t.Parallel()
	c := Start(t)
	dsn := c.Database(t)
	admin := connect(t, dsn)
	mustExec(t, admin, "CREATE TABLE marks (x int)")
	s := c.NewStandby(t)
	c.Synchronous(t, true)
	mustExec(t, admin, "INSERT INTO marks VALUES (1)") // and waits for the standby
	other := connect(t, s.Same(t, dsn))
	if n := query(t, other, "SELECT count(*)::text || pg_is_in_recovery() FROM marks"); n != "1true" {
		t.Errorf("%s at the standby", n)
	}
	s.Detach(t)
	ctx, cancel := context.WithCancel(t.Context())
	committed := make(chan error, 1)
	go func() {
		_, err := admin.Exec(ctx, "INSERT INTO marks VALUES (2)")
		committed <- err
	}()
	look := connect(t, dsn)
	shows := func(want, q string) {
		t.Helper()
		for end := time.Now().Add(patience); query(t, look, q) != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the primary never answers %s to %s", want, q)
			}
		}
	}
	shows("1", "SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	cancel() // with it the driver cancels the wait
	if err := <-committed; err == nil {
		t.Error("a commit did not wait for a standby that is detached")
	}
	shows("2", "SELECT count(*)::text FROM marks")
	c.Stop(t, Kill)
	s.Promote(t)
	if n := query(t, other, "SELECT count(*)::text || pg_is_in_recovery() FROM marks"); n != "1false" {
		t.Errorf("%s after the promotion", n)
	}
	mustExec(t, other, "INSERT INTO marks VALUES (3)")
}

func TestPause(t *testing.T) {
	t.Parallel()
	c := Start(t)
	dsn := c.Database(t)
	admin := connect(t, dsn)
	resume := c.Pause(t)
	for _, ask := range []func(context.Context) error{
		admin.Ping,
		func(ctx context.Context) error { _, err := pgx.Connect(ctx, dsn); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := ask(ctx); err == nil {
			t.Error("a server that is paused answers")
		}
		cancel()
	}
	resume()
	connect(t, dsn)
}

// TestProxy spoils an INSERT in every way, and holds what became of it against the fault.
func TestProxy(t *testing.T) {
	t.Parallel()
	dsn := DSN(t)
	admin := connect(t, dsn)
	mustExec(t, admin, "CREATE TABLE marks (x int)")
	p := NewProxy(t, dsn)
	next := make(chan Fault, 1)
	p.Fault = func(sql string) Fault {
		if strings.HasPrefix(sql, "INSERT") {
			return <-next
		}
		return Pass
	}
	for f := Pass; f < faults; f++ {
		for range 2 { // a close and a reset
			conn := connect(t, p.DSN)
			mustExec(t, admin, "TRUNCATE marks")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if f == HoldReply {
				ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
			}
			next <- f
			struck := p.Struck(f)
			var got int
			err := conn.QueryRow(ctx, "INSERT INTO marks VALUES ($1) RETURNING x", 7).Scan(&got)
			cancel()
			passes := f == Pass || f == DelayRequest || f == DelayReply
			if passes != (err == nil) || passes && got != 7 || f != Pass && p.Struck(f) != struck+1 {
				t.Errorf("%v: %d, %v, struck %d times", f, got, err, p.Struck(f)-struck)
			}
			n := query(t, admin, "SELECT count(*)::text FROM marks")
			switch f {
			case LoseBoth: // as it comes
			case LoseRequest, LoseSync:
				if n != "0" {
					t.Errorf("%v: %s rows", f, n)
				}
			default:
				if n != "1" {
					t.Errorf("%v: %s rows", f, n)
				}
			}
		}
	}
}

func TestProxyRewrites(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, DSN(t))
	p.Rewrite = func(sql string) string { return strings.ReplaceAll(sql, "cabbage", "king") }
	if got := query(t, connect(t, p.DSN), "SELECT 'cabbage'::text || $1", "s"); got != "kings" {
		t.Errorf("got %s", got)
	}
}
