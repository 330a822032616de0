package dealer

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/near"
	"shuffled/internal/shuffle"
)

// AnyDeck among Config.Decks lets the ledger commit every deck.
const AnyDeck = "any"

// ErrDeck reports a deck that the settings do not let the ledger commit.
var ErrDeck = errors.New("the settings of the ledger do not allow the deck")

// allowed returns ErrDeck for a deck that no setting names. That stops who has a dealer's token, and not the house. A
// child has the deck of its parent, and an order for another ledger is of positions by its rule.
func (d *Dealer) allowed(a *asked) error {
	if a.deck.Len() == 0 || a.context.ForLedger != "" ||
		allows(d.cfg.Decks, d.cfg.Ledger.Genesis().Production, a.deck) {
		return nil
	}
	return fmt.Errorf("%w: %s, of the hash %s, is not in \"decks\" of the ledger", ErrDeck,
		cmp.Or(a.deck.Name(), "a deck without a name"), base64Of(a.deck))
}

func allows(decks []string, production bool, deck shuffle.Deck) bool {
	if len(decks) == 0 {
		_, published := shuffle.Published(deck.Hash())
		return published || !production
	}
	return slices.ContainsFunc(decks, func(name string) bool {
		named, ok := shuffle.Named(name)
		return name == AnyDeck || name == base64Of(deck) || ok && named.Hash() == deck.Hash()
	})
}

func base64Of(deck shuffle.Deck) string {
	hash := deck.Hash()
	return base64.StdEncoding.EncodeToString(hash[:])
}

// PublishedDecks returns the decks that a request may name.
func PublishedDecks() (all []shuffle.Deck) {
	for _, name := range shuffle.Names() {
		deck, _ := shuffle.Named(name)
		all = append(all, deck)
	}
	return all
}

// DeckName returns the name of a published deck, "" for any other hash.
func DeckName(hash [32]byte) string {
	deck, _ := shuffle.Published(hash)
	return deck.Name()
}

// DeckHash returns the hash of a published deck. For any other name, rule says what a deck must be named.
func DeckHash(name string) (hash [32]byte, rule string) {
	deck, ok := shuffle.Named(name)
	if !ok {
		rule = unpublished(name)
	}
	return deck.Hash(), rule
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
