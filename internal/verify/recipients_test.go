package verify

import (
	"testing"

	"shuffled/internal/audit"
)

// TestRecipientsAlike: a recipient's file that holds a card of a name which begins,
// ends or looks like the recipient's is not proved.
func TestRecipientsAlike(t *testing.T) {
	t.Parallel()
	names := []string{"seat-1", "seat-10", "seat", "SEAT-1", "at-1"}
	h := open(t)
	g := h.commitTo(h.cards(sixCards), sixCards)
	for _, name := range names {
		g.deal(seat(name, 1))
	}
	g.deal(board(1))
	for to, name := range names {
		for place, of := range append(names, "everybody") {
			f := g.transcript(name)
			f.Cards = []audit.Card{g.card(place)}
			v := Transcript(marshal(t, f), Trust{VKey: mainKey(t).vkey})
			proved := v.Verdict == Proved
			if proved != (place == to || place == len(names)) || !proved && v.Failed != stepOpenings {
				t.Errorf("the card of %s in the file of %s: %s at %q", of, name, v.Verdict, v.Failed)
			}
		}
	}
}
