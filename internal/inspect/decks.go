package inspect

import (
	"context"
	"errors"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// deckMemory is how many decks are remembered. Of more than so many, some are
// read again, which costs time and changes nothing.
const deckMemory = 1 << 16

// decks remembers the decks that were read. It is for all workers.
type decks struct {
	mu    sync.Mutex
	known map[[32]byte]deck
}

// deck is what is known of one: its length, or what is wrong with it.
type deck struct {
	cards int
	fault *Fault
}

// check holds the deck of a commit of cards against what the source keeps.
func (d *decks) check(ctx context.Context, src Source, c *audit.Context, p *parsed) error {
	got, err := d.get(ctx, src, c.DeckHash)
	if err != nil {
		return err
	}
	switch {
	case got.fault != nil:
		p.noDeck = got.fault
	case c.Parent == nil && got.cards != c.Recipe.Cards:
		f := fault(CodeDeck, "", "a shuffle of %d cards of a deck of %d", c.Recipe.Cards, got.cards)
		p.noDeck = &f
	}
	return nil
}

func (d *decks) get(ctx context.Context, src Source, hash [32]byte) (deck, error) {
	d.mu.Lock()
	got, ok := d.known[hash]
	d.mu.Unlock()
	if ok {
		return got, nil
	}
	cards, where, err := src.Deck(ctx, hash)
	var damage *Damage
	switch {
	case errors.As(err, &damage):
		got.fault = &damage.Fault
	case err != nil:
		return got, err
	default:
		read, err := shuffle.NewDeck(cards)
		if err != nil {
			f := fault(CodeDeck, where, "%v", err)
			got.fault = &f
		} else if read.Hash() != hash {
			f := fault(CodeDeck, where, "the list of cards has another hash")
			got.fault = &f
		}
		got.cards = len(cards)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known) >= deckMemory {
		clear(d.known)
	}
	d.known[hash] = got
	return got, nil
}
