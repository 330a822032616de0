package dealer_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

// renamer is a store in which every commit is of table "ours".
type renamer struct{ ledger.Store }

func (s renamer) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		for row, err := range s.Store.Rows(ctx, id, from, to) {
			if e, parse := audit.ParseEntry(row.Entry); err == nil && parse == nil && row.Type == audit.TypeCommit {
				e.Body.(*audit.Commit).Context.Table = "ours"
				row.Table = "ours"
				row.Entry, err = e.Encode()
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// TestTable: whose a shuffle is comes from its own entry, and from no other row.
func TestTable(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		s := tb.commit("k", dealer.ShuffleRequest{Table: "theirs", Deck: "standard-52"})
		if name, err := tb.Table(t.Context(), s.ID); err != nil || name != "theirs" {
			t.Errorf("%q, %v", name, err)
		}
		for _, id := range []uint64{0, 1, s.ID + 1, audit.MaxInteger} {
			if name, err := tb.Table(t.Context(), id); !errors.Is(err, dealer.ErrNotFound) {
				t.Errorf("%d: %q, %v", id, name, err)
			}
		}
		tb.cfg.Store = renamer{tb.cfg.Store}
		if name, err := dealer.New(tb.cfg).Table(t.Context(), s.ID); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("a row that is no entry: %q, %v", name, err)
		}
	})
}
