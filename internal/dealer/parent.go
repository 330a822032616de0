package dealer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

// parent is a shuffle that a child continues.
type parent struct {
	record *record
	opened *opened  // wiped with the parent
	inputs []uint32 // the child's: the parent's values at the child's positions
	moving bool     // the child has all undealt cards, so no deal may come between
}

// wipe clears what was opened. p may be nil.
func (p *parent) wipe() {
	if p != nil {
		p.opened.wipe()
		clear(p.inputs)
	}
}

// inherit opens the parent of a child, and fills in the context of the child from it. The caller wipes the parent.
func (d *Dealer) inherit(ctx context.Context, actor audit.Actor, c *audit.Context, req *ShuffleRequest) (_ *parent,
	err error) {
	r, err := d.durablyOwned(ctx, req.Parent.ID, mayPlay(actor))
	if errors.Is(err, ErrNotFound) {
		return nil, illegal(audit.RuleParent, "there is no shuffle %d", req.Parent.ID)
	}
	if err != nil {
		return nil, err
	}
	of := r.commit.Context
	if r.closed != nil || of.IsDraw() || of.Table != c.Table {
		return nil, illegal(audit.RuleParent, "shuffle %d is no open shuffle of cards at table %s", r.id, c.Table)
	}
	if err := d.checkSlots(ctx, c); err != nil {
		return nil, err
	}
	t, err := d.shuffles.open(ctx, r)
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
	p.inputs = make([]uint32, 0, len(positions))
	for _, at := range positions {
		if int(at) >= len(t.values) {
			return nil, illegal(audit.RuleParent, "shuffle %d has no position %d", r.id, at)
		}
		p.inputs = append(p.inputs, t.values[at])
	}
	c.DeckHash, c.Terms, c.Parent = of.DeckHash, of.Terms, &audit.Parent{ID: r.id, Positions: positions}
	return p, req.takeOf(c, len(positions))
}

// checkSlots refuses a child with a slot of another commit, before its parent is opened. The store
// would refuse the batch anyway, but only after it got the child's sealed tape and inputs.
func (d *Dealer) checkSlots(ctx context.Context, c *audit.Context) error {
	slots := c.Slots()
	if len(slots) == 0 {
		return nil
	}
	taken, err := d.cfg.Store.TakenSlots(ctx, d.cfg.Ledger.ID(), slots...)
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
func undealt(r *record, t *opened) ([]uint16, error) {
	if err := r.ordered(); err != nil {
		return nil, err
	}
	var left []uint16
	for place := r.next(); place < len(t.values); place++ {
		left = append(left, uint16(t.order.Position(place)))
	}
	if len(left) < shuffle.MinCards {
		return nil, illegal(audit.RuleParent,
			"%d cards are left of shuffle %d, fewer than a shuffle needs", len(left), r.id)
	}
	slices.Sort(left)
	return left, nil
}

// continued puts the close of the parent behind the commit of its child. The parent's tape stays
// secret: the cards that were dealt follow from it.
func (p *parent) continued(child *ledger.Proposal) {
	if p.moving {
		child.Rests = []ledger.Rest{p.record.rest()}
	}
	child.Bodies = append(child.Bodies, &audit.Close{Shuffle: p.record.id, Outcome: audit.OutcomeContinued})
}
