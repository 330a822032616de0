package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/testdb"
)

// TestReaders: with all connections taken a question waits as long as it has
// patience, and one whose caller leaves costs no connection.
func TestReaders(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	migrate(t, dsn)
	s := open(t, dsn, Options{Readers: 2})
	l := create(t, s)
	ask := func(ctx context.Context) error {
		_, err := s.CheckpointAfter(ctx, l.id, 0)
		return err
	}
	var release []func()
	for range 2 {
		_, _, done, err := s.reader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release = append(release, done)
	}
	if err := ask(ledger.WithPatience(t.Context(), time.Now().Add(10*time.Millisecond))); !errors.Is(err, ledger.ErrOverloaded) {
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
	made := s.reads.Stat().NewConnsCount()
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		conn, sent, done, err := s.reader(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		var n int
		if err := conn.QueryRow(sent, "SELECT 1").Scan(&n); err != nil {
			t.Fatal(err)
		}
		done()
	}
	if n := s.reads.Stat().NewConnsCount() - made; n != 0 {
		t.Errorf("%d connections were lost", n)
	}
	timeout, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	conn, sent, done, err := s.reader(timeout)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := conn.Exec(sent, "SELECT pg_sleep(60)"); err == nil {
		t.Error("a statement outlives the time of its request")
	}
}
