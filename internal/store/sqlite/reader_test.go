package sqlite

import (
	"errors"
	"strings"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/store/storetest"
)

// TestShares: with all connections of readers taken, each in the middle of a statement, dealers read and the writer
// commits; a reader waits as long as it has patience for its first question, and is told why.
func TestShares(t *testing.T) {
	t.Parallel()
	path := migrated(t)
	s, err := Open(path, Options{Audience: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	reader := ledger.AsReader(t.Context())
	// Each holds a snapshot of the file, as a statement does while it is read.
	var free func() error // ends the last one
	for range 2 {
		if err := s.reads.Of(reader).enter(reader); err != nil {
			t.Fatal(err)
		}
		conn, err := s.reads.Of(reader).db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		rows, err := conn.QueryContext(t.Context(), "SELECT name FROM sqlite_schema")
		if err != nil || !rows.Next() {
			t.Fatal(err)
		}
		defer rows.Close()
		free = func() error { return errors.Join(rows.Close(), conn.Close()) }
	}
	if _, err := s.Ledgers(ledger.WithPatience(reader, time.Now().Add(10*time.Millisecond))); !errors.Is(err,
		ledger.ErrOverloaded) ||
		!strings.Contains(err.Error(), "all 2 are taken") {
		t.Errorf("a reader, with all of their connections taken: %v", err)
	}
	if places := s.reads.Of(t.Context()).places; len(places) < cap(places) {
		t.Errorf("readers hold %d connections of dealers", cap(places)-len(places))
	}
	l := storetest.Create(t, s)
	if err := s.Append(t.Context(), l.ID, l.Head, l.Next(3)); err != nil {
		t.Errorf("the writer, with readers in their snapshots: %v", err)
	}
	if infos, err := s.Ledgers(t.Context()); err != nil || len(infos) != 1 {
		t.Errorf("a dealer reads %d ledgers: %v", len(infos), err)
	}
	if _, err := s.CheckpointAfter(t.Context(), l.ID, 2); err != nil {
		t.Error(err)
	}
	if err := free(); err != nil {
		t.Fatal(err)
	}
	s.reads.Of(reader).leave()
	late := ledger.WithFirstPatience(reader, time.Now().Add(-time.Second))
	ledger.Began(late)
	if _, err := s.Ledgers(late); err != nil {
		t.Errorf("a reader that has begun: %v", err)
	}
}
