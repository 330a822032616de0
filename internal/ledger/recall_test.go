package ledger_test

import (
	"errors"
	"slices"
	"testing"

	"shuffled/internal/ledger"
)

// TestOpenAt: what another daemon committed is among the open shuffles as soon as
// the store shows it, and what it closed is not.
func TestOpenAt(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		a, b, _ := h.apart(nil)
		ids := func(size uint64) (ids []uint64) {
			t.Helper()
			open, err := b.OpenAt(t.Context(), size)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range open {
				ids = append(ids, o.ID)
			}
			return ids
		}
		known := b.Head().Size
		first := ids(known)
		second := h.must(a, propose(commit("t", 2)))[0].Index
		if got := ids(known); !slices.Equal(got, first) {
			t.Errorf("as of what it knows: %v, want %v", got, first)
		}
		if got, want := ids(second+1), append(slices.Clone(first), second); !slices.Equal(got, want) {
			t.Errorf("as of the second commit: %v, want %v", got, want)
		}
		if _, err := b.OpenAt(t.Context(), a.Head().Size+1); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("as of an entry that is not there: %v", err)
		}
		if got := ids(0); len(got) != len(first)+1 {
			t.Errorf("as of nothing: %v", got)
		}
	})
}
