package dealer

import (
	"bytes"
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/outcome"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// maxAncestors is how many parents at most are opened for a child whose own sealed inputs cannot be opened.
const maxAncestors = audit.MaxChain

// open takes the tape of a shuffle from its close, or opens it with the sealing key, and computes everything else from
// it. A tape that does not open the commitment is an error. An order that is not the committed one, or is not of the
// deck's cards, is a foul deck: open sets the latch, and nothing is dealt.
func (d *reader) open(ctx context.Context, r *record) (*opened, error) {
	return d.openBelow(ctx, r, maxAncestors)
}

func (d *reader) openBelow(ctx context.Context, r *record, ancestors int) (t *opened, err error) {
	defer func() {
		if err != nil {
			t.wipe()
			t = nil
		}
	}()
	if t = d.recent.open(r); t == nil {
		if t, err = d.drawAgain(ctx, r, ancestors); err != nil {
			return t, err
		}
	}
	c := r.commit
	if len(c.Context.Mixed()) > 0 && r.mix == nil {
		return t, nil
	}
	if t.order, err = audit.NewOrder(tlog.RecordHash(r.row.Entry), c, r.mix); err != nil {
		return t, err
	}
	if r.blind() {
		for _, at := range r.deals {
			given, err := r.given(at)
			if err != nil {
				return t, err
			}
			t.give(at.deal, given.Cards)
		}
	}
	if c.Context.IsDraw() {
		t.shows, err = t.order.Shows(t.values)
	}
	return t, err
}

// drawAgain opens the sealed tape and draws the order again. It returns what the caller wipes, also with an error.
func (d *reader) drawAgain(ctx context.Context, r *record, ancestors int) (*opened, error) {
	c := r.commit
	tape, inputs, err := d.tapeAndInputs(ctx, r, ancestors)
	if err != nil {
		return nil, err
	}
	defer clear(inputs)
	t := &opened{tape: tape}
	out, err := c.Context.Recipe.Run(tape)
	if err == nil {
		t.values, err = d.values(c.Context, out, inputs)
	}
	if err != nil {
		return t, fmt.Errorf("shuffle %d: %w", r.id, err)
	}
	t.endAt = max(out.EndAt, c.Context.EndAt)
	t.tree = audit.DeckOf(c.Commitment, c.Context.Encode(), tape, t.values)
	if t.tree.Root() != tlog.Hash(c.DeckRoot) {
		return t, fmt.Errorf("shuffle %d: %w", r.id,
			d.foul(fmt.Errorf("%w: the tape does not lead to the deck root", outcome.ErrFoul)))
	}
	return t, nil
}

// values are the cards of a recipe's outcome: for a child its inputs in this order, otherwise the
// outcome itself. Every card that was to be shuffled must be there once.
func (d *reader) values(c *audit.Context, out shuffle.Outcome, inputs []uint32) ([]uint32, error) {
	if err := outcome.Check(c.Recipe, out); err != nil {
		return nil, d.foul(err)
	}
	if c.Parent == nil {
		return out.Values, nil
	}
	defer clear(out.Values)
	return d.inputsIn(c, out.Values, inputs)
}

// inputsIn returns a child's inputs in the order that its own shuffle gives.
func (d *reader) inputsIn(c *audit.Context, order, inputs []uint32) ([]uint32, error) {
	if len(inputs) != c.Recipe.Cards {
		return nil, d.foul(fmt.Errorf("%w: a child has another number of cards than it shuffles", outcome.ErrFoul))
	}
	var seen [shuffle.MaxCards]bool // by value: card of the root ancestor's deck
	values := make([]uint32, len(order))
	for i, x := range order {
		v := inputs[x]
		if int(v) >= len(seen) || seen[v] {
			return nil, d.foul(fmt.Errorf("%w: a card comes twice, or is not of the deck", outcome.ErrFoul))
		}
		values[i], seen[v] = v, true
	}
	return values, nil
}

// tape returns the tape that opens the commitment of a shuffle. The caller clears it.
func (d *reader) tape(ctx context.Context, r *record) ([]byte, error) {
	tape, inputs, err := d.tapeAndInputs(ctx, r, maxAncestors)
	clear(inputs)
	return tape, err
}

// tapeAndInputs returns the tape of a shuffle, and of a child the cards that it shuffles. The caller clears both.
func (d *reader) tapeAndInputs(ctx context.Context, r *record, ancestors int) (tape []byte, inputs []uint32,
	err error) {
	tape, inputs, err = d.unseal(ctx, r, ancestors)
	if err == nil && audit.Commitment(r.commit.Context.Encode(), tape) != r.commit.Commitment {
		clear(tape)
		clear(inputs)
		return nil, nil, fmt.Errorf("shuffle %d: the tape does not open the commitment", r.id)
	}
	return tape, inputs, err
}

// unseal reads tape and cards from the entry that discloses the tape, or opens them with the sealing key.
func (d *reader) unseal(ctx context.Context, r *record, ancestors int) (tape []byte, inputs []uint32, err error) {
	c := r.commit.Context
	n := 0
	if c.Parent != nil {
		n = c.Recipe.Cards
	}
	told := r.ended != nil && r.ended.Form == audit.FormTape
	if told && n == 0 {
		return bytes.Clone(r.ended.Tape), nil, nil
	}
	kept, _ := keptWith(r.commit, r.row.Kept)
	sealed, err := d.keys.Open(c.Origin, r.commit.Commitment, kept)
	if err == nil {
		tape, inputs, err = seal.Split(sealed, c.Recipe.TapeLen(), n)
		clear(sealed[len(tape):]) // all of it if it does not split
	}
	switch {
	case err == nil:
		return tape, inputs, nil
	case told:
		inputs, err = d.inherited(ctx, c, ancestors)
		return bytes.Clone(r.ended.Tape), inputs, err
	}
	d.log.Error("a sealed tape could not be opened", "shuffle", r.id, "error", err)
	return nil, nil, fmt.Errorf("shuffle %d: %w", r.id, ErrSealed)
}

// inherited computes the cards that a child shuffles from those of its parent.
func (d *reader) inherited(ctx context.Context, c *audit.Context, ancestors int) ([]uint32, error) {
	if ancestors == 0 {
		return nil, fmt.Errorf("shuffle %d has too many ancestors: %w", c.Parent.ID, ErrSealed)
	}
	r, err := d.record(ctx, c.Parent.ID)
	if err != nil {
		return nil, err
	}
	t, err := d.openBelow(ctx, r, ancestors-1)
	if err != nil {
		return nil, err
	}
	defer t.wipe()
	all := make([]uint32, len(c.Parent.Positions))
	for i := range all {
		all[i] = uint32(i)
	}
	return audit.ChildValues(t.values, c.Parent.Positions, all)
}

// foul sets this daemon's latch because a deck is not what it must be.
func (d *reader) foul(why error) error {
	d.entropy.Trip(entropy.ReasonFoulDeck)
	return fmt.Errorf("%w: %w", ErrEntropy, why)
}
