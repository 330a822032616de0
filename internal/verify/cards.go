package verify

import (
	"errors"
	"fmt"
	"maps"

	"golang.org/x/mod/sumdb/tlog"

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
	shown  map[uint32]int // of cards: the place of each of them
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
	if at, shown := b.shown[o.Value]; shown && at != o.Place && !b.Commit.Context.IsDraw() {
		return fmt.Errorf("card %d was shown before", o.Value)
	}
	b.Values[o.Position], b.shown[o.Value] = o.Value, o.Place
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

// openings holds every card of the file against the deck root. There are at most
// as many as places were dealt: they ascend.
func (t *transcript) openings() (string, error) {
	if len(t.commit.Context.Mixed()) == 0 || t.mix != nil {
		var err error
		if t.bound.Order, err = openings.NewOrder(t.commitLeaf(), t.commit, t.mix); err != nil {
			return "", err
		}
		for _, d := range t.deals {
			t.bound.Order.Give(d)
		}
	}
	for i, c := range t.file.Cards {
		if i > 0 && c.Place <= t.file.Cards[i-1].Place {
			return "", fmt.Errorf("place %d stands behind place %d", c.Place, t.file.Cards[i-1].Place)
		}
		if t.commit.Context.IsNumbers() && c.Place != i {
			return "", fmt.Errorf("place %d: which number it shows hangs on place %d, which is not shown", c.Place, i)
		}
		if err := t.openPlace(t.opened[i]); err != nil {
			return "", fmt.Errorf("place %d: %w", c.Place, err)
		}
	}
	return fmt.Sprintf("shown: %d of %d dealt; %d opened here, and lead to the deck root", t.v.Shown, len(t.dealt),
		len(t.opened)), t.allShown()
}

// allShown: the file of a shuffle that ended opens every place that is public, so that nobody shows
// only those cards of a showdown that suit them. A shuffle without its tape opens nothing.
func (t *transcript) allShown() error {
	if t.ended == nil || t.lost() {
		return nil
	}
	opened := make([]bool, len(t.dealt))
	for _, c := range t.file.Cards {
		opened[c.Place] = true
	}
	for place, d := range t.dealt {
		switch {
		case opened[place] || !d.open():
		case d.revealed:
			return fmt.Errorf("place %d was revealed, and is not opened", place)
		default:
			return fmt.Errorf("place %d was dealt public, as %s, and is not opened", place, d.Purpose)
		}
	}
	return nil
}

// openPlace checks one card: it was dealt, may be in this file, and is what its place shows. A place was
// dealt only if the mix is known (entries).
func (t *transcript) openPlace(c Opened) error {
	if c.Place >= len(t.dealt) {
		return fmt.Errorf("was not dealt, only %d places were", len(t.dealt))
	}
	d := t.dealt[c.Place]
	if to := t.file.Recipient; to != "" && !d.open() && d.Recipient != to {
		return fmt.Errorf("is neither public nor for %s", to)
	}
	if d.Aside() && !d.open() && (t.ended == nil || t.lost()) {
		return fmt.Errorf("is a %s that nobody is to see before the tape is disclosed", d.Purpose)
	}
	return t.bound.Open(c)
}

func (t *transcript) tape() (string, error) {
	switch {
	case t.closed == nil:
		return "", notChecked("the shuffle is open: its tape comes with the close")
	case t.ended == nil:
		return "", notChecked("the shuffle was continued: its tape comes when the last shuffle of its chain is closed")
	case t.lost():
		return "", fmt.Errorf("%s: no tape is disclosed", audit.ReasonTapeLost)
	case t.ended.Form == audit.FormSealed:
		return "", notChecked("the tape is sealed to auditors: that the deck held each card once is for them to " +
			"see, and this file does not show it")
	}
	c, tape := t.commit, t.ended.Tape
	if want := c.Context.Recipe.TapeLen(); len(tape) != want {
		return "", fmt.Errorf("the tape has %d bytes, not %d", len(tape), want)
	}
	if openings.Commitment(c.Context.Encode(), tape) != c.Commitment {
		return "", errors.New("the tape does not open the commitment")
	}
	return fmt.Sprintf("%d bytes open the commitment", len(tape)), nil
}

// order recomputes the shuffle from the tape, and all salts with it.
func (t *transcript) order() (string, error) {
	if t.ended == nil || t.ended.Form != audit.FormTape {
		return "", notChecked("no tape to recompute it from")
	}
	c := t.commit
	out, err := c.Context.Recipe.Run(t.ended.Tape)
	if err != nil {
		return "", err
	}
	if out.EndAt != 0 {
		t.v.EndAt = out.EndAt
	}
	if p := c.Context.Parent; p != nil {
		return "", notChecked(fmt.Sprintf("its cards are those of shuffle %d, which has a file of its own", p.ID))
	}
	if openings.DeckRoot(c.Commitment, c.Context.Encode(), t.ended.Tape, out.Values) != tlog.Hash(c.DeckRoot) {
		return "", errors.New("the recomputed order does not lead to the deck root")
	}
	t.values = out.Values
	return many(len(t.values), "position", "positions") + " recomputed from the tape lead to the deck root", nil
}

// cards compares the opened cards with the recomputed order. After the steps openings and order
// they differ only if SHA-256 is broken. It is the one step that a reader can repeat by eye.
func (t *transcript) cards() (string, error) {
	if t.values == nil {
		return "", notChecked("no recomputed order to compare with")
	}
	for _, c := range t.file.Cards {
		if v := t.values[c.Position]; v != c.Value {
			return "", fmt.Errorf("place %d: position %d has value %d, not %d", c.Place, c.Position, v, c.Value)
		}
	}
	return many(len(t.file.Cards), "card", "cards") + " as recomputed", nil
}

// shown lists the cards of a file that holds.
func (t *transcript) shown() []CardShown {
	var shown []CardShown
	shows, _ := t.bound.Shows() // openings found every value in its range
	for _, c := range t.file.Cards {
		d := t.dealt[c.Place]
		s := t.show(c, d.Run, shows)
		s.Revealed = d.revealed
		shown = append(shown, s)
	}
	return shown
}

// show describes a card of a run; shows is what Bound.Shows returns.
func (t *transcript) show(c openings.Card, run audit.Run, shows []uint32) CardShown {
	s := CardShown{Place: c.Place, Position: c.Position, Value: c.Value, Name: c.Card,
		Purpose: run.Purpose.String(), Recipient: run.Recipient, Public: run.Public, Round: run.Round}
	if shows != nil {
		s.Shows = shows[c.Position]
		if t.means != nil {
			s.Label = t.means.Label(s.Shows)
		}
	}
	return s
}

// unplayedCards returns what the places of a co-dealer's deal that was not played would have shown.
func (t *transcript) unplayedCards(d *audit.Deal) (cards []CardShown) {
	shows, _ := t.bound.Shows()
	runs := maps.Collect(d.Places())
	for _, c := range t.file.CoDealer.Unplayed {
		cards = append(cards, t.show(c, runs[c.Place], shows))
	}
	return cards
}
