package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
)

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
