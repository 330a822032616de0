package storetest

import (
	"sync"
	"testing"

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
