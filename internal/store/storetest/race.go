package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/ledger"
)

// testRace has many writers append to every head that there is, in two daemons:
// one of them wins each head, and the rows stay contiguous.
func testRace(t *testing.T, b Backend) {
	const writers, heads = 8, 30
	c := newChain(t, b.Store, "main")
	again := b.Open(t)
	defer again.Close()
	type win struct {
		old  ledger.Head
		rows []ledger.Row
	}
	var mu sync.Mutex // guards wins
	wins := make(map[uint64]win)
	won := func(old ledger.Head, batch ledger.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		if _, twice := wins[old.Size]; twice {
			return fmt.Errorf("two appends won the head of size %d", old.Size)
		}
		wins[old.Size] = win{old, batch.Rows}
		return nil
	}
	write := func(w int, s ledger.Store) error {
		for n := 0; ; n++ {
			head, err := s.Head(t.Context(), c.id)
			if err != nil || head.Size > heads {
				return err
			}
			d := chain{t: t, id: c.id, head: head}
			table := fmt.Sprintf("table-%d-%d", w, n)
			batch := d.batch(commitRow(t, table, 1, tag(1000*w+n), 129), eventRow(t))
			switch err := s.Append(t.Context(), c.id, head, batch); {
			case err == nil:
				if err := won(head, batch); err != nil {
					return err
				}
			case !errors.Is(err, ledger.ErrStale):
				return err
			}
		}
	}
	var all errgroup.Group
	for w := range writers {
		all.Go(func() error { return write(w, []ledger.Store{b.Store, again}[w%2]) })
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	head, err := b.Store.Head(t.Context(), c.id)
	if err != nil {
		t.Fatal(err)
	}
	stored := c.rows(0, head.Size)
	if uint64(len(stored)) != head.Size {
		t.Fatalf("%d rows under a head of size %d", len(stored), head.Size)
	}
	if want := 1 + 2*len(wins); len(stored) != want {
		t.Errorf("%d rows, %d by the winners", len(stored), want)
	}
	for size, w := range wins {
		if diff := cmp.Diff(w.rows, stored[size:size+2]); diff != "" {
			t.Fatalf("the rows at %d are not those of the winner:\n%s", size, diff)
		}
	}
	c.head = head
	c.mustAppend(c.batch(eventRow(t)))
}

// testFindersDuringAppends finds rows while the head moves: a lock that is taken during an append must not lose them.
func testFindersDuringAppends(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	id := c.head.Size
	c.mustAppend(c.batch(commitRow(t, "table-1", 1, tag(1), 129), dealRow(t, id)))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var find sync.WaitGroup
	for range 4 {
		find.Go(func() {
			for ctx.Err() == nil {
				if r, err := b.Store.ByKeyTags(t.Context(), c.id, tag(1)); err != nil || len(r) != 1 ||
					r[0].Index != id {
					t.Errorf("by key tag: %d entries, %v", len(r), err)
					return
				}
				if rows, err := b.Store.ByShuffles(t.Context(), c.id, ledger.Durable, id); err != nil ||
					len(rows[0]) != 2 {
					t.Errorf("by shuffle: %v, %v", rows, err)
					return
				}
			}
		})
	}
	for n := range 60 {
		c.mustAppend(c.batch(commitRow(t, "table-1", uint64(n+2), tag(n+2), 129)))
	}
	stop()
	find.Wait()
}

// testCancel cancels the callers of appends at any moment. An append that was sent goes on: the outcome is known, and
// is the one that the error says.
func testCancel(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	written, refused := 0, 0
	for n := range 100 {
		batch := c.batch(commitRow(t, "table-1", uint64(written+1), tag(n), 129))
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled sync.WaitGroup
		if n%10 == 0 {
			cancel()
		} else {
			cancelled.Go(cancel)
		}
		switch err := b.Store.Append(ctx, c.id, c.head, batch); {
		case err == nil:
			c.head = batch.Head
			written++
		case errors.Is(err, context.Canceled):
			refused++
		default:
			t.Fatalf("append %d: %v", n, err)
		}
		cancelled.Wait()
		c.check()
	}
	if refused < 10 {
		t.Errorf("%d appends by callers who had left were refused, of 10", refused)
	}
	t.Logf("%d appends were written, %d not sent", written, refused)
}

// Appending makes a ledger of each name, and appends to all of them until stop is called, and
// then some more. stop fails the test if an append failed, or if an entry of one is missing.
func Appending(t *testing.T, s ledger.Store, names ...string) (stop func()) {
	const before, after = 3, 5
	t.Helper()
	chains := make([]*chain, len(names))
	stopped := make(chan struct{})
	var running, begun sync.WaitGroup
	for i, name := range names {
		c := newChain(t, s, name)
		chains[i] = c
		begun.Add(1)
		running.Go(func() {
			started := sync.OnceFunc(begun.Done)
			defer started()
			for n, more := 0, after; more > 0; n++ {
				b := c.batch(commitRow(t, name, uint64(n+1), tag(n), 9000), eventRow(t))
				if err := s.Append(t.Context(), c.id, c.head, b); err != nil {
					t.Errorf("appending to %s at %d: %v", name, c.head.Size, err)
					break
				}
				c.head = b.Head
				if n == before {
					started()
				}
				select {
				case <-stopped:
					more--
				default:
				}
			}
		})
	}
	begun.Wait()
	return func() {
		t.Helper()
		close(stopped)
		running.Wait()
		for _, c := range chains {
			c.check()
			if got := c.rows(0, c.head.Size); uint64(len(got)) != c.head.Size {
				t.Errorf("%d of %d entries", len(got), c.head.Size)
			}
		}
	}
}

// testJoint appends to many ledgers at a time, so that appends share transactions. What is refused is refused to its
// own ledger, with the same error as alone, and the others land.
func testJoint(t *testing.T, b Backend) {
	const ledgers, rounds = 24, 15
	var all sync.WaitGroup
	for i := range ledgers {
		c := newChain(t, b.Store, fmt.Sprintf("of-%d", i))
		all.Go(func() {
			commit := func(serial uint64, key int) ledger.Batch {
				return c.batch(slotted(commitRow(t, "table-1", serial, tag(key), 900), tag(1000+key)), eventRow(t))
			}
			for n := range rounds {
				old, first := c.head, commit(uint64(n+1), n)
				if err := b.Store.Append(t.Context(), c.id, old, first); err != nil {
					t.Errorf("ledger %d, append %d: %v", i, n, err)
					return
				}
				if err := b.Store.Append(t.Context(), c.id, old, first); !errors.Is(err, ledger.ErrStale) &&
					!errors.As(err, new(*ledger.DuplicateError)) {
					t.Errorf("ledger %d, append %d again: %v", i, n, err)
				}
				c.head = first.Head
				want, got := &ledger.DuplicateError{Tags: [][32]byte{tag(n)}, Slots: [][32]byte{tag(1000 + n)}},
					new(ledger.DuplicateError)
				if err := b.Store.Append(t.Context(), c.id, c.head, commit(uint64(n+2), n)); !errors.As(err, &got) ||
					!cmp.Equal(got, want) {
					t.Errorf("ledger %d, a key and a slot that stand: %v", i, err)
				}
			}
			c.check()
			if rows := c.rows(0, c.head.Size); len(rows) != 1+2*rounds {
				t.Errorf("ledger %d has %d entries", i, len(rows))
			}
		})
	}
	all.Wait()
}
