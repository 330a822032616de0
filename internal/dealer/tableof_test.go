package dealer_test

import (
	"context"
	"errors"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

// renamer is a store in which every commit is of table "ours".
type renamer struct{ ledger.Store }

func (s renamer) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing,
	shuffles ...uint64) ([][]ledger.Row, error) {
	list, err := s.Store.ByShuffles(ctx, id, standing, shuffles...)
	for _, rows := range list {
		for i := range rows {
			e, parse := audit.ParseEntry(rows[i].Entry)
			if c, ok := e.Body.(*audit.Commit); ok && err == nil && parse == nil {
				c.Context.Table, rows[i].Table = "ours", "ours"
				rows[i].Entry, err = e.Encode()
			}
		}
	}
	return list, err
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
