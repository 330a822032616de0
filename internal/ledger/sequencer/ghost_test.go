package ledger_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/ledger"
)

// moving is a store whose address changes: what a sequencer reads and writes with goes where at says.
type moving struct {
	ledger.Store
	at atomic.Pointer[ledger.Store]
}

func newMoving(at ledger.Store) *moving {
	m := &moving{Store: at}
	m.to(at)
	return m
}

func (m *moving) to(at ledger.Store) { m.at.Store(&at) }

func (m *moving) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	return (*m.at.Load()).Append(ctx, id, old, b)
}

func (m *moving) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	return (*m.at.Load()).Head(ctx, id)
}

func (m *moving) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return (*m.at.Load()).Rows(ctx, id, from, to)
}

func (m *moving) CheckpointAfter(ctx context.Context, id ledger.ID, i uint64) (ledger.Head, error) {
	return (*m.at.Load()).CheckpointAfter(ctx, id, i)
}

func (m *moving) Tile(ctx context.Context, id ledger.ID, level int, i uint64) ([]byte, error) {
	return (*m.at.Load()).Tile(ctx, id, level, i)
}

// TestGhosts: keys that were seen in a copy of the ledger that went another way are
// keys of no entry, once the address is put right.
func TestGhosts(t *testing.T) {
	t.Parallel()
	db := newSQLite(t)
	h := newHouse(t, db.open())
	mine, theirs := newMoving(h.store), newMoving(h.store)
	c := h.config("mark")
	c.Store = mine
	l := h.open(c)
	other := h.second(func(c *ledger.Config) { c.Store, c.Probe = theirs, 5*time.Millisecond })
	h.must(other, propose(commit("x", 1)))
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.must(l, propose(commit("y", 1)))
	if err := other.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	copied := db.backup()
	back, astray := db.open(), copied.open()
	h.store = back
	mine.to(back)
	theirs.to(astray)
	waitReady(t, l)
	h.must(l, propose(commit("t", 1)))
	waitReady(t, other)
	for other.Head().Size < l.Head().Size {
		h.must(other, propose(commit("u", other.Head().Size)))
	}
	ghost := propose(commit("v", 1))
	h.must(other, ghost)
	mine.to(astray)
	waitFor(t, func() bool { return errors.Is(l.Ready(), ledger.ErrFrozen) })
	mine.to(back)
	waitReady(t, l)
	h.must(l, ghost)
}

// broken loses every other append, which is not written.
type broken struct {
	ledger.Store
	left, tries atomic.Int32
}

func (b *broken) Append(ctx context.Context, id ledger.ID, old ledger.Head, batch ledger.Batch) error {
	if b.left.Load() > 0 && b.tries.Add(1)%2 == 1 {
		b.left.Add(-1)
		return ledger.ErrUnknownOutcome
	}
	return b.Store.Append(ctx, id, old, batch)
}

// TestDuplicateAfterUnknown: a repeated key whose batch was lost on its way, again
// and again, is a repeated key, and no sign of rows that no head covers.
func TestDuplicateAfterUnknown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	b := &broken{Store: h.store}
	c := h.config("mark")
	c.Store = b
	l := h.open(c)
	h.must(l, propose(commit("t", 1)))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = h.open(c) // which has forgotten the key
	before := len(h.entries())
	b.left.Store(3)
	_, err := on(l).Append(t.Context(), propose(commit("t", 1)))
	var duplicate *ledger.DuplicateError
	if !errors.As(err, &duplicate) || len(duplicate.Tags) != 1 {
		t.Errorf("it is told as %v", err)
	}
	waitReady(t, l)
	h.must(l, propose(commit("t", 2)))
	if n := len(h.entries()); n != before+1 {
		t.Errorf("%d entries, want %d: something was logged", n, before+1)
	}
}
