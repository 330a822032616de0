package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/store/storetest"
)

// plain reports whether err says that nothing was written.
func plain(err error) bool {
	return err != nil && !errors.Is(err, ledger.ErrUnknownOutcome) && !errors.Is(err, ledger.ErrStale)
}

// TestOtherWriter: a transaction of another process is waited for, by appends and heads, but not for ever.
func TestOtherWriter(t *testing.T) {
	t.Parallel()
	path := migrated(t)
	s := open(t, path)
	l := storetest.Create(t, s)
	hasty, err := Open(path, Options{Timeout: 20 * time.Millisecond})
	must(t, err)
	defer hasty.Close()
	other, err := raw(t, path).Conn(t.Context())
	must(t, err)
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE; UPDATE heads SET checkpoint = x'00'"); err != nil {
		t.Fatal(err)
	}
	if err := hasty.Append(t.Context(), l.ID, l.Head, l.Next(1)); !plain(err) ||
		!strings.Contains(err.Error(), "locked") {
		t.Errorf("appending alongside a long transaction: %v", err)
	}
	if _, err := hasty.Head(t.Context(), l.ID); !plain(err) {
		t.Errorf("reading the head alongside a long transaction: %v", err)
	}
	// A caller who leaves while the append waits changes nothing about it, and
	// anyone who waits for that append may leave.
	ctx, cancel := context.WithCancel(t.Context())
	appended := make(chan error)
	go func() { appended <- s.Append(ctx, l.ID, l.Head, l.Next(1)) }()
	for s.turn.TryAcquire(1) { // until it has begun
		s.turn.Release(1)
		time.Sleep(time.Millisecond)
	}
	cancel()
	if _, err := s.Head(ctx, l.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for the turn: %v", err)
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-appended; err != nil {
		t.Errorf("an append whose caller left: %v", err)
	}
	if h, err := hasty.Head(t.Context(), l.ID); err != nil || h.Size != 2 {
		t.Errorf("head of size %d, %v", h.Size, err)
	}
}

// TestFull: a database that may not grow refuses appends, and takes them again once it may.
func TestFull(t *testing.T) {
	t.Parallel()
	s := open(t, migrated(t))
	l := storetest.Create(t, s)
	var pages int
	must(t, s.writer.conn.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages))
	limit := func(pages int) {
		t.Helper()
		if err := s.writer.conn.QueryRowContext(t.Context(),
			fmt.Sprint("PRAGMA max_page_count = ", pages)).Scan(&pages); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages)
	big := l.Next(100)
	for i := range big.Rows {
		big.Rows[i].Entry = make([]byte, 1000)
	}
	for range 2 {
		if err := s.Append(t.Context(), l.ID, l.Head, big); !plain(err) || !strings.Contains(err.Error(), "full") {
			t.Fatalf("appending to a full database: %v", err)
		}
		if h, err := s.Head(t.Context(), l.ID); err != nil || h.Size != 1 {
			t.Fatalf("head of size %d, %v", h.Size, err)
		}
	}
	limit(9999)
	if err := s.Append(t.Context(), l.ID, l.Head, big); err != nil {
		t.Error(err)
	}
}

// envVictim makes the test binary fail while it commits: see TestCommitFails.
const envVictim = "SHUFFLED_SQLITE_VICTIM"

// TestCommitFails has a commit fail in its writes, in a process whose files may not grow: the outcome is unknown, and
// nothing is acknowledged until the store is opened again.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	path := os.Getenv(envVictim)
	if path == "" {
		path := filepath.Join(t.TempDir(), "ledger.sqlite")
		cmd := exec.Command(os.Args[0], "-test.run=^TestCommitFails$", "-test.v")
		cmd.Env = append(os.Environ(), envVictim+"="+path)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "the victim is through") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	must(t, MigrateUp(t.Context(), path, Options{}))
	s := open(t, path)
	l := storetest.Create(t, s)
	first := l.Next(1)
	first.Rows[0].Type, first.Rows[0].Table, first.Rows[0].Serial = 2, "table-1", 1
	must(t, s.Append(t.Context(), l.ID, l.Head, first))
	l.Head = first.Head
	wal, err := os.Stat(path + "-wal")
	must(t, err)
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE,
		&syscall.Rlimit{Cur: uint64(wal.Size()) + 5000, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	next := l.Next(100)
	err = s.Append(t.Context(), l.ID, l.Head, next)
	if !errors.Is(err, ledger.ErrUnknownOutcome) || stops.Of(err) != stops.Disk {
		t.Fatalf("a commit that fails: %v", err)
	}
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	if err := s.Append(t.Context(), l.ID, l.Head, next); !plain(err) {
		t.Errorf("appending after a failed commit: %v", err)
	}
	if _, err := s.Head(t.Context(), l.ID); !plain(err) {
		t.Errorf("reading the head after a failed commit: %v", err)
	}
	if _, err := s.ByKeyTags(t.Context(), l.ID, [32]byte{}); !plain(err) {
		t.Errorf("finding a key tag after a failed commit: %v", err)
	}
	if _, err := s.ByShuffles(t.Context(), l.ID, ledger.Durable, 1); !plain(err) {
		t.Errorf("finding a shuffle after a failed commit: %v", err)
	}
	rows := 0
	for _, err := range s.Rows(t.Context(), l.ID, 0, 10) {
		if err != nil {
			t.Errorf("reading rows after a failed commit: %v", err)
		}
		rows++
	}
	if rows != 2 {
		t.Errorf("%d rows after a failed commit", rows)
	}
	s.Close()
	s = open(t, path)
	h, err := s.Head(t.Context(), l.ID)
	if err != nil || h.Root != l.Head.Root && h.Root != next.Head.Root {
		t.Fatalf("head of size %d, %v", h.Size, err)
	}
	l.Head = h
	if err := s.Append(t.Context(), l.ID, l.Head, l.Next(1)); err != nil {
		t.Error(err)
	}
	t.Log("the victim is through")
}

// TestCommitIsFull: a commit that finds no room is no commit. Its outcome is told as
// unknown, nothing of it stands, and the store goes on.
func TestCommitIsFull(t *testing.T) {
	t.Parallel()
	s := open(t, migrated(t))
	l := storetest.Create(t, s)
	pragma := func(text string) (n int) {
		t.Helper()
		must(t, s.writer.conn.QueryRowContext(t.Context(), text).Scan(&n))
		return n
	}
	// In the place of the commit: a write for which there is no room.
	commit := s.writer.stmts[sqlCommit]
	full, err := s.writer.conn.PrepareContext(t.Context(),
		fmt.Sprintf("INSERT INTO decks (ledger, hash, cards) VALUES (%d, zeroblob(32), zeroblob(1000000))",
			int64(l.ID)))
	must(t, err)
	defer full.Close()
	pragma(fmt.Sprint("PRAGMA max_page_count = ", pragma("PRAGMA page_count")+20))
	s.writer.stmts[sqlCommit] = full
	next := l.Next(1)
	for range 2 {
		if err := s.Append(t.Context(), l.ID, l.Head, next); !errors.Is(err, ledger.ErrUnknownOutcome) ||
			!strings.Contains(err.Error(), "full") {
			t.Errorf("a commit without room: %v", err)
		}
	}
	s.writer.stmts[sqlCommit] = commit
	pragma("PRAGMA max_page_count = 9999")
	if h, err := s.Head(t.Context(), l.ID); err != nil || h.Size != l.Head.Size {
		t.Errorf("head of size %d, %v", h.Size, err)
	}
	if err := s.Append(t.Context(), l.ID, l.Head, next); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
