package exact_test

import (
	"context"
	"runtime"
	"testing"

	"shuffled/lab/exact"
)

// The proofs are those that "shuffled lab prove" prints, for the function that the
// daemon uses.

// TestDrawIsUniform draws from every lane of every k up to 2^14, 1,070 million in
// all: about ten seconds of two cores. With -short it takes the k that spread picks.
func TestDrawIsUniform(t *testing.T) {
	t.Parallel()
	ks := exact.EveryK()
	if testing.Short() {
		ks = spread(ks)
	}
	report, err := exact.Lanes(context.Background(), exact.Daemon, ks, exact.WideK(), exact.HalvesK(),
		exact.Options{Workers: runtime.GOMAXPROCS(0)})
	if err != nil || !report.Proved {
		t.Fatalf("%+v, %v", report, err)
	}
}

// spread picks the k of a short run: the smallest of either width, those about
// a power of two, the largest, and some from everywhere.
func spread(ks []uint32) (some []uint32) {
	for _, k := range ks {
		near := k&(k-1) == 0 || (k-1)&(k-2) == 0 || (k+1)&k == 0
		if k <= 80 || near || k > 1<<14-8 || k%61 == 0 {
			some = append(some, k)
		}
	}
	return some
}

// TestEveryOrderHasOneDrawVector makes every order of up to nine cards, and of the
// first m of them.
func TestEveryOrderHasOneDrawVector(t *testing.T) {
	t.Parallel()
	report, err := exact.AllOrders(context.Background(), exact.Daemon, exact.MaxOrderCards, exact.Options{})
	if err != nil || !report.Proved {
		t.Fatalf("%+v, %v", report, err)
	}
}

// TestAllDecks tries every size of a deck: half a minute of processor time.
func TestAllDecks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("TestDecks has three decks with fewer orders")
	}
	report, err := exact.Decks(context.Background(), exact.Daemon, exact.AllDecks(), exact.Options{})
	if err != nil || !report.Proved {
		t.Fatalf("%+v, %v", report, err)
	}
}

// TestExhaustionExact counts the tapes of the named decks and of the worst lists that
// run out, and bounds those of every list.
func TestExhaustionExact(t *testing.T) {
	t.Parallel()
	report, err := exact.Exhausted(context.Background(), exact.Daemon, exact.Options{})
	if err != nil || !report.Proved {
		t.Fatalf("%+v, %v", report, err)
	}
}
