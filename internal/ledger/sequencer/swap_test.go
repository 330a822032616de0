package ledger_test

import (
	"context"
	"errors"
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

// TestAloneForNothing: a daemon that is alone reads nothing between its batches.
func TestAloneForNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	s := &countedLooks{Store: h.store}
	c := h.config("mark")
	c.Store, c.Probe = s, time.Hour
	l := h.open(c)
	s.heads.Store(0)
	s.looks.Store(0)
	for n := range uint64(20) {
		h.must(l, propose(commit("t", n)))
	}
	if s.heads.Load() != 0 || s.looks.Load() != 0 {
		t.Errorf("20 batches alone: %d heads and %d checkpoints were read", s.heads.Load(), s.looks.Load())
	}
}

// TestMostTries: a request that is overtaken every time is refused, with nothing written, and not prepared for ever.
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
	_, err := on(b).Append(t.Context(), propose(commit("b", 1)))
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
