package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
)

// plain reports whether err says that nothing was written.
func plain(err error) bool {
	var duplicate *ledger.DuplicateError
	return err != nil && !errors.Is(err, ledger.ErrUnknownOutcome) && !errors.Is(err, ledger.ErrStale) &&
		!errors.As(err, &duplicate)
}

// until waits for a condition that the server will reach.
func until(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !reached(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// untilWaiting waits until a connection of the store waits for something, and returns its process.
func untilWaiting(t testing.TB, admin *pgx.Conn, event string) (pid int) {
	t.Helper()
	until(t, "a connection that waits for "+event, func() bool {
		pid = query[int](t, admin, `SELECT coalesce(max(pid), 0) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'shuffled' AND $1 IN (wait_event, wait_event_type)`, event)
		return pid != 0
	})
	return pid
}

func TestLockedHead(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := open(t, dsn, Options{Timeout: time.Second})
	l := storetest.Create(t, s)
	admin, other := connect(t, dsn), connect(t, dsn)
	tx, err := other.Begin(t.Context())
	must(t, err)
	if _, err := tx.Exec(t.Context(), "SELECT FROM heads FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	// It holds up no other ledger in the same transaction.
	free := storetest.Small{ID: ledger.IDOf("example.org/free")}
	first := free.Next(1)
	must(t, s.Create(t.Context(), ledger.Info{Name: "free", Origin: "example.org/free"}, first))
	free.Head = first.Head
	moved, err := s.append([]*store.Appending{{ID: l.ID, Old: l.Head, Batch: l.Next(1)},
		{ID: free.ID, Old: free.Head, Batch: free.Next(1)}})
	if err != nil || !slices.Equal(moved, []ledger.ID{free.ID}) {
		t.Errorf("appending together with a locked head: %v, %v", moved, err)
	}
	// The server gives up first, and says so.
	err = s.Append(t.Context(), l.ID, l.Head, l.Next(1))
	if !plain(err) || !isCode(err, "55P03") || stops.Of(err) != stops.Lock {
		t.Errorf("appending to a locked head: %v", err)
	}
	if _, err := s.Head(t.Context(), l.ID); !plain(err) {
		t.Errorf("reading a locked head: %v", err)
	}
	// A caller who leaves while the append waits changes nothing about it.
	patient := open(t, dsn, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	appended := make(chan error)
	go func() { appended <- patient.Append(ctx, l.ID, l.Head, l.Next(1)) }()
	untilWaiting(t, admin, "Lock")
	cancel()
	must(t, tx.Rollback(t.Context()))
	if err := <-appended; err != nil {
		t.Errorf("an append whose caller left: %v", err)
	}
	if h, err := s.Head(t.Context(), l.ID); err != nil || h.Size != 2 {
		t.Errorf("head of size %d, %v", h.Size, err)
	}
	// One who has left before is not served.
	if err := s.Append(ctx, l.ID, l.Head, l.Next(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("an append of a caller who has left: %v", err)
	}
}

// TestHeadWaitsForAppends: an append that is under way is over when Head returns. Finders do not wait for it.
func TestHeadWaitsForAppends(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := open(t, dsn, Options{})
	l := storetest.Create(t, s)
	b := l.Next(1)
	commit(b, 0, 1, 1)
	must(t, s.Append(t.Context(), l.ID, l.Head, b))
	l.Head = b.Head
	admin, other := connect(t, dsn), connect(t, dsn)
	tx, err := other.Begin(t.Context())
	must(t, err)
	next := l.Next(1)
	sql, args := appending([]*store.Appending{{ID: l.ID, Old: l.Head, Batch: next}})
	if id := query[ledger.ID](t, other, sql, args...); id != l.ID {
		t.Fatalf("the head of %d moved", id)
	}
	heads := make(chan ledger.Head)
	go func() {
		h, err := s.Head(t.Context(), l.ID)
		if err != nil {
			t.Error(err)
		}
		heads <- h
	}()
	untilWaiting(t, admin, "Lock")
	if r, err := s.ByKeyTags(t.Context(), l.ID, [32]byte{1}); err != nil || len(r) != 1 || r[0].Index != 1 {
		t.Errorf("by key tag: %d entries, %v", len(r), err)
	}
	if rows, err := s.ByShuffles(t.Context(), l.ID, ledger.Durable, 1); err != nil || len(rows[0]) != 1 {
		t.Errorf("by shuffle: %v, %v", rows, err)
	}
	must(t, tx.Commit(t.Context()))
	if h := <-heads; h.Size != next.Head.Size {
		t.Errorf("head of size %d, want %d", h.Size, next.Head.Size)
	}
}

// TestDefiniteErrors fails appends at different moments before their commit.
func TestDefiniteErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, when, body, code string }{
		{"slow", "BEFORE INSERT ON entries FOR EACH ROW", "PERFORM pg_sleep(60); RETURN NEW;", "57014"},
		{"out of space", "AFTER INSERT ON entries FOR EACH ROW",
			"RAISE 'no space' USING ERRCODE = 'disk_full'; RETURN NEW;", "53100"},
		{"serialization", "AFTER UPDATE ON heads FOR EACH ROW", "RAISE 'again' USING ERRCODE = '40001'; RETURN NEW;",
			"40001"},
		{"at commit", "CONSTRAINT", "RAISE 'late' USING ERRCODE = '23514'; RETURN NEW;", "23514"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dsn := migrated(t)
			s := open(t, dsn, Options{Timeout: time.Second})
			l := storetest.Create(t, s)
			trigger := "CREATE TRIGGER fails " + test.when
			if test.when == "CONSTRAINT" {
				trigger = "CREATE CONSTRAINT TRIGGER fails AFTER UPDATE ON heads DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
			}
			exec(t, dsn, "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+test.body+" END $$;"+
				trigger+" EXECUTE FUNCTION fails()")
			for range 2 { // the second time over a connection that saw the error
				err := s.Append(t.Context(), l.ID, l.Head, l.Next(1))
				if !plain(err) || !isCode(err, test.code) {
					t.Errorf("appending: %v, want a plain error %s", err, test.code)
				}
			}
			conn := connect(t, dsn)
			if n := query[int](t, conn, "SELECT count(*) FROM entries"); n != 1 {
				t.Errorf("%d entries", n)
			}
		})
	}
}

// TestRolledBack: a write that the server rolled back for the sake of others is sent again.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	for _, code := range []string{codeSerialization, codeDeadlock} {
		dsn := migrated(t)
		s := open(t, dsn, Options{})
		l := storetest.Create(t, s)
		exec(t, dsn, `CREATE SEQUENCE tries; CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('tries') < 4 THEN RAISE 'again' USING ERRCODE = '`+code+`'; END IF; RETURN NEW; END $$;
			CREATE TRIGGER fails AFTER UPDATE ON heads FOR EACH ROW EXECUTE FUNCTION fails()`)
		if err := s.Append(t.Context(), l.ID, l.Head, l.Next(3)); err != nil {
			t.Errorf("after three times %s: %v", code, err)
		}
		if n := query[int](t, connect(t, dsn), "SELECT count(*) FROM entries"); n != 4 {
			t.Errorf("%d entries", n)
		}
	}
}

// TestForeignNotice: not every warning is that of a cancelled wait.
func TestForeignNotice(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := open(t, dsn, Options{})
	l := storetest.Create(t, s)
	exec(t, dsn, `CREATE FUNCTION warns() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'hot'; RETURN NEW; END $$;
		CREATE TRIGGER warns AFTER UPDATE ON heads FOR EACH ROW EXECUTE FUNCTION warns()`)
	if err := s.Append(t.Context(), l.ID, l.Head, l.Next(1)); err != nil {
		t.Error(err)
	}
}

// TestErrorsHoldNoValues: the server's details name the values of a key.
func TestErrorsHoldNoValues(t *testing.T) {
	t.Parallel()
	s := open(t, migrated(t), Options{})
	l := storetest.Create(t, s)
	b := l.Next(2)
	commit(b, 0, 7, 1)
	commit(b, 1, 7, 2)
	b.Rows[0].Table, b.Rows[1].Table = "cabbage", "cabbage"
	err := s.Append(t.Context(), l.ID, l.Head, b)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != codeUnique {
		t.Fatalf("a serial twice: %v", err)
	}
	if text := fmt.Sprintf("%v %+v", err, *pg); strings.Contains(text, "cabbage") {
		t.Errorf("the error holds a value: %s", text)
	}
}

func TestDefinite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		severity, unlocalized, code string
		want                        bool
	}{
		{"ERROR", "ERROR", "40001", true}, {"ERROR", "ERROR", "40P01", true}, {"ERROR", "ERROR", "55P03", true},
		{"ERROR", "ERROR", "57014", true}, {"FEHLER", "ERROR", "23505", true}, {"ERROR", "", "53100", true},
		{"FATAL", "FATAL", "57P01", false}, {"FATAL", "FATAL", "25P03", false}, {"PANIC", "PANIC", "53100", false},
		{"ERROR", "ERROR", "40003", false}, {"ERROR", "ERROR", "08006", false}, {"ERROR", "ERROR", "08P01", false},
		{"ERROR", "ERROR", "57P01", false}, {"ERROR", "ERROR", "57P02", false}, {"ERROR", "ERROR", "57P03", false},
		{"FEHLER", "", "40001", false}, {"FATAL", "", "40001", false},
	} {
		err := &pgconn.PgError{Severity: test.severity, SeverityUnlocalized: test.unlocalized, Code: test.code}
		if got := definite(err); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
		if got := errors.Is(outcome(fmt.Errorf("deep: %w", err)), ledger.ErrUnknownOutcome); got == test.want {
			t.Errorf("%+v: unknown outcome %v", test, got)
		}
	}
	for _, err := range []error{context.DeadlineExceeded, errors.New("unexpected EOF")} {
		if !errors.Is(outcome(err), ledger.ErrUnknownOutcome) {
			t.Errorf("%v has a known outcome", err)
		}
	}
}
