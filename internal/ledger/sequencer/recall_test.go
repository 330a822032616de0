package sequencer_test

import (
	"errors"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
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

// TestTables: tables are listed by name with what is open there, also what another daemon wrote, in pages.
func TestTables(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		a, b, _ := h.apart(nil)
		known, _, err := b.Tables(t.Context(), b.Head().Size, ledger.TableQuery{Limit: 10, Open: 1})
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string][]uint64{}
		for n, table := range []string{"z", "x", "y", "z", "z"} {
			e := h.must(a, propose(commit(table, uint64(100+n))))[0]
			ids[table] = append(ids[table], e.Index)
		}
		h.must(a, propose(&audit.Event{Kind: audit.EventTableClose, Name: "y"}))
		all, next, err := b.Tables(t.Context(), a.Head().Size, ledger.TableQuery{Limit: 10, Open: 2})
		if err != nil || next != "" || len(all) != len(known)+3 {
			t.Fatalf("%+v, %q, %v", all, next, err)
		}
		for _, ref := range all[len(known):] {
			of := ids[ref.Table]
			if ref.Serial != uint64(len(of)) || ref.Newest != of[len(of)-1] || ref.Closed != (ref.Table == "y") ||
				ref.More != (ref.Table == "z") || len(ref.Open) != min(len(of), 2) {
				t.Errorf("%+v, want %v", ref, of)
			}
		}
		var names []string
		for q := (ledger.TableQuery{Limit: 1, Open: 9}); ; q.After = next {
			var page []rules.TableRef
			if page, next, err = b.Tables(t.Context(), 0, q); err != nil || len(page) != 1 {
				t.Fatalf("%+v, %v", page, err)
			}
			if names = append(names, page[0].Table); next == "" {
				break
			}
		}
		if !slices.IsSorted(names) || len(names) != len(all) {
			t.Errorf("in pages: %v", names)
		}
		some, next, err := b.Tables(t.Context(), 0,
			ledger.TableQuery{Only: []string{"y", "none", "x"}, Limit: 2, Open: 9})
		if err != nil || len(some) != 1 || some[0].Table != "x" || next != "x" {
			t.Errorf("%+v, %q, %v", some, next, err)
		}
	})
}
