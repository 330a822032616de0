package client

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
	meaning "shuffled/internal/terms"
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
		Places: ctx.Recipe.Positions(), Ranges: ctx.Recipe.Ranges, Plan: planOf(ctx), CommittedAt: timestamp(at),
		GameRef: optional(c.GameRef), Previous: optional(c.Previous),
		EndAt: optional(EndAt{Lo: cmp.Or(ctx.EndAt, ctx.Recipe.EndLo), Hi: cmp.Or(ctx.EndAt, ctx.Recipe.EndHi)})}
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
		t.Bound = &BoundTerms{Kind: BoundTermsKind(b.Kind.String()), Hash: b.Hash, Count: optional(b.Count)}
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

// PutTerms has the daemon keep a document that says what values mean, and returns the terms for the request of a
// commit. The client computes the hash of the document: an answer with another hash is a *Fault.
func (c *Client) PutTerms(ctx context.Context, document TermsDocument) (*BoundTerms, error) {
	read, err := readDocument(document)
	if err != nil {
		return nil, err
	}
	answer, err := c.putTerms(ctx, document)
	kept, err := decoded[KeptTerms](answer, err)
	if err != nil {
		return nil, err
	}
	if kept.Hash != read.Hash() || string(kept.Kind) != read.Kind.String() {
		return nil, &Fault{What: "the terms that it kept are others than those that were put", Answer: answer}
	}
	return &BoundTerms{Kind: BoundTermsKind(kept.Kind), Hash: kept.Hash}, nil
}

// TermsDocument returns the document with this hash, which the client checks.
func (c *Client) TermsDocument(ctx context.Context, hash Hash) (*TermsDocument, error) {
	document, _, err := c.document(ctx, hash)
	return document, err
}

func (c *Client) document(ctx context.Context, hash Hash) (*TermsDocument, *meaning.Document, error) {
	answer, err := c.getTerms(ctx, hex.EncodeToString(hash[:]))
	document, err := decoded[TermsDocument](answer, err)
	if err != nil {
		return nil, nil, err
	}
	read, err := readDocument(*document)
	if err != nil || read.Hash() != hash {
		return nil, nil, &Fault{What: "the document is another one than was asked for", Answer: answer}
	}
	return document, read, nil
}

func readDocument(d TermsDocument) (*meaning.Document, error) {
	switch {
	case d.Kind == TermsDocumentKindPayTable && d.Labels == nil:
		return meaning.NewPayTable(deref(d.Text))
	case d.Kind != TermsDocumentKindWheel || d.Text != nil:
		return nil, fmt.Errorf("terms are a %s with labels or a %s with a text, and these are a %q",
			TermsDocumentKindWheel, TermsDocumentKindPayTable, d.Kind)
	}
	labels := make([]meaning.Label, len(d.Labels))
	for i, l := range d.Labels {
		labels[i] = meaning.Label{Label: l.Label, Weight: l.Weight}
	}
	return meaning.NewWheel(labels)
}

// proveLabels checks the labels of drawn values against the wheel that the commit names. The wheel is fetched once, by
// its hash.
func (c *Client) proveLabels(ctx context.Context, s *Committed, shows []uint32, told []string, r reply) error {
	var labels []string
	if t := s.commit.Context.Terms; t != nil && t.Kind == audit.TermsWheel && len(shows) > 0 {
		wheel, known := c.wheels.get(t.Hash)
		if !known {
			var err error
			if _, wheel, err = c.document(ctx, t.Hash); err != nil {
				return err
			}
			c.wheels.put(t.Hash, wheel, maxWheels)
		}
		for _, value := range shows {
			labels = append(labels, wheel.Label(value))
		}
	}
	if !slices.Equal(labels, told) {
		return r.fault("the labels are not those of the wheel that was committed to", nil)
	}
	return nil
}
