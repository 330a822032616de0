package load

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// committed is a shuffle whose commit is proved.
type committed struct {
	commit *audit.Commit
	shown  map[uint32]bool // the values dealt of it; the checker's mu guards them
}

// commitOf returns the shuffle of a deal or close.
func (c *checker) commitOf(k *claim) (*committed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.shuffles[k.shuffle]
	if !ok {
		return nil, fmt.Errorf("the commit of shuffle %d is not proved", k.shuffle)
	}
	return s, nil
}

// opened verifies the cards of a deal against the deck root of their commit.
func (c *checker) opened(k *claim, runs []audit.Run, cards []openings.Card) error {
	s, err := c.commitOf(k)
	if err != nil {
		return err
	}
	place := k.first
	for _, r := range runs {
		for end := place + r.Count; place < end; place++ {
			if r.Aside() {
				continue // opens nothing
			}
			if len(cards) == 0 {
				return fmt.Errorf("place %d of shuffle %d is not opened", place, k.shuffle)
			}
			if err := c.open(s, place, cards[0]); err != nil {
				return fmt.Errorf("place %d of shuffle %d: %w", place, k.shuffle, err)
			}
			cards = cards[1:]
		}
	}
	if len(cards) > 0 {
		return fmt.Errorf("shuffle %d: %d cards more than were dealt", k.shuffle, len(cards))
	}
	return nil
}

// open checks that one card is at its place, which is its position because there is no mix, belongs to the
// deck, is in the tree, and is dealt once.
func (c *checker) open(s *committed, place int, card openings.Card) error {
	if card.Place != place || card.Position != place {
		return fmt.Errorf("the card is of place %d and position %d", card.Place, card.Position)
	}
	if n := c.deck.Len(); n > 0 && (card.Value >= uint32(n) || c.deck.Card(card.Value) != card.Card) {
		return fmt.Errorf("%q is not card %d of the deck", card.Card, card.Value)
	}
	o, err := card.Opening()
	if err != nil {
		return err
	}
	if err := o.Check(openings.TagOf(s.commit), s.commit.DeckRoot, s.commit.Context.Recipe.Positions()); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.shown[o.Value] {
		return fmt.Errorf("card %d was dealt before", o.Value)
	}
	if s.shown == nil {
		s.shown = make(map[uint32]bool)
	}
	s.shown[o.Value] = true
	c.cards++
	return nil
}

// recomputed verifies the tape of a close, if it is disclosed to everybody, against the commitment.
func (c *checker) recomputed(k *claim, b *audit.Close) error {
	s, err := c.commitOf(k)
	if err != nil || b.Form != audit.FormTape {
		return err
	}
	ctx := s.commit.Context
	context := ctx.Encode()
	if openings.Commitment(context, b.Tape) != s.commit.Commitment {
		return fmt.Errorf("the tape of shuffle %d does not open its commitment", k.shuffle)
	}
	out, err := ctx.Recipe.Run(b.Tape)
	if err != nil {
		return fmt.Errorf("shuffle %d: %w", k.shuffle, err)
	}
	if openings.DeckRoot(s.commit.Commitment, context, b.Tape, out.Values) != tlog.Hash(s.commit.DeckRoot) {
		return fmt.Errorf("the tape of shuffle %d does not lead to its deck root", k.shuffle)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tapes++
	return nil
}

// plain reports whether a commit is of the requested deck, whole and without a mix; a deck that this build
// does not know is accepted.
func plain(b *audit.Commit, deck shuffle.Deck) error {
	switch ctx := b.Context; {
	case deck.Len() > 0 && ctx.DeckHash != deck.Hash():
		return errors.New("is of another deck")
	case ctx.Parent != nil || len(ctx.Plan) > 0 || deck.Len() > 0 && ctx.Recipe.Positions() != deck.Len():
		return errors.New("is not of a whole deck, shuffled once")
	}
	return nil
}
