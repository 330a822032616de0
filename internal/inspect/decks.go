package inspect

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

// deckMemory is how many decks are remembered. If there are more, some are read again,
// which costs time and changes nothing.
const deckMemory = 1 << 16

// decks remembers the decks and the documents of terms that were read. All workers share it.
type decks struct {
	mu    sync.Mutex
	known map[[32]byte]func() (deck, error)
}

// deck is what is known of a deck or a document of terms.
type deck struct {
	cards    int             // of a deck
	document *terms.Document // of terms
	fault    *Fault          // what is wrong with it; nil: nothing
}

// check returns what is wrong with the deck that a commit of cards names, nil for nothing.
func (d *decks) check(ctx context.Context, src Source, c *audit.Context) (*Fault, error) {
	got, err := d.remembered(c.DeckHash, func() (deck, error) {
		read, err := src.Deck(ctx, c.DeckHash)
		return deck{cards: read.Len()}, err
	})
	if err == nil && got.fault == nil && c.Parent == nil && got.cards != c.Recipe.Cards {
		return new(fault(CodeDeck, "", "a shuffle of %d cards of a deck of %d", c.Recipe.Cards, got.cards)), nil
	}
	return got.fault, err
}

// checkTerms returns what is wrong with the document of terms that a commit names, nil for nothing or none.
func (d *decks) checkTerms(ctx context.Context, src Source, c *audit.Context) (*Fault, error) {
	if c.Terms == nil || c.Terms.Kind == audit.TermsTicketList {
		return nil, nil
	}
	got, err := d.remembered(c.Terms.Hash, func() (deck, error) {
		document, where, err := src.Terms(ctx, c.Terms.Hash)
		if err != nil {
			return deck{}, err
		}
		read, err := terms.Parse(c.Terms.Kind, document)
		if err != nil {
			err = &Damage{fault(CodeTerms, where, "%v", err)}
		}
		return deck{document: read}, err
	})
	if err != nil || got.fault != nil {
		return got.fault, err
	}
	if err := got.document.Of(c); err != nil {
		return new(fault(CodeTerms, "", "%v", err)), nil
	}
	return nil, nil
}

// remembered returns what is known under a hash, or reads it. A *Damage from read is what is known, too. Any other
// error ends the run.
func (d *decks) remembered(hash [32]byte, read func() (deck, error)) (deck, error) {
	d.mu.Lock()
	known := d.known[hash]
	if known == nil {
		if len(d.known) >= deckMemory {
			clear(d.known)
		}
		known = sync.OnceValues(read)
		d.known[hash] = known
	}
	d.mu.Unlock()
	got, err := known()
	if damage, ok := errors.AsType[*Damage](err); ok {
		got.fault, err = &damage.Fault, nil
	}
	return got, err
}

// named says what a commit shuffles. Which cards of a deck a child has was chosen by the house.
func named(c *audit.Context) string {
	deck, published := shuffle.Published(c.DeckHash)
	name := deck.Name()
	if !published {
		name = "no published deck, of the hash " + base64.StdEncoding.EncodeToString(c.DeckHash[:])
	}
	switch m := c.Recipe.Positions(); {
	case c.IsNumbers():
		return fmt.Sprintf("%d of the numbers 1 to %d", m, c.Of)
	case c.IsDraw():
		return fmt.Sprintf("%d drawn values", m)
	case c.ForLedger != "":
		return "an order for " + c.ForLedger
	case c.Parent != nil:
		return "cards chosen from a shuffle of " + name
	default:
		return fmt.Sprintf("%d of %d cards of %s", m, c.Recipe.Cards, name)
	}
}
