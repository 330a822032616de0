package verify

import (
	"errors"
	"fmt"
	"maps"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

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
