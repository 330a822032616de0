package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
)

// TestReaders: with all connections taken a question waits as long as it has
// patience, and one whose caller leaves costs no connection.
func TestReaders(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	migrate(t, dsn)
	s := open(t, dsn, Options{Readers: 2})
	l := storetest.Create(t, s)
	ask := func(ctx context.Context) error {
		_, err := s.CheckpointAfter(ctx, l.ID, 0)
		return err
	}
	var release []func()
	for range 2 {
		_, _, done, err := s.reader(t.Context())
		must(t, err)
		release = append(release, done)
	}
	if err := ask(ledger.WithPatience(t.Context(), time.Now().Add(10*time.Millisecond))); !errors.Is(err,
		ledger.ErrOverloaded) {
		t.Errorf("all connections are taken: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has left: %v", err)
	}
	for _, done := range release {
		done()
	}
	made := s.reads.Of(t.Context()).Stat().NewConnsCount()
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		conn, sent, done, err := s.reader(ctx)
		must(t, err)
		cancel()
		var n int
		must(t, conn.QueryRow(sent, "SELECT 1").Scan(&n))
		done()
	}
	if n := s.reads.Of(t.Context()).Stat().NewConnsCount() - made; n != 0 {
		t.Errorf("%d connections were lost", n)
	}
	timeout, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	conn, sent, done, err := s.reader(timeout)
	must(t, err)
	defer done()
	if _, err := conn.Exec(sent, "SELECT pg_sleep(60)"); err == nil {
		t.Error("a statement outlives the time of its request")
	}
}

// TestShares: with all connections of readers taken dealers read and append, and with all of dealers' readers do. A
// question is told which of them are taken, or that its patience was over before; a reader that has begun waits for its
// next turn as long as its request does.
func TestShares(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	migrate(t, dsn)
	s := open(t, dsn, Options{Readers: 2, Audience: 3})
	l := storetest.Create(t, s)
	ask := func(ctx context.Context) error {
		_, err := s.CheckpointAfter(ctx, l.ID, 0)
		return err
	}
	take := func(ctx context.Context, n int) (release func()) {
		t.Helper()
		var all []func()
		for range n {
			_, _, done, err := s.reader(ctx)
			must(t, err)
			all = append(all, done)
		}
		return func() {
			for _, done := range all {
				done()
			}
		}
	}
	refused := func(ctx context.Context, until time.Duration, why string) {
		t.Helper()
		err := ask(ledger.WithPatience(ctx, time.Now().Add(until)))
		if !errors.Is(err, ledger.ErrOverloaded) || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
	reader := ledger.AsReader(t.Context())
	release := take(reader, 3)
	refused(reader, 10*time.Millisecond, "all 3 of readers are taken")
	if err := errors.Join(ask(t.Context()), s.Append(t.Context(), l.ID, l.Head, l.Next(2))); err != nil {
		t.Errorf("dealers, with all connections of readers taken: %v", err)
	}
	release()
	release = take(t.Context(), 2)
	refused(t.Context(), 10*time.Millisecond, "all 2 of dealers are taken")
	if err := ask(reader); err != nil {
		t.Errorf("a reader, with all connections of dealers taken: %v", err)
	}
	release()
	refused(reader, -time.Second, "before it asked")
	begun := ledger.WithFirstPatience(reader, time.Now().Add(time.Minute))
	must(t, ask(begun))
	release = take(reader, 3)
	if waiting, cancel := ledger.Patience(begun); waiting != begun {
		cancel()
		t.Error("a reader that had its first turn has the patience of the first")
	}
	release()
}

// TestEvidenceOfPrimary: an address that asks for the server that takes writes serves those who only read, too.
func TestEvidenceOfPrimary(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	migrate(t, dsn)
	l := storetest.Create(t, open(t, dsn, Options{}))
	at := "?"
	if strings.Contains(dsn, "?") {
		at = "&"
	}
	e, err := OpenEvidence(t.Context(), dsn+at+"target_session_attrs=read-write", Options{})
	must(t, err)
	defer e.Close()
	if names, err := e.Names(t.Context()); err != nil || len(names) != 1 || ledger.IDOf(names[0].Origin) != l.ID {
		t.Errorf("ledgers: %v, %v", names, err)
	}
}

// TestOneServerAnswers: a shuffle that is not found has its rows and the barrier of one connection. With two, the rows
// could be those of a server that a failover has left behind, and the barrier that of the new one.
func TestOneServerAnswers(t *testing.T) {
	t.Parallel()
	s := open(t, migrated(t), Options{})
	l := storetest.Create(t, s)
	before := s.pools[1].Stat().AcquireCount()
	rows, err := s.ByShuffles(t.Context(), l.ID, ledger.Durable, 1<<40)
	if n := s.pools[1].Stat().AcquireCount() - before; n != 1 || err != nil || len(rows[0]) != 0 {
		t.Errorf("%v, %v, of %d connections", rows, err, n)
	}
}
