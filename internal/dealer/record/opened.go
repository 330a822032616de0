package dealer

import (
	"shuffled/internal/audit"
)

// opened is a shuffle whose tape was opened, with every value, salt and proof. It holds undealt cards and never leaves
// this package. It belongs to the function that opened it, which wipes it. No answer shares memory with it.
type opened struct {
	tape   []byte
	values []uint32 // by position
	shows  []uint32 // of draws, by position: values moved by the mix
	endAt  int      // place of the cut card, 0 for none
	tree   *audit.DeckTree
	order  audit.Order

	by map[int]*audit.By // openings of the co-dealer by place; nil without one
}

// wipe clears the tape and the cards, so that they do not stay in memory that is not used. A nil t has none.
func (t *opened) wipe() {
	if t == nil {
		return
	}
	clear(t.tape)
	clear(t.values)
	clear(t.shows)
	t.tree.Wipe()
}

// card returns the opening of a place. names are the card names of the deck, nil for a draw list.
func (t *opened) card(names []string, place int) audit.Card {
	o := t.tree.Open(t.order.Position(place))
	name := ""
	if names != nil {
		name = names[o.Value]
	}
	card := audit.NewCard(place, o, name)
	card.By = t.by[place]
	return card
}

// cards adds the openings of a stretch of places.
func (t *opened) cards(to []audit.Card, names []string, s span) []audit.Card {
	for i := range s.count {
		to = append(to, t.card(names, s.first+i))
	}
	return to
}

// give adds what a co-dealer gave for a deal to the order, and its openings.
func (t *opened) give(deal *audit.Deal, cards []audit.Card) {
	t.order.Give(deal)
	if t.by == nil {
		t.by = make(map[int]*audit.By)
	}
	for _, c := range cards {
		t.by[c.Place] = &audit.By{Value: c.Value, Salt: c.Salt, Proof: c.Proof}
	}
}
