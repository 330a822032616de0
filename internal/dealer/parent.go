package dealer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

// parent is a shuffle that a child continues.
type parent struct {
	record *record.Record
	opened *record.Opened // wiped with the parent
	inputs []uint32       // the child's: the parent's values at the child's positions
	moving bool           // the child has all undealt cards, so no deal may come between
}

// wipe clears what was opened. p may be nil.
func (p *parent) wipe() {
	if p != nil {
		p.opened.Wipe()
		clear(p.inputs)
	}
}

// inherit opens the parent of a child, and fills in the context of the child from it. The caller wipes the parent.
func (d *Dealer) inherit(ctx context.Context, actor audit.Actor, c *audit.Context, req *api.ShuffleRequest) (_ *parent,
	err error) {
	r, err := d.shuffles.Durable(ctx, req.Parent.ID)
	if errors.Is(err, api.ErrNotFound) {
		return nil, api.Illegal(audit.RuleParent, "there is no shuffle %d", req.Parent.ID)
	}
	if err != nil {
		return nil, err
	}
	of := r.Commit.Context
	if err := mayPlay(actor)(r); err != nil && of.Table == c.Table { // the owner is for this table to know
		return nil, err
	}
	if r.Closed != nil || of.IsDraw() || of.Table != c.Table {
		return nil, api.Illegal(audit.RuleParent, "shuffle %d is no open shuffle of cards at table %s", r.ID, c.Table)
	}
	if err := d.checkSlots(ctx, c); err != nil {
		return nil, err
	}
	t, err := d.shuffles.Open(ctx, r)
	if err != nil {
		return nil, err
	}
	p := &parent{record: r, opened: t, moving: req.Parent.Positions == nil}
	defer func() {
		if err != nil {
			p.wipe()
		}
	}()
	positions := req.Parent.Positions
	if p.moving {
		if positions, err = undealt(r, t); err != nil {
			return nil, err
		}
	}
	named := func(place int) bool { return slices.Contains(positions, uint16(t.Order.Position(place))) }
	if r.TellsAside(len(t.Values), named) {
		return nil, api.Illegal(audit.RuleParent,
			"positions with a burn or discard must have all that nobody saw: the child would tell which card that was")
	}
	p.inputs = make([]uint32, 0, len(positions))
	for _, at := range positions {
		if int(at) >= len(t.Values) {
			return nil, api.Illegal(audit.RuleParent, "shuffle %d has no position %d", r.ID, at)
		}
		p.inputs = append(p.inputs, t.Values[at])
	}
	c.Disclosure = cmp.Or(req.Disclosure, of.Disclosure) // its tape tells of the parent's neighbours
	c.DeckHash, c.Terms, c.Parent = of.DeckHash, of.Terms, &audit.Parent{ID: r.ID, Positions: positions}
	return p, req.TakeOf(c, len(positions))
}

// checkSlots refuses a child with a slot of another commit, before its parent is opened. The store
// would refuse the batch anyway, but only after it got the child's sealed tape and inputs.
func (d *Dealer) checkSlots(ctx context.Context, c *audit.Context) error {
	taken, err := d.cfg.Store.TakenSlots(ctx, d.cfg.Ledger.ID(), c.Slots()...)
	switch {
	case err != nil:
		return fmt.Errorf("looking up the slots: %w", ledger.Unavailable(err))
	case len(taken) > 0:
		return ledger.SlotTaken()
	}
	return nil
}

// undealt returns the positions of the places that are not dealt, ascending. Their order does not
// matter, because the child's tape gives each order with the same probability.
func undealt(r *record.Record, t *record.Opened) ([]uint16, error) {
	if err := r.Ordered(); err != nil {
		return nil, err
	}
	var left []uint16
	for place := r.Next(); place < len(t.Values); place++ {
		left = append(left, uint16(t.Order.Position(place)))
	}
	if len(left) < shuffle.MinCards {
		return nil, api.Illegal(audit.RuleParent,
			"%d cards are left of shuffle %d, fewer than a shuffle needs", len(left), r.ID)
	}
	slices.Sort(left)
	return left, nil
}
