package client

import (
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// terms are what both kinds of request say besides their cards or values.
type terms struct {
	table, key string
	mix        *MixPlan
	disclosure *Disclosure
	closeBy    *Timestamp
	gameRef    *Name
	bound      *BoundTerms
	forLedger  *Origin
}

func (r *ShuffleRequest) terms(key string) *terms {
	return &terms{r.Table, key, r.Mix, r.Disclosure, r.CloseBy, r.GameRef, r.Terms, r.ForLedger}
}

func (r *DrawsRequest) terms(key string) *terms {
	return &terms{r.Table, key, r.Mix, r.Disclosure, r.CloseBy, r.GameRef, r.Terms, r.ForLedger}
}

// context begins the context of the commit that was asked for. What the request leaves
// to the daemon is as in got.
func (t *terms) context(got *audit.Context) *audit.Context {
	c := &audit.Context{Table: t.table, Disclosure: got.Disclosure, ForLedger: deref(t.forLedger)}
	if t.disclosure != nil {
		c.Disclosure = audit.ParseDisclosure(string(*t.disclosure))
	}
	if b := t.bound; b != nil {
		c.Terms = &audit.Terms{Kind: audit.ParseTermsKind(string(b.Kind)), Count: deref(b.Count), Hash: b.Hash}
	}
	if t.mix == nil {
		return c
	}
	if named, ok := got.CoDealer(); ok && t.mix.CoDealer != nil {
		c.Plan = append(c.Plan, named) // which order of the co-dealer it is, the daemon chooses
	}
	for _, h := range t.mix.Slots {
		c.Plan = append(c.Plan, audit.Planned{Source: audit.SourceSlot, Slot: h})
	}
	if b := t.mix.Beacon; b != nil {
		p := audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet, Round: deref(b.Round)}
		if i := len(c.Plan); b.Round == nil && i < len(got.Plan) {
			p.Round = got.Plan[i].Round
		}
		c.Plan = append(c.Plan, p)
	}
	if t.mix.Cut != nil {
		c.Plan = append(c.Plan, audit.Planned{Source: audit.SourceCut})
	}
	return c
}

// wants is the context that a request for cards asks for.
func (r *ShuffleRequest) wants(t *terms, got *audit.Context, parent *Committed) *audit.Context {
	c := t.context(got)
	if parent != nil {
		c.DeckHash, c.Parent = parent.commit.Context.DeckHash, &audit.Parent{ID: parent.ID}
		c.Terms = parent.commit.Context.Terms
		for _, p := range r.Parent.Positions {
			if p < 0 || p >= shuffle.MaxCards {
				p = shuffle.MaxCards // no parent has it
			}
			c.Parent.Positions = append(c.Parent.Positions, uint16(p))
		}
		if r.Parent.Positions == nil && got.Parent != nil {
			c.Parent.Positions = parent.undealt(len(got.Parent.Positions))
		}
		c.Recipe.Cards = len(c.Parent.Positions)
	} else if deck, ok := requested(r.Deck, r.Cards); ok {
		c.DeckHash, c.Recipe.Cards = deck.Hash(), deck.Len()
	}
	c.Recipe.Take = c.Recipe.Cards
	if r.Take != nil {
		c.Recipe.Take = *r.Take
	}
	switch e := deref(r.EndAt); {
	case e.Lo == e.Hi:
		c.EndAt = e.Lo
	default:
		c.Recipe.EndLo, c.Recipe.EndHi = e.Lo, e.Hi
	}
	return c
}

// undealt returns the positions of the last n places, ascending; nil if the client saw one
// of them dealt. Others may have dealt since this client saw the shuffle.
func (s *Committed) undealt(n int) []uint16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.Places() - n
	if first < s.play.next || !s.play.ordered {
		return nil
	}
	left := make([]uint16, 0, n)
	for place := first; place < s.Places(); place++ {
		left = append(left, uint16(s.play.order.Position(place)))
	}
	slices.Sort(left)
	return left
}

// wants is the context that a request for draws asks for. labels are those of a wheel.
func (r *DrawsRequest) wants(t *terms, got *audit.Context, labels []string) *audit.Context {
	c := t.context(got)
	if r.Numbers != nil {
		// A daemon refuses what cannot be taken, and a commit without numbers is another one.
		_ = c.TakeNumbers(r.Numbers.Of, r.Numbers.Take)
		return c
	}
	if labels == nil {
		c.Recipe.Ranges = r.Ranges
		return c
	}
	c.Recipe.Take = 1
	if deck, err := shuffle.NewDeck(labels); err == nil {
		c.DeckHash, c.Recipe.Cards = deck.Hash(), deck.Len()
	}
	return c
}

// differs says where the commit is not what was asked for, or "".
func (s *Committed) differs(t *terms, want *audit.Context) string {
	got, tag := s.commit.Context, audit.KeyTag(s.commit.Context.Origin, s.by.Identity, t.table, t.key)
	r, w := got.Recipe, want.Recipe
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
	case t.closeBy != nil && s.commit.CloseBy != t.closeBy.UnixMilli():
		return "it is to be closed at another time"
	case s.commit.GameRef != deref(t.gameRef):
		return "it is of another game"
	case !s.continues(want.Parent):
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

// continues reports whether these are the parent and the cards of it that the commit has;
// nil is none.
func (s *Committed) continues(want *audit.Parent) bool {
	got := s.commit.Context.Parent
	if got == nil || want == nil {
		return got == want
	}
	return got.ID == want.ID && got.ID < s.ID && slices.Equal(got.Positions, want.Positions)
}
