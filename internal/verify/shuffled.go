package verify

import (
	"cmp"
	"maps"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Shuffled names what was shuffled (docs/SPEC.md section 10.4).
type Shuffled struct {
	Kind    string         `json:"kind"`              // "cards", "draws" or "numbers"
	Of      uint32         `json:"of,omitempty"`      // of numbers: the largest
	Ranges  []uint32       `json:"ranges,omitempty"`  // of a draw list: each value is 1 to its range
	Cards   int            `json:"cards,omitempty"`   // of cards: how many, of which Verdict.Places were taken
	Deck    string         `json:"deck,omitempty"`    // the first published name of the deck
	Like    string         `json:"like,omitempty"`    // without Deck: the published deck with the fewest differences
	Differs map[string]int `json:"differs,omitempty"` // how many more of a card than Like
	Parent  uint64         `json:"parent,omitempty"`  // of a child: the house chose the cards from that shuffle
}

// shuffled describes what a commit shuffles. A deck that differs in more than half of its cards is like none.
func shuffled(c *audit.Context, deck shuffle.Deck) *Shuffled {
	switch {
	case c.IsNumbers():
		return &Shuffled{Kind: "numbers", Of: c.Of}
	case c.IsDraw():
		return &Shuffled{Kind: "draws", Ranges: c.Recipe.Ranges}
	}
	s := &Shuffled{Kind: "cards", Cards: c.Recipe.Cards}
	if c.Parent != nil {
		s.Parent = c.Parent.ID
	}
	positions := shuffle.Positions(deck.Len())
	if known, ok := shuffle.Published(c.DeckHash); ok || positions.Hash() == c.DeckHash {
		s.Deck = cmp.Or(known.Name(), positions.Name())
		return s
	}
	least := deck.Len()/2 + 1
	for _, name := range append(shuffle.Names(), positions.Name()) {
		p, _ := shuffle.Named(name)
		more, n := make(map[string]int), 0
		for _, card := range deck.Cards() {
			more[card]++
		}
		for _, card := range p.Cards() {
			more[card]--
		}
		maps.DeleteFunc(more, func(_ string, k int) bool { n += max(k, -k); return k == 0 })
		if n < least {
			s.Like, s.Differs, least = name, more, n
		}
	}
	return s
}
