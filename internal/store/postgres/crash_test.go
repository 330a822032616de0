package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
)

// TestLostMessages cuts the connection before an append arrives, and before its reply does.
func TestLostMessages(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	p := testdb.NewProxy(t, dsn)
	var fault atomic.Int64 // a testdb.Fault
	p.Fault = func(string) testdb.Fault { return testdb.Fault(fault.Load()) }
	s := open(t, p.DSN, Options{})
	l := storetest.Create(t, s)
	first := l.Next(1) // from now on the statement is prepared, and an append one message
	must(t, s.Append(t.Context(), l.ID, l.Head, first))
	l.Head = first.Head
	for range 5 {
		for _, what := range []testdb.Fault{testdb.LoseReply, testdb.LoseRequest} {
			arrives := what == testdb.LoseReply
			if _, err := s.Head(t.Context(), l.ID); err != nil { // a connection is ready
				t.Fatal(err)
			}
			next := l.Next(1)
			fault.Store(int64(what))
			err := s.Append(t.Context(), l.ID, l.Head, next)
			fault.Store(int64(testdb.Pass))
			if !errors.Is(err, ledger.ErrUnknownOutcome) {
				t.Fatalf("an append whose messages were lost: %v", err)
			}
			h, err := s.Head(t.Context(), l.ID)
			if err != nil || (h.Size == next.Head.Size) != arrives {
				t.Fatalf("head of size %d after %d, %v; the append arrived: %v", h.Size, l.Head.Size, err, arrives)
			}
			// Sending it again is safe either way.
			switch err := s.Append(t.Context(), l.ID, l.Head, next); {
			case arrives && !errors.Is(err, ledger.ErrStale), !arrives && err != nil:
				t.Fatalf("the same append again: %v", err)
			}
			l.Head = next.Head
		}
	}
}

// TestRestart stops the server in every way while a writer goes on.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := testdb.Start(t)
	dsn := c.Database(t)
	migrate(t, dsn)
	s := open(t, dsn, Options{Timeout: 5 * time.Second})
	l := storetest.Create(t, s)
	for _, mode := range []testdb.Mode{testdb.Fast, testdb.Immediate, testdb.Kill} {
		stop, done := make(chan struct{}), make(chan error)
		started := l.Head.Size // l is the goroutine's until done
		go func() { done <- keepAppending(t.Context(), s, &l, stop) }()
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
		h, err := s.Head(t.Context(), l.ID)
		if err != nil || h.Size != l.Head.Size {
			t.Fatalf("mode %d: head of size %d, acknowledged %d, %v", mode, h.Size, l.Head.Size, err)
		}
		s.reads.Of(t.Context()).Reset() // their connections are to the server that was
		if c, err := s.CosignedAtMost(t.Context(), l.ID, h.Size); err != nil || c.Size < l.Cosigned {
			t.Fatalf("mode %d: cosigned checkpoint of size %d, acknowledged %d, %v", mode, c.Size, l.Cosigned, err)
		}
		if n := query[int64](t, admin, "SELECT count(*) FROM entries WHERE idx < $1",
			int64(h.Size)); n != int64(h.Size) {
			t.Fatalf("mode %d: %d entries under a head of size %d", mode, n, h.Size)
		}
	}
}

// keepAppending appends until stop, resolving what is unknown by sending it
// again, and returns an error where the store contradicts itself.
func keepAppending(ctx context.Context, s *Store, l *storetest.Small, stop chan struct{}) error {
	for unknown := false; ; {
		next := l.Next(1)
		switch err := s.Append(ctx, l.ID, l.Head, next); {
		case err == nil:
			l.Head, unknown = next.Head, false
			switch err := s.PutCosigned(ctx, l.ID, l.Head); {
			case err == nil:
				l.Cosigned = l.Head.Size
			case errors.Is(err, ledger.ErrExists):
				return errors.New("a cosigned checkpoint was there before it was sent")
			}
		case errors.Is(err, ledger.ErrStale) && unknown:
			h, err := s.Head(ctx, l.ID)
			if err != nil {
				continue
			}
			if h.Root != next.Head.Root {
				return errors.New("another head than the one that was sent")
			}
			l.Head, unknown = h, false
		case errors.Is(err, ledger.ErrStale):
			return errors.New("the acknowledged head is gone")
		case errors.Is(err, ledger.ErrUnknownOutcome):
			unknown = true
		default: // the server is away: leave it the processor
			time.Sleep(5 * time.Millisecond)
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
