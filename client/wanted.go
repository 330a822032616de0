package client

import (
	"cmp"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// common is what a request for draws says besides its values, as a request for cards says it.
func (r *DrawsRequest) common() *ShuffleRequest {
	return &ShuffleRequest{Table: r.Table, Mix: r.Mix, Disclosure: r.Disclosure, CloseBy: r.CloseBy,
		GameRef: r.GameRef, Terms: r.Terms, ForLedger: r.ForLedger}
}

// context begins the context of the commit that was asked for. What the request leaves to the daemon is as in got.
func (r *ShuffleRequest) context(got *audit.Context) *audit.Context {
	c := &audit.Context{Table: r.Table, Disclosure: got.Disclosure, ForLedger: deref(r.ForLedger)}
	if r.Disclosure != nil {
		c.Disclosure = audit.ParseDisclosure(string(*r.Disclosure))
	}
	if b := r.Terms; b != nil {
		c.Terms = &audit.Terms{Kind: audit.ParseTermsKind(string(b.Kind)), Count: deref(b.Count), Hash: b.Hash}
	}
	mix := deref(r.Mix)
	if mix.CoDealer != nil {
		named, _ := got.CoDealer() // which order of the co-dealer it is, the daemon chooses
		named.Source = audit.SourceCoDealer
		c.Plan = append(c.Plan, named)
	}
	for _, h := range mix.Slots {
		c.Plan = append(c.Plan, audit.Planned{Source: audit.SourceSlot, Slot: h})
	}
	if b := mix.Beacon; b != nil {
		named, _ := got.Beacon() // its round counts if the request leaves it to the daemon
		c.Plan = append(c.Plan, audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet,
			Round: *cmp.Or(b.Round, &named.Round)})
	}
	if mix.Cut != nil {
		c.Plan = append(c.Plan, audit.Planned{Source: audit.SourceCut})
	}
	return c
}

// wants is the context that a request for cards asks for, and the deck that it names or lists. What the request leaves
// to the daemon is as in got. A daemon refuses a deck that there is none of: then the deck is empty.
func (r *ShuffleRequest) wants(got *audit.Context, parent *Committed) (c *audit.Context, deck shuffle.Deck) {
	c = r.context(got)
	if parent != nil {
		if r.Disclosure == nil {
			c.Disclosure = parent.commit.Context.Disclosure
		}
		c.DeckHash, c.Parent = parent.commit.Context.DeckHash, &audit.Parent{ID: parent.ID}
		c.Terms = parent.commit.Context.Terms
		for _, p := range r.Parent.Positions {
			c.Parent.Positions = append(c.Parent.Positions, narrow(p))
		}
		if r.Parent.Positions == nil && got.Parent != nil {
			c.Parent.Positions = parent.undealt(len(got.Parent.Positions))
		}
		c.Recipe.Cards = len(c.Parent.Positions)
	} else {
		if deck, _ = shuffle.Named(deref(r.Deck)); r.Cards != nil {
			deck, _ = shuffle.NewDeck(r.Cards)
		}
		c.DeckHash, c.Recipe.Cards = deck.Hash(), deck.Len()
	}
	c.Recipe.Take = *cmp.Or(r.Take, &c.Recipe.Cards)
	if e := deref(r.EndAt); e.Lo == e.Hi {
		c.EndAt = e.Lo
	} else {
		c.Recipe.EndLo, c.Recipe.EndHi = e.Lo, e.Hi
	}
	return c, deck
}

// undealt returns the positions of the last n places in ascending order, nil if the client saw one of them dealt.
// Others may have dealt since this client saw the shuffle.
func (s *Committed) undealt(n int) []uint16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.Places() - n
	if first != s.play.next || !s.play.ordered {
		return nil
	}
	left := make([]uint16, 0, n)
	for place := first; place < s.Places(); place++ {
		left = append(left, uint16(s.play.bound.Order.Position(place)))
	}
	slices.Sort(left)
	return left
}

// wants is the context that a request for draws asks for, and the deck of the labels of a wheel.
func (r *DrawsRequest) wants(got *audit.Context) (c *audit.Context, deck shuffle.Deck) {
	c = r.common().context(got)
	var labels []string // the cards that a wheel stands for, as the daemon makes them
	for _, stop := range r.Wheel {
		for range stop.Weight {
			labels = append(labels, stop.Label)
		}
	}
	switch {
	case r.Numbers != nil:
		// A daemon refuses numbers that cannot be taken. Without them, the context is none that was asked for.
		_ = c.TakeNumbers(r.Numbers.Of, r.Numbers.Take)
	case labels == nil:
		c.Recipe.Ranges = r.Ranges
	default:
		c.Recipe.Take = 1
		deck, _ = shuffle.NewDeck(labels)
		c.DeckHash, c.Recipe.Cards = deck.Hash(), deck.Len()
	}
	return c, deck
}

// differs says how the commit is not what was asked for, or "".
func (s *Committed) differs(key string, req *ShuffleRequest, want *audit.Context) string {
	got, tag := s.commit.Context, audit.KeyTag(s.commit.Context.Origin, s.entry.Actor.Identity, req.Table, key)
	r, w, parent, asked := got.Recipe, want.Recipe, deref(got.Parent), deref(want.Parent)
	switch {
	case got.Table != want.Table:
		return "it is at another table"
	case s.commit.KeyTag != tag:
		return "it is under another idempotency key"
	case !slices.Equal(got.Plan, want.Plan):
		return "its mix plan is another one"
	case got.ForLedger != want.ForLedger:
		return "it is an order for another ledger"
	case got.Disclosure != want.Disclosure:
		return "it is disclosed to others"
	case req.CloseBy != nil && s.commit.CloseBy != req.CloseBy.UnixMilli():
		return "it is to be closed at another time"
	case s.commit.GameRef != deref(req.GameRef):
		return "it is of another game"
	case (got.Parent == nil) != (want.Parent == nil), parent.ID != asked.ID, got.Parent != nil && parent.ID >= s.ID,
		!slices.Equal(parent.Positions, asked.Positions):
		return "it is of another parent, or of other cards of it"
	case got.DeckHash != want.DeckHash, r.Cards != w.Cards, got.Of != want.Of, !slices.Equal(r.Ranges, w.Ranges):
		return "it is of another deck, or of other ranges or numbers"
	case (got.Terms == nil) != (want.Terms == nil) || got.Terms != nil && *got.Terms != *want.Terms:
		return "it has other terms: its values mean something else"
	case r.Take != w.Take:
		return "it takes another number of cards"
	case got.EndAt != want.EndAt, r.EndLo != w.EndLo, r.EndHi != w.EndHi:
		return "its cut card is elsewhere"
	}
	return ""
}
