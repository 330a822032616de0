package controls

import (
	"fmt"
	"slices"
	"testing"
)

// TestSmallOrders enumerates every way of every faulty move of three cards. The
// orders are 012, 021, 102, 120, 201, 210.
func TestSmallOrders(t *testing.T) {
	for name, c := range map[string]struct {
		m    moves
		want []uint64
	}{
		"any position": {anyPosition, []uint64{4, 5, 5, 5, 4, 4}},
		"never last":   {neverLast, []uint64{0, 2, 0, 2, 2, 2}},
		"Sattolo":      {sattolo, []uint64{0, 0, 0, 1, 1, 0}},
		"short range":  {shortRange, []uint64{1, 0, 1, 0, 0, 0}},
		"next free":    {nextFree, []uint64{2, 1, 1, 2, 2, 1}},
		"one riffle":   {riffles(1), []uint64{4, 1, 1, 1, 1, 0}},
		"coin sort":    {coinSort, []uint64{2, 1, 2, 1, 1, 1}},
		"refilled":     {refilled, nil},
		"few swaps":    {fewSwaps, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.m.enumerate(3)
			t.Logf("%d of %d", w.Counts, w.All)
			if w.All == 0 || len(w.Orders) != 6 || fmt.Sprint(w.Orders[3]) != "[1 2 0]" {
				t.Fatalf("%d ways, orders %v", w.All, w.Orders)
			}
			unit := w.All / max(1, sum(c.want))
			if c.want == nil {
				if slices.Min(w.Counts) == slices.Max(w.Counts) {
					t.Error("all orders are equally likely")
				}
				return
			}
			for i, want := range c.want {
				if w.Counts[i] != want*unit {
					t.Errorf("order %d comes %d times of %d, want %d", w.Orders[i], w.Counts[i], w.All, want*unit)
				}
			}
		})
	}
}

func sum(counts []uint64) (s uint64) {
	for _, c := range counts {
		s += c
	}
	return s
}

// TestRightShuffleIsEven: the enumeration finds no fault in the right shuffle.
func TestRightShuffleIsEven(t *testing.T) {
	right := moves{
		ranges: func(n int) []uint32 { return down(n, 2) },
		move:   shortRange.move,
	}
	for n := 2; n <= 6; n++ {
		w := right.enumerate(n)
		if w.All != uint64(len(w.Orders)) || slices.Min(w.Counts) != 1 {
			t.Errorf("%d cards: %d ways, fewest %d", n, w.All, slices.Min(w.Counts))
		}
	}
}

// TestMatrixIsEnumeration compares the chances that follow one card with those of
// all ways through the whole shuffle.
func TestMatrixIsEnumeration(t *testing.T) {
	for n := 2; n <= 7; n++ {
		for less, m := range []moves{anyPosition, neverLast} {
			if n-less < 1 {
				continue
			}
			want := matrix(n, n-less)
			w := m.enumerate(n)
			got := make([]uint64, n*n)
			for i, order := range w.Orders {
				for p, card := range order {
					got[p*n+int(card)] += w.Counts[i]
				}
			}
			for i, ways := range got {
				if want[i/n][i%n].Uint64() != ways {
					t.Fatalf("%d cards, %d positions: card %d at %d in %d ways, the matrix says %d", n, n-less, i%n,
						i/n, ways, want[i/n][i%n])
				}
			}
		}
	}
}

// TestNeverLast: the last card has no way to the last position.
func TestNeverLast(t *testing.T) {
	for _, n := range []int{2, 3, 9, 52} {
		if ways := matrix(n, n-1)[n-1][n-1]; ways.Sign() != 0 {
			t.Errorf("%d cards: %d ways", n, ways)
		}
	}
}
