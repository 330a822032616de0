package verify

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// Bound is what binds the places of a shuffle to what they show. The steps of a transcript from openings to cards use
// it, and a client uses it deal by deal.
type Bound struct {
	Commit *audit.Commit
	Tag    openings.Tag   // of its leaves
	Order  openings.Order // which position each place shows, once the mix is known
	Names  shuffle.Deck   // of the values
	Second *audit.Commit  // the co-dealer's; nil: none is known
	Values map[int]uint32 // that were opened, by position
	shown  map[uint32]int // of cards: the position of each of them
}

// NewBound returns what binds the places of a shuffle. Its order is not known.
func NewBound(c *audit.Commit) Bound {
	return Bound{Commit: c, Tag: openings.TagOf(c), Values: make(map[int]uint32), shown: make(map[uint32]int)}
}

// Opened is a place with the opening of the position that it shows.
type Opened struct {
	Place int
	Name  string // of a card
	openings.Opening
	By *openings.Opening // the co-dealer's, of the same place of its order; nil: none
}

// ReadCard reads a card of a transcript.
func ReadCard(c openings.Card) (o Opened, err error) {
	o.Place, o.Name = c.Place, c.Card
	if o.Opening, err = c.Opening(); err != nil || c.By == nil {
		return o, err
	}
	o.By = new(openings.Opening)
	*o.By, err = c.By.Opening(c.Place)
	return o, err
}

// Open takes in what a dealt place shows, and holds it against the order, its name, the co-dealer and the deck root. A
// shuffle shows no card twice, though a deck may have equal names.
func (b *Bound) Open(o Opened) error {
	if p := b.Order.Position(o.Place); p != o.Position {
		return fmt.Errorf("shows position %d, not %d", p, o.Position)
	}
	if err := errors.Join(b.checkValue(o), b.openedBy(o)); err != nil {
		return err
	}
	if err := o.Check(b.Tag, b.Commit.DeckRoot, b.Commit.Context.Recipe.Positions()); err != nil {
		return err
	}
	if at, shown := b.shown[o.Value]; shown && at != o.Position && !b.Commit.Context.IsDraw() {
		return fmt.Errorf("card %d was shown before", o.Value)
	}
	b.Values[o.Position], b.shown[o.Value] = o.Value, o.Position
	return nil
}

// checkValue holds a value against the deck or the range it was drawn from.
func (b *Bound) checkValue(o Opened) error {
	r := b.Commit.Context.Recipe
	switch {
	case r.Ranges != nil && (o.Name != "" || o.Value < 1 || o.Value > r.Ranges[o.Position]):
		return fmt.Errorf("value %d is out of the range of its draw, or has a name", o.Value)
	case r.Ranges != nil:
	case o.Value >= uint32(b.Names.Len()):
		return fmt.Errorf("value %d in a deck of %d", o.Value, b.Names.Len())
	case o.Name != b.Names.Card(o.Value):
		return fmt.Errorf("card %d is %q, not %q", o.Value, b.Names.Card(o.Value), o.Name)
	}
	return nil
}

// openedBy: the co-dealer opened the same place of its order, and the deal has that value. This needs no trust in the
// co-dealer.
func (b *Bound) openedBy(o Opened) error {
	if (o.By != nil) != (b.Second != nil) {
		return errors.New("an opening of the co-dealer stands with each card of a shuffle that has one, and with no other")
	}
	if o.By == nil {
		return nil
	}
	if v, ok := b.Order.Given(o.Place); !ok || v != o.By.Value {
		return fmt.Errorf("the deal has %d of the co-dealer, and its opening %d", v, o.By.Value)
	}
	if err := o.By.Check(openings.TagOf(b.Second), b.Second.DeckRoot, b.Second.Context.Recipe.Positions()); err != nil {
		return fmt.Errorf("the co-dealer's opening: %w", err)
	}
	return nil
}

// Shows returns, by position, what the opened values of draws show after the mix; nil for cards. In a draw list each
// value that is not opened counts as 1, and what it shows is not used. Numbers are opened from the first on.
func (b *Bound) Shows() ([]uint32, error) {
	ctx := b.Commit.Context
	if !ctx.IsDraw() {
		return nil, nil
	}
	var values []uint32
	for p := range ctx.Recipe.Positions() {
		v, ok := b.Values[p]
		if !ok && ctx.IsNumbers() {
			break
		}
		values = append(values, max(v, 1))
	}
	return b.Order.Shows(values)
}
