package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
)

// cosigned returns a head with cosignatures made up by a writer.
func cosigned(size uint64, writer int) ledger.Head {
	return ledger.Head{Size: size, Root: tag(int(size)),
		Checkpoint: fmt.Appendf(nil, "checkpoint %d cosigned for %d\n", size, writer)}
}

func cosignedFrom(t *testing.T, s ledger.Store, id ledger.ID, size uint64) (list []ledger.Head) {
	t.Helper()
	for h, err := range s.CosignedFrom(t.Context(), id, size) {
		if err != nil {
			t.Fatalf("reading cosigned checkpoints from size %d: %v", size, err)
		}
		list = append(list, h)
	}
	return list
}

func testCosigned(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	before := b.Counts(t)
	var all []ledger.Head
	for n := range 1200 { // more than two parts
		h := cosigned(uint64(3*n+1), 0)
		if err := b.Store.PutCosigned(t.Context(), c.id, h); err != nil {
			t.Fatalf("size %d: %v", h.Size, err)
		}
		all = append(all, h)
	}
	before["cosigned"] += len(all)
	last := all[len(all)-1].Size
	for _, h := range []ledger.Head{all[0], cosigned(all[0].Size, 1), cosigned(last, 1)} {
		if err := b.Store.PutCosigned(t.Context(), c.id, h); !errors.Is(err, ledger.ErrExists) {
			t.Errorf("size %d again: %v, want ErrExists", h.Size, err)
		}
	}
	for _, h := range []ledger.Head{cosigned(0, 0), cosigned(math.MaxUint64, 0)} {
		// No ledger has these sizes; the second is all that fits.
		if err := b.Store.PutCosigned(t.Context(), ledger.IDOf("example.org/unknown"), h); err == nil {
			t.Errorf("size %d of an unknown ledger was kept", h.Size)
		}
	}
	if err := b.Store.PutCosigned(t.Context(), ledger.IDOf("example.org/unknown"), all[0]); !errors.Is(err,
		ledger.ErrNotFound) {
		t.Errorf("a cosigned checkpoint of an unknown ledger: %v", err)
	}
	b.unchanged(t, before, "rows of all tables")

	for size, want := range map[uint64]int{1: 0, 2: 0, 3: 0, 4: 1, 600: 199, last - 1: len(all) - 2, last: len(all) - 1,
		math.MaxUint64: len(all) - 1} {
		h, err := b.Store.CosignedAtMost(t.Context(), c.id, size)
		if err != nil {
			t.Fatalf("at most %d: %v", size, err)
		}
		if diff := cmp.Diff(all[want], h); diff != "" {
			t.Errorf("at most %d:\n%s", size, diff)
		}
	}
	for id, size := range map[ledger.ID]uint64{c.id: 0, other.id: last, ledger.IDOf("example.org/unknown"): last} {
		if h, err := b.Store.CosignedAtMost(t.Context(), id, size); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("at most %d where there is none: size %d, %v", size, h.Size, err)
		}
	}
	for size, first := range map[uint64]int{0: 0, 1: 0, 2: 1, 1537: 512, 1538: 513, last: len(all) - 1} {
		if diff := cmp.Diff(all[first:], cosignedFrom(t, b.Store, c.id, size)); diff != "" {
			t.Errorf("from %d:\n%s", size, diff)
		}
	}
	for id, size := range map[ledger.ID]uint64{c.id: last + 1, other.id: 0, ledger.IDOf("example.org/unknown"): 0} {
		if list := cosignedFrom(t, b.Store, id, size); len(list) > 0 {
			t.Errorf("from %d where there is none: %d", size, len(list))
		}
	}
	if list := cosignedFrom(t, b.Store, c.id, math.MaxUint64); len(list) > 0 {
		t.Errorf("from the last size of all: %d", len(list))
	}
	dense := newChain(t, b.Store, "dense") // one of every size
	for size := range uint64(514) {
		if err := b.Store.PutCosigned(t.Context(), dense.id, cosigned(size+1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if list := cosignedFrom(t, b.Store, dense.id, 0); len(list) != 514 {
		t.Errorf("%d of 514 in a row", len(list))
	}
	for range b.Store.CosignedFrom(t.Context(), c.id, 0) {
		break // leaves nothing behind
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range b.Store.CosignedFrom(ctx, c.id, 0) {
		if err == nil {
			t.Fatal("a cancelled read went on")
		}
	}
	if err := b.Store.PutCosigned(ctx, c.id, cosigned(last+1, 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("written for a caller who had left: %v", err)
	}
}

// testLate: the first late checkpoint of each size stays, and they are read from both ends.
func testLate(t *testing.T, b Backend) {
	c, other := newChain(t, b.Store, "main"), newChain(t, b.Store, "other")
	before := b.Counts(t)
	var all []ledger.Head
	for n := range 5 {
		h := cosigned(uint64(3*n+1), 0)
		if err := b.Store.PutLate(t.Context(), c.id, h); err != nil {
			t.Fatalf("size %d: %v", h.Size, err)
		}
		all = append(all, h)
	}
	before["late"] += len(all)
	if err := b.Store.PutLate(t.Context(), c.id, cosigned(4, 1)); !errors.Is(err, ledger.ErrExists) {
		t.Errorf("size 4 again: %v, want ErrExists", err)
	}
	if err := b.Store.PutLate(t.Context(), ledger.IDOf("example.org/unknown"), all[0]); !errors.Is(err,
		ledger.ErrNotFound) {
		t.Errorf("a late checkpoint of an unknown ledger: %v", err)
	}
	b.unchanged(t, before, "rows of all tables")
	for _, one := range []struct {
		id   ledger.ID
		from uint64
		n    int
		want []ledger.Head
	}{{c.id, 0, 9, all}, {c.id, 4, 2, all[1:3]}, {c.id, 5, 1, all[2:3]}, {c.id, 14, 9, nil}, {other.id, 0, 9, nil},
		{c.id, math.MaxUint64, 9, nil}} {
		got, err := b.Store.LateFrom(t.Context(), one.id, one.from, one.n)
		if diff := cmp.Diff(one.want, got); err != nil || diff != "" {
			t.Errorf("%d from %d: %v\n%s", one.n, one.from, err, diff)
		}
	}
	got, err := b.Store.NewestLate(t.Context(), c.id, 2)
	if diff := cmp.Diff([]ledger.Head{all[4], all[3]}, got); err != nil || diff != "" {
		t.Errorf("the newest two: %v\n%s", err, diff)
	}
	if got, err := b.Store.NewestLate(t.Context(), other.id, 2); err != nil || got != nil {
		t.Errorf("the newest where there is none: %d, %v", len(got), err)
	}
}

// testCosignedRace has two daemons put every size at once, while others append and read: one of them wins each size,
// and what it wrote stays.
func testCosignedRace(t *testing.T, b Backend) {
	const sizes = 60
	c := newChain(t, b.Store, "main")
	again := b.Open(t)
	defer again.Close()
	won := make([][]bool, 4)
	var writers sync.WaitGroup
	for w := range won {
		won[w] = make([]bool, sizes+1)
		s := []ledger.Store{b.Store, again}[w%2]
		writers.Go(func() {
			for size := 1; size <= sizes; size++ {
				err := s.PutCosigned(t.Context(), c.id, cosigned(uint64(size), w))
				if won[w][size] = err == nil; err != nil && !errors.Is(err, ledger.ErrExists) {
					t.Errorf("size %d: %v", size, err)
				}
				h, err := s.CosignedAtMost(t.Context(), c.id, uint64(size))
				if err != nil || h.Size != uint64(size) {
					t.Errorf("after size %d: size %d, %v", size, h.Size, err)
				}
			}
		})
	}
	for range 30 { // the barrier is taken while appends run
		c.mustAppend(c.batch(eventRow(t)))
	}
	writers.Wait()
	list := cosignedFrom(t, b.Store, c.id, 0)
	if len(list) != sizes {
		t.Fatalf("%d cosigned checkpoints, want %d", len(list), sizes)
	}
	for i, h := range list {
		winners := 0
		for w := range won {
			if won[w][i+1] {
				winners++
				if diff := cmp.Diff(cosigned(uint64(i+1), w), h); diff != "" {
					t.Errorf("size %d is not the winner's:\n%s", i+1, diff)
				}
			}
		}
		if winners != 1 {
			t.Errorf("size %d was won by %d writers", i+1, winners)
		}
	}
}

// testHandover: of several daemons that have seen the same checkpoints, one lets a policy take over, also if they do it
// at different sizes.
func testHandover(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	again := b.Open(t)
	defer again.Close()
	if err := b.Store.PutHandover(t.Context(), ledger.IDOf("example.org/unknown"), cosigned(1, 0), 1); !errors.Is(err,
		ledger.ErrNotFound) {
		t.Errorf("of an unknown ledger: %v", err)
	}
	if err := b.Store.PutCosigned(t.Context(), other.id, cosigned(math.MaxInt64, 0)); err != nil {
		t.Fatal(err)
	}
	for round := range uint64(40) {
		from := 10*round + 1
		won := make([]error, 4)
		var writers sync.WaitGroup
		for w := range won {
			s := []ledger.Store{b.Store, again}[w%2]
			writers.Go(func() { won[w] = s.PutHandover(t.Context(), c.id, cosigned(from+uint64(w), w), from) })
		}
		writers.Wait()
		list := cosignedFrom(t, b.Store, c.id, from)
		if len(list) != 1 {
			t.Fatalf("%d checkpoints hand on from size %d", len(list), from)
		}
		for w, err := range won {
			winner := list[0].Size == from+uint64(w)
			if winner && err != nil || !winner && !errors.Is(err, ledger.ErrStale) {
				t.Errorf("writer %d of size %d, and %d is stored: %v", w, from+uint64(w), list[0].Size, err)
			}
		}
		if err := b.Store.PutHandover(t.Context(), c.id, list[0], from); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("again: %v", err)
		}
	}
}
