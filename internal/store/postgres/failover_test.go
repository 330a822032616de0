package postgres

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shuffled/deploy"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
)

// hold makes commits wait for a standby that does not exist, until release.
func hold(t *testing.T, dsn string) (release func()) {
	t.Helper()
	admin := connect(t, dsn)
	set := func(sql string) {
		for _, sql := range []string{sql, "SELECT pg_reload_conf()"} {
			if _, err := admin.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	}
	// A test that failed is not held up.
	t.Cleanup(func() { set("ALTER SYSTEM RESET synchronous_standby_names") })
	set("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	probe := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		conn, err := pgx.Connect(t.Context(), dsn)
		must(t, err)
		defer conn.Close(t.Context())
		_, err = conn.Exec(ctx, "SELECT pg_logical_emit_message(true, '', '')")
		return err != nil
	}
	until(t, "commits to wait", probe)
	return func() {
		set("ALTER SYSTEM RESET synchronous_standby_names")
		until(t, "commits not to wait", func() bool { return !probe() })
	}
}

// untilCalm waits until no commit waits for a standby: the driver's cancel requests take their time.
func untilCalm(t *testing.T, admin *pgx.Conn) {
	t.Helper()
	until(t, "no commit to wait", func() bool {
		return query[int](t, admin, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 0
	})
}

// endWait ends waits for a standby until the call is over: a call that was given up may begin to wait only now.
func endWait(t *testing.T, admin *pgx.Conn, end string, done <-chan error) (err error) {
	t.Helper()
	until(t, "a wait for a standby to end", func() bool {
		query[int](t, admin, "SELECT count("+end+"(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		select {
		case err = <-done:
			return true
		default:
			return false
		}
	})
	return err
}

// TestStandbyOutOfReach: what a standby has not confirmed is not acknowledged,
// neither when it is written nor when it is found later.
func TestStandbyOutOfReach(t *testing.T) {
	t.Parallel()
	dsn := testdb.Start(t).Database(t)
	migrate(t, dsn)
	s := open(t, dsn, Options{})
	hasty := open(t, dsn, Options{Timeout: 2 * time.Second})
	l := storetest.Create(t, s)
	admin := connect(t, dsn)
	b := l.Next(1)
	commit(b, 0, 1, 1)

	release := hold(t, dsn)
	if err := hasty.PutCosigned(t.Context(), l.ID, l.Head); !errors.Is(err, ledger.ErrUnknownOutcome) {
		t.Fatalf("a cosigned checkpoint that is not replicated in time: %v", err)
	}
	until(t, "the cosigned checkpoint to be seen", func() bool {
		return query[int](t, admin, "SELECT count(*) FROM cosigned") == 1
	})
	if err := hasty.Append(t.Context(), l.ID, l.Head, b); !errors.Is(err, ledger.ErrUnknownOutcome) {
		t.Fatalf("an append that is not replicated in time: %v", err)
	}
	// The driver's cancel request ends the server's wait, and so makes it visible.
	until(t, "the entry to be seen", func() bool {
		return query[int](t, admin, "SELECT count(*) FROM entries") == 2
	})
	l.Head = b.Head
	requests := 0
	barriers := map[string]func(context.Context) error{
		"PutAccess": func(ctx context.Context) error {
			requests++
			return s.PutAccess(ctx, l.ID, ledger.Access{Time: 1, Request: strconv.Itoa(requests)})
		},
		"Head": func(ctx context.Context) error { _, err := s.Head(ctx, l.ID); return err },
		"ByKeyTags": func(ctx context.Context) error {
			r, err := s.ByKeyTags(ctx, l.ID, [32]byte{1})
			if err == nil && (len(r) != 1 || r[0].Index != 1) {
				t.Errorf("found %d entries", len(r))
			}
			return err
		},
		"ByShuffles": func(ctx context.Context) error {
			rows, err := s.ByShuffles(ctx, l.ID, ledger.Durable, 1)
			if err == nil && len(rows[0]) != 1 {
				t.Errorf("found %d rows", len(rows[0]))
			}
			return err
		},
		"no shuffle": func(ctx context.Context) error {
			rows, err := s.ByShuffles(ctx, l.ID, ledger.Durable, 9)
			if err == nil && len(rows[0]) > 0 {
				t.Errorf("found %d rows", len(rows[0]))
			}
			return err
		},
		"CosignedAtMost": func(ctx context.Context) error {
			h, err := s.CosignedAtMost(ctx, l.ID, 9)
			if err == nil && h.Size != 1 {
				t.Errorf("found a cosigned checkpoint of size %d", h.Size)
			}
			return err
		},
		"ErrExists": func(ctx context.Context) error {
			err := s.PutCosigned(ctx, l.ID, ledger.Head{Size: 1, Checkpoint: []byte("another")})
			if errors.Is(err, ledger.ErrExists) {
				return nil
			} else if err == nil {
				t.Error("a cosigned checkpoint was written over another one")
			}
			return err
		},
		"DuplicateError": func(ctx context.Context) error {
			again := l.Next(1)
			commit(again, 0, 2, 1)
			err := store.Duplicate(ctx, s.queryAppends, l.ID, again)
			if _, found := errors.AsType[*ledger.DuplicateError](err); found {
				return nil
			}
			return err
		},
	}
	for name, read := range barriers {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s of what is not replicated: %v", name, err)
		}
		cancel()
		for _, end := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
			untilCalm(t, admin)
			done := make(chan error)
			go func() { done <- read(t.Context()) }()
			err := endWait(t, admin, end, done)
			if err == nil || end == "pg_cancel_backend" && !errors.Is(err, errUnreplicated) {
				t.Errorf("%s after %s: %v", name, end, err)
			}
		}
	}
	// Of what an append follows on, an absence is not acknowledged, and not waited for.
	if r, err := s.ByKeyTags(t.Context(), l.ID, [32]byte{9}); err != nil || len(r) > 0 {
		t.Errorf("a key tag that is not there: %d entries, %v", len(r), err)
	}
	if _, err := s.CosignedAtMost(t.Context(), l.ID, 0); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a cosigned checkpoint that is not there: %v", err)
	}
	// An operator ends the wait of an append: it reports success, and is not.
	for _, end := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		untilCalm(t, admin)
		done := make(chan error)
		next := l.Next(1)
		go func() { done <- s.Append(t.Context(), l.ID, l.Head, next) }()
		if err := endWait(t, admin, end, done); !errors.Is(err, ledger.ErrUnknownOutcome) {
			t.Errorf("an append after %s: %v", end, err)
		}
		l.Head = next.Head
	}
	// One that is replicated in the end is acknowledged, by the same connections.
	untilCalm(t, admin)
	appended := make(chan error)
	next := l.Next(1)
	go func() { appended <- s.Append(t.Context(), l.ID, l.Head, next) }()
	untilWaiting(t, admin, "SyncRep")
	release()
	if err := <-appended; err != nil {
		t.Errorf("an append whose standby came back: %v", err)
	}
	l.Head = next.Head
	for name, read := range barriers {
		if err := read(t.Context()); err != nil {
			t.Errorf("%s after that: %v", name, err)
		}
	}
	if h, err := s.Head(t.Context(), l.ID); err != nil || h.Size != l.Head.Size {
		t.Errorf("head of size %d, want %d; %v", h.Size, l.Head.Size, err)
	}
}

// TestFigures: pools say how they are used, and the server whether it waits for standbys,
// which it tells a role that may read its statistics, and the writer of deploy/roles.sql.
func TestFigures(t *testing.T) {
	t.Parallel()
	cluster := testdb.Start(t)
	dsn := cluster.Database(t)
	must(t, MigrateUp(t.Context(), dsn, Options{}))
	s, err := Open(t.Context(), dsn, Options{AllowSuperuser: true})
	must(t, err)
	defer s.Close()
	pools := s.Pools()
	if len(pools) != 3 || pools[0].Name != "appends" || pools[0].Limit != appenders || pools[0].Open == 0 {
		t.Errorf("pools: %+v", pools)
	}
	standbys := func() store.Standbys {
		t.Helper()
		r, err := s.Standbys(t.Context())
		must(t, err)
		return r
	}
	if got, want := standbys(), (store.Standbys{Known: true}); got != want {
		t.Errorf("without a standby: %+v", got)
	}
	cluster.NewStandby(t)
	cluster.Synchronous(t, true)
	t.Cleanup(func() { cluster.Synchronous(t, false) })
	one := store.Standbys{Wanted: true, Known: true, Synced: 1}
	until(t, "the standby", func() bool { return standbys() == one })

	exec(t, dsn, deploy.Roles)
	as := func(role string) store.Standbys {
		t.Helper()
		exec(t, dsn, "ALTER ROLE "+role+" PASSWORD 'known'")
		r, err := openAs(t, withUser(t, dsn, role, "known"), Options{}).Standbys(t.Context())
		must(t, err)
		return r
	}
	if got := as("shuffled_writer"); got != one {
		t.Errorf("the writer is told %+v", got)
	}
	if got := as("shuffled_reader"); got.Known || got.Synced != 0 {
		t.Errorf("the reader is told %+v", got)
	}
}
