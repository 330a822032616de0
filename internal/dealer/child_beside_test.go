package dealer_test

import (
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// TestChildBesideDeals: the parent is dealt from after its cards were read for a child of its stub. The child holds
// what was not dealt until then, and none of the cards that came between; where deals come without end, it is refused.
func TestChildBesideDeals(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		for _, ends := range []bool{false, true} {
			name := map[bool]string{false: "dealt", true: "dealt-again-and-again"}[ends]
			parent := tb.commit(name, deckOf(audit.DisclosurePublic))
			cfg := tb.cfg
			var dealt []audit.Card
			deal := func() {
				d := tb.deal(parent.ID, dealer.DealRequest{First: len(dealt), Runs: []audit.Run{seat(3, "a")}})
				dealt = append(dealt, d.Cards...)
			}
			h := &hooked{Store: tb.cfg.Store}
			h.after = func() {
				deal()
				if ends {
					h.reads = 0
				}
			}
			cfg.Store = h
			s, err := dealer.New(cfg).Shuffle(t.Context(), as("tester"), "child-of-"+name, child(parent.ID))
			if ends {
				wantRefusal(t, name, err, "", audit.RuleParent)
				tb.close(parent.ID)
				continue
			}
			must(t, err)
			rest := tb.all(s, 0, 52-len(dealt))
			if got := sortedValues(dealt, rest); len(dealt) != 3 || !slices.Equal(got, wholeDeck(52)) {
				t.Errorf("%d cards were dealt; parent and child together are %v", len(dealt), got)
			}
		}
	})
}
