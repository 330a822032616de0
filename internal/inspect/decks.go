package inspect

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

// deckMemory is how many decks, and how many documents of terms, are remembered. If there are more, some are read
// again, which costs time and changes nothing.
const deckMemory = 1 << 16

// memory remembers what was read under a hash. All workers share it.
type memory[T any] struct {
	mu    sync.Mutex
	known map[[32]byte]func() (T, error)
}

// read returns what is known under a hash. from reads it, if nobody did before.
func (m *memory[T]) read(hash [32]byte, from func() (T, error)) (T, error) {
	m.mu.Lock()
	known := m.known[hash]
	if known == nil {
		if m.known == nil || len(m.known) >= deckMemory {
			m.known = make(map[[32]byte]func() (T, error))
		}
		known = sync.OnceValues(from)
		m.known[hash] = known
	}
	m.mu.Unlock()
	return known()
}

// checkDeck returns what is wrong with the deck that a commit of cards names, as a *Damage.
func (r *run) checkDeck(ctx context.Context, c *audit.Context) error {
	cards, err := r.decks.read(c.DeckHash, func() (int, error) {
		deck, err := r.src.Deck(ctx, c.DeckHash)
		return deck.Len(), err
	})
	if err == nil && c.Parent == nil && cards != c.Recipe.Cards {
		err = &Damage{fault(CodeDeck, "", "a shuffle of %d cards of a deck of %d", c.Recipe.Cards, cards)}
	}
	return err
}

// checkTerms returns what is wrong with the document of terms that a commit names, if it names one, as a *Damage.
func (r *run) checkTerms(ctx context.Context, c *audit.Context) error {
	if c.Terms == nil || c.Terms.Kind == audit.TermsTicketList {
		return nil
	}
	document, err := r.documents.read(c.Terms.Hash, func() (*terms.Document, error) {
		b, where, err := r.src.Terms(ctx, c.Terms.Hash)
		if err != nil {
			return nil, err
		}
		read, err := terms.Parse(c.Terms.Kind, b)
		if err != nil {
			err = &Damage{fault(CodeTerms, where, "%v", err)}
		}
		return read, err
	})
	if err != nil {
		return err
	}
	if err := document.Of(c); err != nil {
		return &Damage{fault(CodeTerms, "", "%v", err)}
	}
	return nil
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
