package verify

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
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

// terms holds the document in the file against what the commit binds, and against what was drawn from.
func (t *transcript) terms() (string, error) {
	ctx := t.commit.Context
	bound, document := ctx.Terms, t.file.Terms
	if bound != nil {
		t.v.Terms = &Terms{Kind: bound.Kind.String(), Hash: encode(bound.Hash), Count: bound.Count}
	}
	switch {
	case bound == nil || bound.Kind == audit.TermsTicketList:
		if document != nil {
			return "", errors.New("the file holds a document, and the commit binds none")
		}
		if bound == nil {
			return "", notChecked("the commit binds none: it does not say what its values mean")
		}
		return "", notChecked(fmt.Sprintf("a list of %d tickets, which this file does not hold", bound.Count))
	case document == nil:
		return "", notChecked(fmt.Sprintf("the %s is not in the file: what the values mean is not known", bound.Kind))
	}
	d, err := terms.Parse(bound.Kind, document)
	if err != nil {
		return "", err
	}
	if err := d.Of(ctx); err != nil {
		return "", err
	}
	t.means = d
	t.v.Terms.Labels, t.v.Terms.Text = d.Wheel, d.Text
	if d.Kind == audit.TermsWheel {
		return fmt.Sprintf("a wheel of %d labels, whose weights add up to %d", len(d.Wheel), d.Total()), nil
	}
	return fmt.Sprintf("a pay table of %d bytes", len(document)), nil
}

// winner says whether the house could choose the winner of a list of tickets. The house knows the list when it draws
// the tape. Without a mix that it cannot foresee, it may draw as many tapes as it likes.
func (t *transcript) winner() {
	if w := t.v.Terms; w != nil && w.Kind == audit.TermsTicketList.String() {
		w.HouseCouldChoose = !slices.ContainsFunc(t.v.Mixed, func(m Mixed) bool { return m.For == ForEverybody })
	}
}
