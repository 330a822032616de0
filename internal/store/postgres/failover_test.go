package postgres

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/ledger"
	"shuffled/internal/testdb"
)

// hold makes commits wait for a standby that does not exist, until release.
func hold(t *testing.T, dsn string) (release func()) {
	t.Helper()
	admin := connect(t, dsn)
	set := func(sql string) {
		for _, sql := range []string{sql, "SELECT pg_reload_conf()"} {
			if _, err := admin.Exec(t.Context(), sql); err != nil {
				t.Error(err)
			}
		}
	}
	set("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	probe := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
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

// untilCalm waits until no commit waits for a standby: the driver's cancel
// requests take their time.
func untilCalm(t *testing.T, admin *pgx.Conn) {
	t.Helper()
	until(t, "no commit to wait", func() bool {
		return query[int](t, admin, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 0
	})
}

// TestStandbyOutOfReach: what a standby has not confirmed is not acknowledged,
// neither when it is written nor when it is found later.
func TestStandbyOutOfReach(t *testing.T) {
	t.Parallel()
	dsn := testdb.Start(t).Database(t)
	migrate(t, dsn)
	s := open(t, dsn, Options{})
	hasty := open(t, dsn, Options{Timeout: 500 * time.Millisecond})
	l := create(t, s)
	admin := connect(t, dsn)
	b := l.next(1)
	commit(b, 0, 1, 1)

	release := hold(t, dsn)
	if err := hasty.Append(t.Context(), l.id, l.head, b); !errors.Is(err, ledger.ErrUnknownOutcome) {
		t.Fatalf("an append that is not replicated in time: %v", err)
	}
	// The driver's cancel request ends the server's wait, and so makes it visible.
	until(t, "the entry to be seen", func() bool {
		return query[int](t, admin, "SELECT count(*) FROM entries") == 2
	})
	l.head = b.Head
	barriers := map[string]func(context.Context) error{
		"Head": func(ctx context.Context) error { _, err := s.Head(ctx, l.id); return err },
		"ByKeyTag": func(ctx context.Context) error {
			r, err := s.ByKeyTag(ctx, l.id, [32]byte{1})
			if err == nil && r.Index != 1 {
				t.Errorf("found entry %d", r.Index)
			}
			return err
		},
		"ByShuffle": func(ctx context.Context) error {
			rows, err := s.ByShuffle(ctx, l.id, 1)
			if err == nil && len(rows) != 1 {
				t.Errorf("found %d rows", len(rows))
			}
			return err
		},
		"DuplicateError": func(ctx context.Context) error {
			again := l.next(1)
			commit(again, 0, 2, 1)
			_, err := s.keyTags(ctx, l.id, again)
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
			pid := untilWaiting(t, admin, "SyncRep")
			query[bool](t, admin, "SELECT "+end+"($1)", pid)
			err := <-done
			if err == nil || end == "pg_cancel_backend" && !errors.Is(err, errUnreplicated) {
				t.Errorf("%s after %s: %v", name, end, err)
			}
		}
	}
	// What is not there is not acknowledged, and not waited for.
	if _, err := s.ByKeyTag(t.Context(), l.id, [32]byte{9}); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a key tag that is not there: %v", err)
	}
	if rows, err := s.ByShuffle(t.Context(), l.id, 9); err != nil || len(rows) > 0 {
		t.Errorf("a shuffle that is not there: %d rows, %v", len(rows), err)
	}
	// An operator ends the wait of an append: it reports success, and is not.
	for _, end := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		untilCalm(t, admin)
		done := make(chan error)
		next := l.next(1)
		go func() { done <- s.Append(t.Context(), l.id, l.head, next) }()
		query[bool](t, admin, "SELECT "+end+"($1)", untilWaiting(t, admin, "SyncRep"))
		if err := <-done; !errors.Is(err, ledger.ErrUnknownOutcome) {
			t.Errorf("an append after %s: %v", end, err)
		}
		l.head = next.Head
	}
	// One that is replicated in the end is acknowledged, by the same connections.
	untilCalm(t, admin)
	appended := make(chan error)
	next := l.next(1)
	go func() { appended <- s.Append(t.Context(), l.id, l.head, next) }()
	untilWaiting(t, admin, "SyncRep")
	release()
	if err := <-appended; err != nil {
		t.Errorf("an append whose standby came back: %v", err)
	}
	l.head = next.Head
	for name, read := range barriers {
		if err := read(t.Context()); err != nil {
			t.Errorf("%s after that: %v", name, err)
		}
	}
	if h, err := s.Head(t.Context(), l.id); err != nil || h.Size != l.head.Size {
		t.Errorf("head of size %d, want %d; %v", h.Size, l.head.Size, err)
	}
}

// proxy passes bytes on to a server until it is told to stop.
type proxy struct {
	l           net.Listener
	target      string
	lose        atomic.Int32 // what to lose, and the connection with it
	connections sync.WaitGroup
}

const (
	loseNothing = iota
	loseRequests
	loseReplies
)

func newProxy(t *testing.T, dsn string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: u.Host}
	if p.l, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.l.Close(); p.connections.Wait() })
	p.connections.Go(func() {
		for {
			client, err := p.l.Accept()
			if err != nil {
				return
			}
			p.connections.Go(func() { p.serve(client) })
		}
	})
	u.Host = p.l.Addr().String()
	return p, u.String()
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp4", p.target)
	if err != nil {
		client.Close()
		return
	}
	var both sync.WaitGroup
	pass := func(to, from net.Conn, loses int32) {
		defer to.Close()
		defer from.Close()
		buf := make([]byte, 1<<16)
		for {
			n, err := from.Read(buf)
			if err == nil && p.lose.Load() == loses {
				return
			}
			if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	}
	both.Go(func() { pass(server, client, loseRequests) })
	both.Go(func() { pass(client, server, loseReplies) })
	both.Wait()
}

// TestLostMessages cuts the connection before an append arrives, and before its
// reply does.
func TestLostMessages(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	p, through := newProxy(t, dsn)
	s := open(t, through, Options{})
	t.Cleanup(func() { s.Close() }) // before the proxy waits for its connections
	l := create(t, s)
	for range 5 {
		for what, arrives := range map[int32]bool{loseRequests: false, loseReplies: true} {
			if _, err := s.Head(t.Context(), l.id); err != nil { // a connection is ready
				t.Fatal(err)
			}
			next := l.next(1)
			p.lose.Store(what)
			err := s.Append(t.Context(), l.id, l.head, next)
			p.lose.Store(loseNothing)
			if !errors.Is(err, ledger.ErrUnknownOutcome) {
				t.Fatalf("an append whose messages were lost: %v", err)
			}
			h, err := s.Head(t.Context(), l.id)
			if err != nil || (h.Size == next.Head.Size) != arrives {
				t.Fatalf("head of size %d after %d, %v; the append arrived: %v", h.Size, l.head.Size, err, arrives)
			}
			// Sending it again is safe either way.
			switch err := s.Append(t.Context(), l.id, l.head, next); {
			case arrives && !errors.Is(err, ledger.ErrStale), !arrives && err != nil:
				t.Fatalf("the same append again: %v", err)
			}
			l.head = next.Head
		}
	}
}

// TestRestart stops the server in every way beside a writer that goes on.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := testdb.Start(t)
	dsn := c.Database(t)
	migrate(t, dsn)
	s := open(t, dsn, Options{Timeout: 5 * time.Second})
	l := create(t, s)
	for _, mode := range []testdb.Mode{testdb.Fast, testdb.Immediate, testdb.Kill} {
		stop, done := make(chan struct{}), make(chan error)
		go func() { done <- keepAppending(t.Context(), s, &l, stop) }()
		started := l.head.Size
		admin := connect(t, dsn)
		until(t, "appends", func() bool {
			return query[int64](t, admin, "SELECT size FROM heads") > int64(started)+5
		})
		c.Restart(t, mode)
		admin = connect(t, dsn)
		before := query[int64](t, admin, "SELECT size FROM heads")
		until(t, "appends after a restart", func() bool {
			return query[int64](t, admin, "SELECT size FROM heads") > before+5
		})
		close(stop)
		if err := <-done; err != nil {
			t.Fatalf("mode %d: %v", mode, err)
		}
		h, err := s.Head(t.Context(), l.id)
		if err != nil || h.Size != l.head.Size {
			t.Fatalf("mode %d: head of size %d, acknowledged %d, %v", mode, h.Size, l.head.Size, err)
		}
		if n := query[int64](t, admin, "SELECT count(*) FROM entries WHERE idx < $1", int64(h.Size)); n != int64(h.Size) {
			t.Fatalf("mode %d: %d entries under a head of size %d", mode, n, h.Size)
		}
	}
}

// keepAppending appends until stop, resolving what is unknown by sending it
// again, and returns an error where the store contradicts itself.
func keepAppending(ctx context.Context, s *Store, l *aLedger, stop chan struct{}) error {
	for unknown := false; ; {
		next := l.next(1)
		switch err := s.Append(ctx, l.id, l.head, next); {
		case err == nil:
			l.head, unknown = next.Head, false
		case errors.Is(err, ledger.ErrStale) && unknown:
			h, err := s.Head(ctx, l.id)
			if err != nil {
				continue
			}
			if h.Root != next.Head.Root {
				return errors.New("another head than the one that was sent")
			}
			l.head, unknown = h, false
		case errors.Is(err, ledger.ErrStale):
			return errors.New("the acknowledged head is gone")
		case errors.Is(err, ledger.ErrUnknownOutcome):
			unknown = true
		}
		select {
		case <-stop:
			if !unknown {
				return nil
			}
		default:
		}
	}
}
