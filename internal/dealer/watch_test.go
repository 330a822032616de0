package dealer_test

import (
	"slices"
	"sync"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/shuffle"
)

// watched is what a watcher was shown. A monitor keeps none of it.
type watched struct {
	mu       sync.Mutex
	recipes  []shuffle.Recipe
	outcomes []shuffle.Outcome
}

func (w *watched) watch(r shuffle.Recipe, out shuffle.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Values = slices.Clone(out.Values)
	w.recipes, w.outcomes = append(w.recipes, r), append(w.outcomes, out)
}

// TestWatch: anyone who watches is shown each outcome once, the one that the tape in the ledger gives, of every kind of
// commit: also of those that the ledger then refuses, and not again for a repeated request.
func TestWatch(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		w := new(watched)
		tb.cfg.Watch = w.watch
		tb.Dealer = dealer.New(tb.cfg)
		seen := func(what string, want int) {
			t.Helper()
			if len(w.outcomes) != want {
				t.Fatalf("%s: %d outcomes seen, want %d", what, len(w.outcomes), want)
			}
		}
		drawn := tb.cfg.Entropy.Stats().Tapes

		req := api.ShuffleRequest{Table: "t", Deck: "standard-52", EndAt: &api.EndAt{Lo: 20, Hi: 40}}
		ids := []uint64{tb.commit("one", req).ID}
		seen("a shuffle", 1)
		tb.commit("one", req)
		seen("the same request", 1)
		for i := range 5 {
			more := api.ShuffleRequest{Table: "t", Deck: "short-36"}
			ids = append(ids, tb.commit("more-"+string(rune('a'+i)), more).ID)
		}
		seen("five more", 6)
		draws, err := tb.Draws(t.Context(), as("tester"), "draws",
			api.DrawsRequest{Table: "t", Ranges: []uint32{6, 6, 37}})
		must(t, err)
		ids = append(ids, draws.ID)
		parent := tb.commit("parent", api.ShuffleRequest{Table: "u", Deck: "spanish-40"})
		child := tb.commit("child", api.ShuffleRequest{Table: "u",
			Parent: &api.Parent{ID: parent.ID, Positions: []uint16{3, 1, 7}}})
		ids = append(ids, parent.ID, child.ID)
		seen("draws, a parent and its child", len(ids))

		for _, id := range ids {
			if id != parent.ID { // which the child ended
				if _, err := tb.Close(t.Context(), as("tester"), id,
					api.CloseRequest{Outcome: audit.OutcomeEndedEarly}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, id := range ids {
			want, err := w.recipes[i].Run(tb.endOf(id).Tape)
			if err != nil || !slices.Equal(want.Values, w.outcomes[i].Values) || want.EndAt != w.outcomes[i].EndAt {
				t.Errorf("shuffle %d: seen %v, its tape gives %v (%v)", id, w.outcomes[i], want, err)
			}
		}

		if _, err := tb.SetTable(t.Context(), as("tester"), "t", false); err != nil {
			t.Fatal(err)
		}
		if _, err := tb.Shuffle(t.Context(), as("tester"), "refused", req); err == nil {
			t.Fatal("a shuffle at a closed table")
		}
		if n := tb.cfg.Entropy.Stats().Tapes - drawn; uint64(len(w.outcomes)) != n {
			t.Errorf("%d outcomes seen of %d tapes", len(w.outcomes), n)
		}
	})
}
