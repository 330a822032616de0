package record

import (
	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// Opened is a shuffle whose tape was opened, with every value, salt and proof. It holds undealt cards. It belongs to
// the function that opened it, which wipes it. No answer shares memory with it.
type Opened struct {
	Tape   []byte
	Values []uint32 // by position
	Shows  []uint32 // of draws, by position: values moved by the mix
	EndAt  int      // place of the cut card, 0 for none
	Tree   *openings.DeckTree
	Order  openings.Order

	by map[int]*openings.By // openings of the co-dealer by place; nil without one
}

// Wipe clears the tape and the cards, so that they do not stay in memory that is not used. A nil t has none.
func (t *Opened) Wipe() {
	if t == nil {
		return
	}
	clear(t.Tape)
	clear(t.Values)
	clear(t.Shows)
	t.Tree.Wipe()
}

// Card returns the opening of a place. names are the card names of the deck, nil for a draw list.
func (t *Opened) Card(names []string, place int) openings.Card {
	o := t.Tree.Open(t.Order.Position(place))
	name := ""
	if names != nil {
		name = names[o.Value]
	}
	card := openings.NewCard(place, o, name)
	card.By = t.by[place]
	return card
}

// Give adds what a co-dealer gave for a deal to the order, and its openings.
func (t *Opened) Give(deal *audit.Deal, cards []openings.Card) {
	t.Order.Give(deal)
	if t.by == nil {
		t.by = make(map[int]*openings.By)
	}
	for _, c := range cards {
		t.by[c.Place] = &openings.By{Value: c.Value, Salt: c.Salt, Proof: c.Proof}
	}
}
