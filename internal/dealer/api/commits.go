package api

import (
	"cmp"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/near"
	"shuffled/internal/shuffle"
)

// Context validates r and returns the context of its commit, and the deck. The dealer fills in what a
// child has from its parent.
func (r *ShuffleRequest) Context(g *audit.Genesis) (*audit.Context, shuffle.Deck, error) {
	none := shuffle.Deck{}
	c, err := r.context(g)
	if err != nil {
		return nil, none, err
	}
	if r.Parent != nil {
		return c, none, r.Parent.validate(r)
	}
	deck, err := r.deck()
	if err != nil {
		return nil, none, err
	}
	c.DeckHash = deck.Hash()
	return c, deck, r.TakeOf(c, deck.Len())
}

// TakeOf sets how many of n cards are committed, and the place of the cut card.
func (r *ShuffleRequest) TakeOf(c *audit.Context, n int) error {
	c.Recipe = shuffle.Recipe{Cards: n, Take: n}
	if r.Take != nil {
		if c.Recipe.Take = *r.Take; *r.Take < 1 || *r.Take > n {
			return Invalid("take", fmt.Sprintf("must be 1 to %d, the number of cards", n))
		}
	}
	if r.EndAt == nil {
		return nil
	}
	lo, hi := r.EndAt.Lo, r.EndAt.Hi
	if lo < 1 || hi < lo || hi > c.Recipe.Take {
		return Invalid("end_at", fmt.Sprintf("must be a place from 1 to %d, the number of cards taken, or lo and hi with lo < hi",
			c.Recipe.Take))
	}
	if lo == hi {
		c.EndAt = lo
	} else {
		c.Recipe.EndLo, c.Recipe.EndHi = lo, hi
	}
	return nil
}

func (r *ShuffleRequest) deck() (shuffle.Deck, error) {
	switch {
	case (r.Deck == "") == (r.Cards == nil):
		return shuffle.Deck{}, Invalid("deck", "or \"cards\" must be given, and not both")
	case r.Cards != nil:
		d, err := shuffle.NewDeck(r.Cards)
		if err != nil {
			return d, Invalid("cards", "must keep this rule: "+err.Error())
		}
		return d, nil
	}
	d, ok := shuffle.Named(r.Deck)
	if !ok {
		return d, Invalid("deck", unpublished(r.Deck))
	}
	return d, nil
}

// context validates the members that both kinds of request have, and returns a context that has them.
func (r *ShuffleRequest) context(g *audit.Genesis) (*audit.Context, error) {
	if r.Table == "" {
		return nil, NoValue("table", "must be given")
	}
	if err := audit.CheckName(r.Table); err != nil {
		return nil, Invalid("table", err.Error())
	}
	if err := audit.CheckName(r.GameRef); err != nil && r.GameRef != "" {
		return nil, Invalid("game_ref", err.Error())
	}
	if r.CloseBy != nil && (*r.CloseBy < 1 || *r.CloseBy > audit.MaxInteger) {
		return nil, Invalid("close_by", "must be a time after the request")
	}
	if err := audit.CheckOrigin(r.ForLedger); err != nil && r.ForLedger != "" {
		return nil, Invalid("for_ledger", err.Error())
	}
	plan, err := r.Plan.planned()
	return &audit.Context{Origin: g.Origin, Production: g.Production, Table: r.Table, Terms: r.Terms,
		Disclosure: cmp.Or(r.Disclosure, g.Disclosure), ForLedger: r.ForLedger, Plan: plan}, err
}

// validate refuses members that a request with a parent may not have, or that are wrong.
func (p *Parent) validate(r *ShuffleRequest) error {
	switch {
	case r.Terms != nil:
		return Invalid("terms", "must be left out: a child has the terms of its parent")
	case r.Deck != "" || r.Cards != nil:
		return Invalid("parent", "must be given without deck and cards, because a child has the deck of its parent")
	case p.ID < 1 || p.ID > audit.MaxInteger:
		return Invalid("parent.id", "must be the id of an open shuffle")
	case p.Positions != nil && (len(p.Positions) < shuffle.MinCards || len(p.Positions) > shuffle.MaxCards):
		return Invalid("parent.positions",
			fmt.Sprintf("must have %d to %d positions", shuffle.MinCards, shuffle.MaxCards))
	}
	seen := make(map[uint16]bool, len(p.Positions))
	for i, at := range p.Positions {
		if seen[at] || int(at) >= shuffle.MaxCards {
			return Invalid(fmt.Sprintf("parent.positions[%d]", i), "must be a position of the parent that is not named twice")
		}
		seen[at] = true
	}
	return nil
}

// planned is the plan as a context has it. The dealer fills in the round of a beacon, if the request names none.
func (p *MixPlan) planned() (plan []audit.Planned, err error) {
	if p == nil {
		return nil, nil
	}
	if p.CoDealer {
		plan = append(plan, audit.Planned{Source: audit.SourceCoDealer}) // the dealer fills it in
	}
	for i, slot := range p.Slots {
		if slices.Contains(p.Slots[:i], slot) {
			return nil, Invalid(fmt.Sprintf("mix.slots[%d]", i), "must not repeat an earlier slot hash")
		}
		plan = append(plan, audit.Planned{Source: audit.SourceSlot, Slot: slot})
	}
	if p.Beacon != nil {
		beacon := audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet}
		if p.Beacon.Round != nil {
			if beacon.Round = *p.Beacon.Round; beacon.Round < 1 || beacon.Round > audit.MaxInteger {
				return nil, NoValue("mix.beacon.round", "must be a round from 1")
			}
		}
		plan = append(plan, beacon)
	}
	if p.Cut {
		plan = append(plan, audit.Planned{Source: audit.SourceCut})
	}
	switch {
	case p.Slots != nil && len(p.Slots) == 0:
		return nil, NoValue("mix.slots", "must not be empty")
	case len(plan) == 0:
		return nil, Invalid("mix", "must name at least one of co_dealer, slots, beacon and cut")
	case len(plan) > audit.MaxSources:
		return nil, Invalid("mix", fmt.Sprintf("must have at most %d sources", audit.MaxSources))
	}
	return plan, nil
}

// Places returns how many places the shuffle has, as far as the request shows.
func (r *ShuffleRequest) Places() int {
	if r.Parent != nil {
		return len(r.Parent.Positions)
	}
	deck, _ := r.deck()
	return deck.Len()
}

// Context validates r and returns the context of its commit. A wheel is a shuffle of cards, one for
// each unit of weight, of which one is taken: context returns its deck.
func (r *DrawsRequest) Context(g *audit.Genesis) (*audit.Context, shuffle.Deck, error) {
	none := shuffle.Deck{}
	common := ShuffleRequest{Table: r.Table, Plan: r.Plan, Disclosure: r.Disclosure, CloseBy: r.CloseBy,
		GameRef: r.GameRef, Terms: r.Terms, ForLedger: r.ForLedger}
	c, err := common.context(g)
	if err != nil {
		return nil, none, err
	}
	given := 0
	for _, there := range []bool{r.Ranges != nil, r.Numbers != nil, r.Wheel != nil} {
		if there {
			given++
		}
	}
	if given != 1 {
		return nil, none, Invalid("ranges", "or \"numbers\" or \"wheel\" must be given, and only one of them")
	}
	if r.Wheel == nil {
		return c, none, r.draws(c)
	}
	names, err := r.stops()
	if err != nil {
		return nil, none, err
	}
	deck, err := shuffle.NewDeck(names)
	if err != nil {
		return nil, none, Invalid("wheel", "must make a deck: "+err.Error())
	}
	c.DeckHash, c.Recipe = deck.Hash(), shuffle.Recipe{Cards: deck.Len(), Take: 1}
	return c, deck, nil
}

// draws fills in the recipe of ranges or numbers.
func (r *DrawsRequest) draws(c *audit.Context) error {
	if r.Plan != nil && r.Plan.Cut {
		return Invalid("mix.cut", "must be left out, because drawn values keep their places")
	}
	if n := r.Numbers; n != nil {
		if n.Of < shuffle.MinCards || n.Of > shuffle.MaxRange {
			return Invalid("numbers.of", fmt.Sprintf("must be %d to %d", shuffle.MinCards, shuffle.MaxRange))
		}
		if err := c.TakeNumbers(n.Of, n.Take); err != nil {
			return Invalid("numbers.take", fmt.Sprintf("must be 1 to %d, from a total of %d numbers",
				min(n.Of, shuffle.MaxNumbers), n.Of))
		}
		return nil
	}
	if len(r.Ranges) < 1 || len(r.Ranges) > shuffle.MaxCards {
		return Invalid("ranges", fmt.Sprintf("must have 1 to %d ranges", shuffle.MaxCards))
	}
	for i, k := range r.Ranges {
		if k < 1 || k > shuffle.MaxRange {
			return Invalid(fmt.Sprintf("ranges[%d]", i), fmt.Sprintf("must be 1 to %d", shuffle.MaxRange))
		}
	}
	c.Recipe = shuffle.Recipe{Ranges: r.Ranges}
	if err := c.Recipe.Validate(); err != nil {
		return Invalid("ranges", "must need no more than one draw can give, so make several draws: "+err.Error())
	}
	return nil
}

// stops returns the cards of a wheel's deck.
func (r *DrawsRequest) stops() (names []string, err error) {
	for i, s := range r.Wheel {
		if s.Weight < 1 || s.Weight > shuffle.MaxCards-len(names) {
			return nil, Invalid(fmt.Sprintf("wheel[%d].weight", i),
				fmt.Sprintf("must be at least 1, and the sum of all weights at most %d", shuffle.MaxCards))
		}
		names = append(names, slices.Repeat([]string{s.Label}, s.Weight)...)
	}
	return names, nil
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
