package ledger_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/ledger"
)

// slowHead is a store whose head is read only once free is closed, or its reader has left.
type slowHead struct {
	ledger.Store
	free  atomic.Pointer[chan struct{}]
	asked chan struct{} // capacity 1
	times atomic.Int64
}

func (s *slowHead) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	if free := s.free.Load(); free != nil {
		s.times.Add(1)
		select {
		case s.asked <- struct{}{}:
		default:
		}
		select {
		case <-*free:
		case <-ctx.Done():
			return ledger.Head{}, ctx.Err()
		}
	}
	return s.Store.Head(ctx, id)
}

// slowSecond opens a second daemon whose heads are slow from now on until free is
// closed, alongside one that has written an entry which it does not know.
func (h *house) slowSecond() (b *ledger.Ledger, row ledger.Row, s *slowHead, free chan struct{}) {
	h.t.Helper()
	idle := func(c *ledger.Config) { c.Probe = time.Hour }
	c := h.config("mark")
	idle(&c)
	a := h.open(c)
	s, free = &slowHead{Store: h.store, asked: make(chan struct{}, 1)}, make(chan struct{})
	b = h.second(func(c *ledger.Config) { idle(c); c.Store = s })
	at := h.must(a, propose(commit("t", 1)))[0].Index
	rows, err := h.store.ByShuffles(h.t.Context(), ledger.IDOf(origin), ledger.Durable, at)
	if err != nil || len(rows[0]) != 1 {
		h.t.Fatal(rows, err)
	}
	s.free.Store(&free)
	return b, rows[0][0], s, free
}

// TestReaderLeaves: that somebody who reads another daemon's entry leaves says
// nothing of the store: the ledger stays ready.
func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	b, row, s, free := h.slowSecond()
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Authentic(ctx, []ledger.Row{row}) }()
	<-s.asked
	leave()
	close(free)
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := b.Ready(); err != nil {
		t.Errorf("a reader left: %v", err)
	}
	// Nor does somebody who has left before.
	if err := b.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := b.Ready(); err != nil {
		t.Errorf("a reader had left: %v", err)
	}
}
