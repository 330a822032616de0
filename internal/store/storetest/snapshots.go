package storetest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
)

func testSnapshots(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	below := func(id ledger.ID, index uint64) ledger.Snapshot {
		t.Helper()
		s, err := b.Store.SnapshotBelow(t.Context(), id, index)
		if err != nil {
			t.Fatalf("below %d: %v", index, err)
		}
		return s
	}
	none := func(id ledger.ID, index uint64) {
		t.Helper()
		if s, err := b.Store.SnapshotBelow(t.Context(), id, index); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("below %d: one of entry %d, %v", index, s.Index, err)
		}
	}
	put := func(id ledger.ID, s ledger.Snapshot) {
		t.Helper()
		if err := b.Store.PutSnapshot(t.Context(), id, s); err != nil {
			t.Fatalf("of entry %d: %v", s.Index, err)
		}
	}
	none(c.id, math.MaxUint64)
	all := make([]ledger.Snapshot, 3*ledger.KeptSnapshots)
	for i := range all {
		all[i] = ledger.Snapshot{Index: uint64(100 * (i + 1)), State: noise(uint64(i), 5000*i+1)}
		put(c.id, all[i])
		if got := b.Counts(t)["snapshots"]; got != min(i+1, ledger.KeptSnapshots) {
			t.Fatalf("%d are kept after %d", got, i+1)
		}
	}
	kept := all[len(all)-ledger.KeptSnapshots:]
	below1 := uint64(math.MaxUint64)
	for _, want := range slices.Backward(kept) {
		if diff := cmp.Diff(want, below(c.id, below1)); diff != "" {
			t.Errorf("below %d:\n%s", below1, diff)
		}
		below1 = want.Index
	}
	none(c.id, kept[0].Index)
	none(other.id, math.MaxUint64)

	// One of this index stays, and an old one drops nothing that is newer.
	put(c.id, ledger.Snapshot{Index: kept[2].Index, State: []byte("another")})
	put(c.id, ledger.Snapshot{Index: 50, State: []byte("old")})
	put(other.id, ledger.Snapshot{Index: math.MaxInt64, State: []byte("of another ledger")})
	for i, want := range kept {
		if diff := cmp.Diff(want, below(c.id, want.Index+1)); diff != "" {
			t.Errorf("kept %d:\n%s", i, diff)
		}
	}
	if err := b.Store.PutSnapshot(t.Context(), ledger.IDOf("example.org/unknown"), all[0]); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a snapshot of an unknown ledger: %v", err)
	}
}
