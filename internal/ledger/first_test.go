package ledger_test

import (
	"errors"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// TestFirstCosigned: the oldest cosigned checkpoint over an entry is found, behind a row that does not hold, too.
func TestFirstCosigned(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsSigned)
		l := w.open(w.config("mark"))
		first := w.must(l, propose(commit("t", 1)))[0].Index
		w.awaitCosigned(l, first)
		oldest, _ := l.Cosigned()
		second := w.must(l, propose(commit("t", 2)))[0].Index
		w.awaitCosigned(l, second)
		for _, index := range []uint64{first, oldest.Size - 1} {
			if h, err := l.FirstCosigned(t.Context(), index); err != nil || h.Size != oldest.Size {
				t.Errorf("over entry %d: size %d, %v, want %d", index, h.Size, err, oldest.Size)
			}
		}
		if h, err := l.FirstCosigned(t.Context(), second); err != nil || h.Size <= second {
			t.Errorf("over entry %d: size %d, %v", second, h.Size, err)
		}

		w.down(true, 0, 1, 2)
		third := w.must(l, propose(commit("t", 3)))[0].Index
		if h, err := l.FirstCosigned(t.Context(), third); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("over an entry that nobody cosigned: size %d, %v", h.Size, err)
		}
		if err := store.PutCosigned(t.Context(), l.ID(),
			ledger.Head{Size: third + 1, Checkpoint: []byte("junk")}); err != nil {
			t.Fatal(err)
		}
		w.down(false, 0, 1, 2)
		fourth := w.must(l, propose(commit("t", 4)))[0].Index
		w.awaitCosigned(l, fourth)
		if h, err := l.FirstCosigned(t.Context(), third); err != nil || h.Size <= fourth {
			t.Errorf("behind a row that does not hold: size %d, %v", h.Size, err)
		}
	})
}
