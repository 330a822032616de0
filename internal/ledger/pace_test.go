package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/ledger"
)

// countedLooks counts the reads with which a daemon looks for what others wrote.
type countedLooks struct {
	ledger.Store
	heads, looks atomic.Int64
}

func (c *countedLooks) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	c.heads.Add(1)
	return c.Store.Head(ctx, id)
}

func (c *countedLooks) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (ledger.Head, error) {
	c.looks.Add(1)
	return c.Store.CheckpointAfter(ctx, id, index)
}

// TestAloneForNothing: a daemon that is alone reads nothing between its batches,
// and one that was left alone does so after a few.
func TestAloneForNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	alone := func(c *ledger.Config) { c.Probe = time.Hour }
	ca := h.config("mark")
	alone(&ca)
	s := &countedLooks{Store: h.store}
	ca.Store = s
	a := h.open(ca)
	n := uint64(0)
	appends := func(l *ledger.Ledger, times int) {
		for range times {
			n++
			h.must(l, propose(commit("t", n)))
		}
	}
	s.heads.Store(0)
	s.looks.Store(0)
	appends(a, 20)
	if s.heads.Load() != 0 || s.looks.Load() != 0 {
		t.Errorf("20 batches alone: %d heads and %d checkpoints were read", s.heads.Load(), s.looks.Load())
	}
	b := h.second(alone)
	for range 5 {
		appends(a, 1)
		appends(b, 1)
	}
	b.Close()
	appends(a, 6)
	s.heads.Store(0)
	s.looks.Store(0)
	appends(a, 20)
	if s.heads.Load() != 0 || s.looks.Load() != 0 {
		t.Errorf("20 batches after the other had left: %d heads and %d checkpoints were read", s.heads.Load(),
			s.looks.Load())
	}
}

// TestTurns: daemons under full load take turns. Few batches are prepared for
// nothing, no request again and again, and each daemon lands its share.
func TestTurns(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		const daemons, clients, batches = 4, 4, 500
		list := []*ledger.Ledger{h.open(h.config("mark"))}
		for i := 1; i < daemons; i++ {
			c := h.config(fmt.Sprint("mark", i))
			c.AdoptHead = "one more daemon"
			list = append(list, h.open(c))
		}
		sum := func() (a ledger.Appends) {
			for _, l := range list {
				one := l.Live().Appends
				a.Landed, a.Lost, a.Most = a.Landed+one.Landed, a.Lost+one.Lost, max(a.Most, one.Most)
			}
			return a
		}
		before := sum()
		var work [daemons]atomic.Uint64
		var wg sync.WaitGroup
		for i, l := range list {
			for c := range clients {
				wg.Go(func() {
					for n := uint64(0); sum().Landed < batches; n++ {
						if _, err := l.Append(t.Context(),
							propose(commit(fmt.Sprintf("t%d-%d", i, c), n))); err != nil {
							t.Error(err)
							return
						}
						work[i].Add(1)
					}
				})
			}
		}
		wg.Wait()
		all := uint64(len(h.entries()))
		for i := range work {
			if 20*work[i].Load() < all {
				t.Errorf("daemon %d landed %d of %d", i, work[i].Load(), all)
			}
		}
		after := sum()
		landed, lost := after.Landed-before.Landed, after.Lost-before.Lost
		if 5*lost > landed+lost || after.Most > 16 {
			t.Errorf("%d batches landed, %d were overtaken, one request %d times", landed, lost, after.Most)
		}
		t.Logf("%d batches landed, %d were overtaken, one request %d times", landed, lost, after.Most)
	})
}

// TestTurnPassed: a daemon that waits for one that is gone goes before long, also
// while a third lands batch after batch.
func TestTurnPassed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	a := h.open(h.config("mark"))
	b := h.second(func(c *ledger.Config) { c.Probe = time.Hour })
	third := h.config("mark3")
	third.AdoptHead = "one more daemon"
	c := h.open(third)
	for n := range uint64(2) {
		for i, l := range []*ledger.Ledger{c, b, a} {
			h.must(l, propose(commit(fmt.Sprint("t", i), n)))
		}
	}
	c.Close()
	for n := range uint64(6) { // the others leave its line
		h.must(a, propose(commit("alone", n)))
	}
	const limit = 2000 // batches: far more than one wait takes, and a test's time
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.must(b, propose(commit("b", 1)))
	}()
	for n := range uint64(limit) {
		h.must(a, propose(commit("a", n)))
		select {
		case <-done:
			t.Logf("%d batches passed", n+1)
			return
		default:
		}
	}
	t.Errorf("it had no turn in %d batches", limit)
	a.Close()
	<-done
}

// TestMostTries: a request that is overtaken every time is refused, with nothing
// written, and not prepared for ever.
func TestMostTries(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	f := &faultyStore{Store: h.store}
	a := h.open(h.config("mark"))
	b := h.second(func(c *ledger.Config) { c.Store, c.Probe = f, time.Hour })
	var tries, n int
	var overtake func(real func() error) error
	overtake = func(real func() error) error {
		tries++
		n++
		h.must(a, propose(commit("a", uint64(n))))
		f.failAppend(overtake)
		return real()
	}
	f.failAppend(overtake)
	_, err := b.Append(t.Context(), propose(commit("b", 1)))
	if !errors.Is(err, ledger.ErrUnavailable) || tries != ledger.MostTries {
		t.Errorf("after %d tries: %v", tries, err)
	}
	f.failAppend(nil)
	waitReady(t, b)
	h.must(b, propose(commit("b", 1)))
	if got := b.Live().Appends; got.Most != ledger.MostTries || got.Lost != ledger.MostTries {
		t.Errorf("counted: %+v", got)
	}
	h.entries()
}

// busyLooks is a store whose connections for reading are taken, once busy is set.
type busyLooks struct {
	ledger.Store
	busy  atomic.Bool
	looks []time.Duration // how long each would have waited
}

func (s *busyLooks) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (ledger.Head, error) {
	if !s.busy.Load() {
		return s.Store.CheckpointAfter(ctx, id, index)
	}
	end, _ := ctx.Deadline()
	s.looks = append(s.looks, time.Until(end))
	return ledger.Head{}, context.DeadlineExceeded
}

// TestReadersTakeNoTurn: where readers have all connections, a daemon looks for
// others once and not for long, and appends.
func TestReadersTakeNoTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	alone := func(c *ledger.Config) { c.Probe = time.Hour }
	c := h.config("mark")
	alone(&c)
	s := &busyLooks{Store: h.store}
	c.Store = s
	a := h.open(c)
	b := h.second(alone)
	for n := range uint64(3) {
		h.must(a, propose(commit("a", n)))
		h.must(b, propose(commit("b", n)))
	}
	h.must(a, propose(commit("a", 3)))
	s.busy.Store(true)
	h.must(a, propose(commit("a", 4)))
	if len(s.looks) != 1 || s.looks[0] > time.Second {
		t.Errorf("looked for others %v", s.looks)
	}
}
