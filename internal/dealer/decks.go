package dealer

import (
	"context"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/near"
	"shuffled/internal/shuffle"
)

// newDecks returns the deck to be written with a commit, because receipts have only its hash. It
// returns none for a published deck that the store has, for a draw list and for a child.
func (d *Dealer) newDecks(a *asked) []ledger.Deck {
	if a.deck.Len() == 0 {
		return nil
	}
	hash := a.deck.Hash()
	if _, ok := d.decks.Load(hash); ok {
		return nil
	}
	return []ledger.Deck{{Hash: hash, Cards: a.deck.Cards()}}
}

// PublishedDecks returns the decks that a request may name.
func PublishedDecks() (all []shuffle.Deck) {
	for _, name := range shuffle.Names() {
		deck, _ := shuffle.Named(name)
		all = append(all, deck)
	}
	return all
}

// unpublished says what a deck must be named, and which published name is like this one.
func unpublished(name string) string {
	return "must be one of the published decks, such as standard-52 or shoe-8." + near.Hint(name, shuffle.Names())
}

// deckNames returns the card names of a shuffle, nil for a draw list.
func (d *Dealer) deckNames(ctx context.Context, c *audit.Context) ([]string, error) {
	if c.IsDraw() {
		return nil, nil
	}
	if deck, ok := shuffle.Published(c.DeckHash); ok {
		return deck.Cards(), nil
	}
	cards, err := d.cfg.Store.Deck(ctx, d.cfg.Ledger.ID(), c.DeckHash)
	if err != nil {
		return nil, fmt.Errorf("reading the deck: %w", ledger.Unavailable(err))
	}
	if deck, err := shuffle.NewDeck(cards); err != nil || deck.Hash() != c.DeckHash {
		return nil, fmt.Errorf("%w: the stored deck is not the deck of the commit", ledger.ErrFrozen)
	}
	return slices.Clip(cards), nil
}
