package client

import (
	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Terms are what a commit says of its shuffle besides the members of Shuffle. All of it is read from the entry that the
// receipt proves.
type Terms struct {
	Production  bool       `json:"production"` // false: a sandbox
	Disclosure  Disclosure `json:"disclosure"`
	GameRef     *Name      `json:"game_ref,omitempty"`
	Deck        string     `json:"deck,omitempty"`      // the first published name of the deck; "": it has none
	DeckHash    *Hash      `json:"deck_hash,omitempty"` // of the deck's names in order; nil for a list of draws
	Cards       int        `json:"cards"`               // of the deck, 0 for a list of draws
	Places      int        `json:"places"`              // places that can be dealt
	Ranges      []uint32   `json:"ranges,omitempty"`    // of a list of draws
	Numbers     *Numbers   `json:"numbers,omitempty"`   // without repeats; then there are no ranges
	Plan        *Plan      `json:"plan,omitempty"`
	Parent      *Index     `json:"parent,omitempty"`   // the shuffle whose cards these are
	Previous    *Index     `json:"previous,omitempty"` // the table's shuffle before this one
	EndAt       *EndAt     `json:"end_at,omitempty"`   // the cut card as committed
	CommittedAt Timestamp  `json:"committed_at"`

	Bound *BoundTerms `json:"terms,omitempty"` // names the document that says what the values mean
}

// Plan is the mix plan of a commit.
type Plan struct {
	Slots  []Hash `json:"slots,omitempty"`
	Beacon *Round `json:"beacon,omitempty"`
	Cut    bool   `json:"cut,omitempty"` // a player cuts

	CoDealer *CoDealerPlan `json:"co_dealer,omitempty"`
}

// CoDealerPlan names the co-dealer's commit, whose order the places go through.
type CoDealerPlan struct {
	Index Index `json:"index"` // in the co-dealer's ledger
	Leaf  Hash  `json:"leaf"`  // leaf hash of that entry
}

// Round is the round of a beacon.
type Round struct {
	Chain Hash      `json:"chain"`
	Round uint64    `json:"round"`
	Time  Timestamp `json:"time"` // when it comes out
}

// termsOf reads the terms of a commit that was made at this time, in UTC milliseconds.
func termsOf(c *audit.Commit, at int64) Terms {
	ctx := c.Context
	t := Terms{Production: ctx.Production, Disclosure: Disclosure(ctx.Disclosure.String()), Cards: ctx.Recipe.Cards,
		Places: ctx.Recipe.Positions(), Ranges: ctx.Recipe.Ranges, Plan: planOf(ctx), CommittedAt: timestamp(at)}
	if c.GameRef != "" {
		t.GameRef = &c.GameRef
	}
	if !ctx.IsDraw() {
		deck, _ := shuffle.Published(ctx.DeckHash)
		t.Deck, t.DeckHash = deck.Name(), (*Hash)(&ctx.DeckHash)
	}
	if ctx.IsNumbers() {
		t.Ranges, t.Numbers = nil, &Numbers{Of: int(ctx.Of), Take: ctx.Recipe.Positions()}
	}
	if ctx.Parent != nil {
		t.Parent = &ctx.Parent.ID
	}
	if b := ctx.Terms; b != nil {
		t.Bound = &BoundTerms{Kind: BoundTermsKind(b.Kind.String()), Hash: b.Hash}
		if b.Count != 0 {
			t.Bound.Count = &b.Count
		}
	}
	if c.Previous != 0 {
		t.Previous = &c.Previous
	}
	switch {
	case ctx.Recipe.EndHi != 0:
		t.EndAt = &EndAt{Lo: ctx.Recipe.EndLo, Hi: ctx.Recipe.EndHi}
	case ctx.EndAt != 0:
		t.EndAt = &EndAt{Lo: ctx.EndAt, Hi: ctx.EndAt}
	}
	return t
}

// planOf is the plan of a context, nil without one.
func planOf(c *audit.Context) *Plan {
	if len(c.Plan) == 0 {
		return nil
	}
	plan := new(Plan)
	for _, p := range c.Plan {
		switch p.Source {
		case audit.SourceSlot:
			plan.Slots = append(plan.Slots, p.Slot)
		case audit.SourceBeacon:
			at, _ := audit.BeaconTime(p.Chain, p.Round) // 0 of an unknown chain, which proveCommit refuses
			plan.Beacon = &Round{p.Chain, p.Round, timestamp(at * 1000)}
		case audit.SourceCut:
			plan.Cut = true
		case audit.SourceCoDealer:
			plan.CoDealer = &CoDealerPlan{p.Index, p.Leaf}
		}
	}
	return plan
}
