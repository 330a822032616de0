package inspect

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/beacon"
	"shuffled/internal/shuffle"
	"shuffled/internal/terms"
)

// deckMemory is how many decks, and how many documents of terms, are remembered. If there are more, some are read
// again, which costs time and changes nothing.
const deckMemory = 1 << 16

// memory remembers what was read under a hash. All workers share it.
type memory[T any] = lru.Cache[[32]byte, func() (T, error)]

// remembered returns what a memory has for a key, which is now from if it had nothing.
func remembered[K comparable, F any](m *lru.Cache[K, F], key K, from F) F {
	if known, ok, _ := m.PeekOrAdd(key, from); ok {
		return known
	}
	return from
}

// checkDeck returns what is wrong with the deck that a commit of cards names, as a *Damage.
func (r *run) checkDeck(ctx context.Context, c *audit.Context) error {
	cards, err := remembered(r.decks, c.DeckHash, sync.OnceValues(func() (int, error) {
		deck, err := r.src.Deck(ctx, c.DeckHash)
		return deck.Len(), err
	}))()
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
	document, err := remembered(r.documents, c.Terms.Hash, sync.OnceValues(func() (*terms.Document, error) {
		b, where, err := r.src.Terms(ctx, c.Terms.Hash)
		if err != nil {
			return nil, err
		}
		read, err := terms.Parse(c.Terms.Kind, b)
		if err != nil {
			err = &Damage{fault(CodeTerms, where, "%v", err)}
		}
		return read, err
	}))()
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

// TicketList is the hash of a list of tickets that the caller has.
type TicketList struct {
	Name string // for the report
	terms.List
}

// Tickets are figures about the shuffles that are drawn from lists of tickets.
type Tickets struct {
	Shuffles uint64     `json:"shuffles"` // of the period, that name a list
	Seen     uint64     `json:"seen"`     // of them, those whose list the caller has
	Mixed    uint64     `json:"mixed"`    // of them, at the level mixed: in others the house could choose the winner
	Lists    []SeenList `json:"lists"`    // that the caller has
}

// SeenList is a list that the caller has.
type SeenList struct {
	Name     string `json:"name"`
	Count    uint64 `json:"count"`
	Root     string `json:"root"`     // base64
	Shuffles uint64 `json:"shuffles"` // of any time, that are drawn from it
}

// drawn compares the list of tickets that a commit names with those that were given.
func (f *fold) drawn(l *live, t *audit.Terms, index uint64) {
	if t == nil || t.Kind != audit.TermsTicketList {
		return
	}
	l.Tickets = true
	seen := false
	for i, g := range f.opts.Tickets {
		if g.Root != t.Hash {
			continue
		}
		f.drawnFrom[i] = true
		if g.Count != t.Count { // a root alone does not fix the count
			f.faults.add(fault(CodeTerms, "", "the shuffle is of %d tickets, and the list of this root, %s, has %d",
				t.Count, g.Name, g.Count).at(index).of(index))
			continue
		}
		f.report.Tickets.Lists[i].Shuffles++
		seen = true
	}
	if !f.counts(l) {
		return
	}
	f.report.Tickets.Shuffles++
	if seen {
		f.report.Tickets.Seen++
	}
}

// unnamed reports the lists that were given and that no commit names. If an entry is lost, it may name one.
func (f *fold) unnamed() {
	if len(f.lost) > 0 || f.broken {
		return
	}
	for i, g := range f.report.Tickets.Lists {
		if !f.drawnFrom[i] {
			f.faults.add(fault(CodeTerms, g.Name, "no shuffle of the ledger is drawn from this list of %d tickets with the root %s",
				g.Count, g.Root))
		}
	}
}

// roundCheck reports whether a beacon's value is the chain's signature of the round. All mixes with this round and
// value share it: a check costs milliseconds, and a busy house mixes many shuffles in one round. A worker calls it
// first. The fold asks it for that batch and later ones.
type roundCheck func() bool

// beaconValue is the value that a mix has for a round of a chain.
type beaconValue struct {
	round uint64
	value [beacon.Size]byte
}

// mixCheck is a mix whose beacon is to be checked.
type mixCheck struct {
	beaconValue
	holds     roundCheck
	id, index uint64 // of the shuffle, of the mix
}

// mixed sends the beacon of a mix to be checked. A mix that breaks a rule may have other
// values than its plan, and the rule named it.
func (f *fold) mixed(m *audit.Mix, index uint64, o rules.Opened, legal bool) {
	l := f.live[m.Shuffle]
	if !legal || o.ID == 0 || l == nil {
		return
	}
	if l.told != nil {
		l.told.Mix = m
	}
	p, planned := o.Commit().Context.Beacon()
	if !planned || p.Chain != audit.Quicknet {
		return
	}
	x := beaconValue{p.Round, *m.Beacon()}
	l.Beacon = remembered(f.checks, x, sync.OnceValue(func() bool { return beacon.Verify(x.round, x.value) == nil }))
	f.batch.rounds = append(f.batch.rounds, mixCheck{x, l.Beacon, m.Shuffle, index})
}

// checkMemory is how many checks are remembered. If there are more, some are made again,
// which costs time and changes nothing.
const checkMemory = 1 << 12

// mixedForAll reports whether a witnessed shuffle whose beacon holds leaves nothing to the
// house (docs/SPEC.md section 10.5).
func (l *live) mixedForAll(o rules.Opened) bool {
	return l.InTime && l.Beacon != nil && beacon.Steered(o.Commit().Context) == nil
}
