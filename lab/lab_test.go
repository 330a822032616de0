package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
)

func newSource(t testing.TB) *entropy.Source {
	t.Helper()
	src, err := entropy.New(entropy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// numbered makes outcomes that name their worker and their number.
type numbered struct{ worker, next uint32 }

func (n *numbered) Next() ([]uint32, error) {
	n.next++
	return []uint32{n.worker, n.next - 1}, nil
}

func newNumbered(worker int) (Maker, error) { return &numbered{worker: uint32(worker)}, nil }

func TestShare(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		for _, count := range []uint64{0, 1, Block - 1, Block, Block + 1, 2*Block + 5, 8 * Block, 100*Block + 77} {
			want := make([]uint64, workers)
			for i := range count {
				want[i/Block%uint64(workers)]++
			}
			for w := range workers {
				if got := Share(count, workers, w); got != want[w] {
					t.Errorf("%d of %d workers: %d of %d, want %d", w, workers, got, count, want[w])
				}
			}
		}
	}
}

// TestRun: all outcomes of every worker come once and in order.
func TestRun(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		for _, count := range []uint64{0, 1, 3 * Block, 7*Block + 19} {
			t.Run(fmt.Sprintf("%d of %d", count, workers), func(t *testing.T) {
				next := make([]uint32, workers) // each worker writes its own
				var mu sync.Mutex
				var last uint64
				err := Run(t.Context(), workers, count, newNumbered, func(w int, v []uint32) error {
					if v[0] != uint32(w) || v[1] != next[w] {
						return fmt.Errorf("worker %d was handed %v, want %d", w, v, next[w])
					}
					next[w]++
					return nil
				}, func(done uint64) {
					if !mu.TryLock() {
						t.Error("progress is called by two at a time")
						return
					}
					defer mu.Unlock()
					last = max(last, done)
				})
				if err != nil {
					t.Fatal(err)
				}
				for w, n := range next {
					if uint64(n) != Share(count, workers, w) {
						t.Errorf("worker %d made %d of %d", w, n, Share(count, workers, w))
					}
				}
				if last > count {
					t.Errorf("progress went to %d", last)
				}
			})
		}
	}
}

func TestRunFails(t *testing.T) {
	broken := errors.New("broken")
	none := func(int, []uint32) error { return nil }
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		workers int
		maker   func(int) (Maker, error)
		each    func(int, []uint32) error
		want    error
	}{
		"maker":     {t.Context(), 2, func(int) (Maker, error) { return nil, broken }, none, broken},
		"each":      {t.Context(), 2, newNumbered, func(w int, _ []uint32) error { return broken }, broken},
		"cancelled": {cancelled, 2, newNumbered, none, context.Canceled},
		"nobody":    {t.Context(), 0, newNumbered, none, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := Run(c.ctx, c.workers, 1<<40, c.maker, c.each, nil)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestMaker: real outcomes, and none from a source that is latched.
func TestMaker(t *testing.T) {
	src := newSource(t)
	m := NewMaker(src, shuffle.Recipe{Cards: 52, Take: 52})
	for range 100 {
		v, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		v = slices.Sorted(slices.Values(v))
		for i, x := range v {
			if len(v) != 52 || x != uint32(i) {
				t.Fatalf("no permutation: %v", v)
			}
		}
	}
	src.Trip(entropy.ReasonOperator)
	if v, err := m.Next(); !errors.Is(err, entropy.ErrLatched) || v != nil {
		t.Errorf("a latched source gives %v, %v", v, err)
	}
}
