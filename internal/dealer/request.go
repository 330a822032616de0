package dealer

import (
	"cmp"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// context validates r and returns the context of its commit, and the deck. inherit fills in what a
// child has from its parent.
func (r *ShuffleRequest) context(g *audit.Genesis) (*audit.Context, shuffle.Deck, error) {
	none := shuffle.Deck{}
	c, err := r.common().context(g)
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
	return c, deck, r.take(c, deck.Len())
}

// take sets how many of n cards are committed, and the place of the cut card.
func (r *ShuffleRequest) take(c *audit.Context, n int) error {
	c.Recipe = shuffle.Recipe{Cards: n, Take: n}
	if r.Take != nil {
		if c.Recipe.Take = *r.Take; *r.Take < 1 || *r.Take > n {
			return &RequestError{"take", fmt.Sprintf("must be 1 to %d, the number of cards", n)}
		}
	}
	return r.endAt(c)
}

func (r *ShuffleRequest) deck() (shuffle.Deck, error) {
	switch {
	case (r.Deck == "") == (r.Cards == nil):
		return shuffle.Deck{}, &RequestError{"deck", "or \"cards\" must be given, and not both"}
	case r.Cards != nil:
		d, err := shuffle.NewDeck(r.Cards)
		if err != nil {
			return d, &RequestError{"cards", "must keep this rule: " + err.Error()}
		}
		return d, nil
	}
	d, ok := shuffle.Named(r.Deck)
	if !ok {
		return d, &RequestError{"deck", unpublished(r.Deck)}
	}
	return d, nil
}

func (r *ShuffleRequest) endAt(c *audit.Context) error {
	if r.EndAt == nil {
		return nil
	}
	lo, hi := r.EndAt.Lo, r.EndAt.Hi
	if lo < 1 || hi < lo || hi > c.Recipe.Take {
		return &RequestError{"end_at", fmt.Sprintf("must be a place from 1 to %d, the number of cards taken, or lo and hi with lo < hi",
			c.Recipe.Take)}
	}
	if lo == hi {
		c.EndAt = lo
	} else {
		c.Recipe.EndLo, c.Recipe.EndHi = lo, hi
	}
	return nil
}

// common has the members that requests for cards and for draws share.
type common struct {
	table      string
	plan       *MixPlan
	disclosure audit.Disclosure
	closeBy    *Time
	gameRef    string
	terms      *audit.Terms
	forLedger  string
}

func (r *ShuffleRequest) common() common {
	return common{r.Table, r.Plan, r.Disclosure, r.CloseBy, r.GameRef, r.Terms, r.ForLedger}
}

func (r *DrawsRequest) common() common {
	return common{r.Table, r.Plan, r.Disclosure, r.CloseBy, r.GameRef, r.Terms, r.ForLedger}
}

// context validates the members and returns a context that has them.
func (t common) context(g *audit.Genesis) (*audit.Context, error) {
	if t.table == "" {
		return nil, noValue("table", "must be given")
	}
	if err := audit.CheckName(t.table); err != nil {
		return nil, &RequestError{"table", err.Error()}
	}
	if err := audit.CheckName(t.gameRef); err != nil && t.gameRef != "" {
		return nil, &RequestError{"game_ref", err.Error()}
	}
	if t.closeBy != nil && (*t.closeBy < 1 || *t.closeBy > audit.MaxInteger) {
		return nil, &RequestError{"close_by", "must be a time after the request"}
	}
	if err := audit.CheckOrigin(t.forLedger); err != nil && t.forLedger != "" {
		return nil, &RequestError{"for_ledger", err.Error()}
	}
	c := &audit.Context{Origin: g.Origin, Production: g.Production, Table: t.table, Disclosure: t.disclosure,
		Terms: t.terms, ForLedger: t.forLedger}
	c.Disclosure = cmp.Or(c.Disclosure, g.Disclosure)
	var err error
	c.Plan, err = t.plan.planned()
	return c, err
}

// validate refuses a deal that is wrong whatever the state of the ledger is.
func (r *DealRequest) validate() error {
	if r.First < 0 {
		return noValue("first", "must be given: a place, from 0")
	}
	if r.First > shuffle.MaxCards {
		return &RequestError{"first", fmt.Sprintf("must be a place, 0 to %d", shuffle.MaxCards)}
	}
	if len(r.Runs) < 1 || len(r.Runs) > audit.MaxRuns {
		return &RequestError{"runs", fmt.Sprintf("must have 1 to %d runs", audit.MaxRuns)}
	}
	total := 0
	for i, run := range r.Runs {
		field := func(name string) string { return fmt.Sprintf("runs[%d].%s", i, name) }
		if run.Count < 1 || run.Count > shuffle.MaxCards {
			return &RequestError{field("count"), fmt.Sprintf("must be 1 to %d", shuffle.MaxCards)}
		}
		if run.Purpose < audit.PurposeSeat || run.Purpose > audit.PurposeOrder {
			return noValue(field("purpose"), "must be seat, board, burn, discard, rabbit or order")
		}
		if run.Purpose == audit.PurposeSeat && run.Recipient == "" {
			return &RequestError{field("recipient"),
				"must name who gets the cards of a run with the purpose seat, such as seat-1"}
		}
		if err := audit.CheckName(run.Recipient); err != nil && run.Recipient != "" {
			return &RequestError{field("recipient"), err.Error()}
		}
		if total += run.Count; total > shuffle.MaxCards {
			return &RequestError{"runs", fmt.Sprintf("must deal at most %d places", shuffle.MaxCards)}
		}
	}
	switch {
	case r.Close == nil:
		return nil
	case r.Close.Reason == audit.ReasonTapeLost:
		return &RequestError{"close.reason", "must not be tape_lost: these cards are dealt from the tape"}
	}
	return r.Close.validate("close.")
}

// validate refuses a close that is wrong whatever the state of the ledger is. prefix is put before
// the names of its fields.
func (r *CloseRequest) validate(prefix string) error {
	switch r.Outcome {
	case audit.OutcomeCompleted, audit.OutcomeEndedEarly:
		if r.Reason != audit.ReasonNone {
			return &RequestError{prefix + "reason", "must be given with the outcome void only"}
		}
	case audit.OutcomeVoid:
		if r.Reason == audit.ReasonNone || r.Reason > audit.ReasonCoDealer {
			return &RequestError{prefix + "reason", "must be a reason of the outcome void, such as misdeal, system_fault or game_cancelled"}
		}
	default:
		return noValue(prefix+"outcome", "must be completed, ended_early or void")
	}
	_, err := r.finalReveal(prefix, 0)
	return err
}

// body is the entry that the request asks for. field is the JSON member of its places.
func (r *RevealRequest) body(field string, id uint64) (*audit.Reveal, error) {
	if len(r.Places) < 1 || len(r.Places) > audit.MaxReveals {
		return nil, &RequestError{field, fmt.Sprintf("must name 1 to %d places that were dealt", audit.MaxReveals)}
	}
	b := &audit.Reveal{Shuffle: id, Exposed: r.Exposed}
	for i, place := range r.Places {
		if place < 0 || place >= audit.MaxReveals {
			return nil, &RequestError{fmt.Sprintf("%s[%d]", field, i),
				fmt.Sprintf("must be a place from 0 to %d", audit.MaxReveals-1)}
		}
		b.Places = append(b.Places, uint16(place))
	}
	slices.Sort(b.Places)
	for i := range b.Places[1:] {
		if b.Places[i] == b.Places[i+1] {
			return nil, &RequestError{field, fmt.Sprintf("must name each place once, and names place %d twice", b.Places[i])}
		}
	}
	return b, nil
}

// finalReveal is the reveal that a close asks for in front of itself, nil if it asks for none.
// prefix is put before the names of the request's fields in errors.
func (c *CloseRequest) finalReveal(prefix string, id uint64) (*audit.Reveal, error) {
	if c.Reveal == nil {
		return nil, nil
	}
	if c.Reason == audit.ReasonTapeLost {
		return nil, &RequestError{prefix + "reveal", "must not be given with tape_lost: no card can be opened"}
	}
	req := RevealRequest{Places: c.Reveal}
	body, err := req.body(prefix+"reveal", id)
	if err == nil {
		body.Final = true
	}
	return body, err
}

// validate refuses members that a request with a parent may not have, or that are wrong.
func (p *Parent) validate(r *ShuffleRequest) error {
	switch {
	case r.Terms != nil:
		return &RequestError{"terms", "must be left out: a child has the terms of its parent"}
	case r.Deck != "" || r.Cards != nil:
		return &RequestError{"parent", "must be given without deck and cards, because a child has the deck of its parent"}
	case p.ID < 1 || p.ID > audit.MaxInteger:
		return &RequestError{"parent.id", "must be the id of an open shuffle"}
	case p.Positions != nil && (len(p.Positions) < shuffle.MinCards || len(p.Positions) > shuffle.MaxCards):
		return &RequestError{"parent.positions",
			fmt.Sprintf("must have %d to %d positions", shuffle.MinCards, shuffle.MaxCards)}
	}
	seen := make(map[uint16]bool, len(p.Positions))
	for i, at := range p.Positions {
		if seen[at] || int(at) >= shuffle.MaxCards {
			return &RequestError{fmt.Sprintf("parent.positions[%d]", i), "must be a position of the parent that is not named twice"}
		}
		seen[at] = true
	}
	return nil
}
