package record

import (
	"bytes"
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
	"shuffled/internal/outcome"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// maxAncestors is how many parents at most are opened for a child whose own sealed inputs cannot be opened.
const maxAncestors = audit.MaxChain

// Open takes the tape of a shuffle from its close, or opens it with the sealing key, and computes everything else from
// it. A tape that does not open the commitment is an error. An order that is not the committed one, or is not of the
// deck's cards, is a foul deck: open sets the latch, and nothing is dealt.
func (d *Reader) Open(ctx context.Context, r *Record) (*Opened, error) {
	return d.openBelow(ctx, r, maxAncestors)
}

func (d *Reader) openBelow(ctx context.Context, r *Record, ancestors int) (t *Opened, err error) {
	defer func() {
		if err != nil {
			t.Wipe()
			t = nil
		}
	}()
	if t = d.Recent.open(r); t == nil {
		if t, err = d.drawAgain(ctx, r, ancestors); err != nil {
			return t, err
		}
	}
	c := r.Commit
	if len(c.Context.Mixed()) > 0 && r.Mix == nil {
		return t, nil
	}
	if t.Order, err = openings.NewOrder(tlog.RecordHash(r.Row.Entry), c, r.Mix); err != nil {
		return t, err
	}
	if r.Blind() {
		for _, at := range r.Deals {
			given, err := r.Given(at)
			if err != nil {
				return t, err
			}
			t.Give(at.Deal, given.Cards)
		}
	}
	if c.Context.IsDraw() {
		t.Shows, err = t.Order.Shows(t.Values)
	}
	return t, err
}

// drawAgain opens the sealed tape and draws the order again. It returns what the caller wipes, also with an error.
func (d *Reader) drawAgain(ctx context.Context, r *Record, ancestors int) (*Opened, error) {
	c := r.Commit
	tape, inputs, err := d.tapeAndInputs(ctx, r, ancestors)
	if err != nil {
		return nil, err
	}
	defer clear(inputs)
	t := &Opened{Tape: tape}
	out, err := c.Context.Recipe.Run(tape)
	if err == nil {
		t.Values, err = d.values(c.Context, out, inputs)
	}
	if err != nil {
		return t, fmt.Errorf("shuffle %d: %w", r.ID, err)
	}
	t.EndAt = max(out.EndAt, c.Context.EndAt)
	t.Tree = openings.DeckOf(c.Commitment, c.Context.Encode(), tape, t.Values)
	if t.Tree.Root() != tlog.Hash(c.DeckRoot) {
		return t, fmt.Errorf("shuffle %d: %w", r.ID,
			d.foul(fmt.Errorf("%w: the tape does not lead to the deck root", outcome.ErrFoul)))
	}
	return t, nil
}

// values are the cards of a recipe's outcome: for a child its inputs in this order, otherwise the
// outcome itself. Every card that was to be shuffled must be there once.
func (d *Reader) values(c *audit.Context, out shuffle.Outcome, inputs []uint32) ([]uint32, error) {
	if err := outcome.Check(c.Recipe, out); err != nil {
		return nil, d.foul(err)
	}
	if c.Parent == nil {
		return out.Values, nil
	}
	defer clear(out.Values)
	return d.InputsIn(c, out.Values, inputs)
}

// InputsIn returns a child's inputs in the order that its own shuffle gives.
func (d *Reader) InputsIn(c *audit.Context, order, inputs []uint32) ([]uint32, error) {
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

// TapeOf returns the tape that opens the commitment of a shuffle. The caller clears it.
func (d *Reader) TapeOf(ctx context.Context, r *Record) ([]byte, error) {
	tape, inputs, err := d.tapeAndInputs(ctx, r, maxAncestors)
	clear(inputs)
	return tape, err
}

// tapeAndInputs returns the tape of a shuffle, and of a child the cards that it shuffles. The caller clears both.
func (d *Reader) tapeAndInputs(ctx context.Context, r *Record, ancestors int) (tape []byte, inputs []uint32,
	err error) {
	tape, inputs, err = d.unseal(ctx, r, ancestors)
	if err == nil && openings.Commitment(r.Commit.Context.Encode(), tape) != r.Commit.Commitment {
		clear(tape)
		clear(inputs)
		return nil, nil, fmt.Errorf("shuffle %d: the tape does not open the commitment", r.ID)
	}
	return tape, inputs, err
}

// unseal reads tape and cards from the entry that discloses the tape, or opens them with the sealing key.
func (d *Reader) unseal(ctx context.Context, r *Record, ancestors int) (tape []byte, inputs []uint32, err error) {
	c, n := r.Commit.Context, 0
	if c.Parent != nil {
		n = c.Recipe.Cards
	}
	told := r.Ended != nil && r.Ended.Form == audit.FormTape
	if told && n == 0 {
		return bytes.Clone(r.Ended.Tape), nil, nil
	}
	kept, _ := KeptWith(r.Commit, r.Row.Kept)
	sealed, err := d.keys.Open(c.Origin, r.Commit.Commitment, kept)
	if err == nil {
		tape, inputs, err = seal.Split(sealed, c.Recipe.TapeLen(), n)
		clear(sealed[len(tape):]) // all of it if it does not split
	}
	switch {
	case err == nil:
		return tape, inputs, nil
	case told:
		inputs, err = d.inherited(ctx, c, ancestors)
		return bytes.Clone(r.Ended.Tape), inputs, err
	}
	d.log.Error("a sealed tape could not be opened", "shuffle", r.ID, "error", err)
	return nil, nil, fmt.Errorf("shuffle %d: %w", r.ID, api.ErrSealed)
}

// inherited computes the cards that a child shuffles from those of its parent.
func (d *Reader) inherited(ctx context.Context, c *audit.Context, ancestors int) ([]uint32, error) {
	if ancestors == 0 {
		return nil, fmt.Errorf("shuffle %d has too many ancestors: %w", c.Parent.ID, api.ErrSealed)
	}
	r, err := d.Durable(ctx, c.Parent.ID)
	if err != nil {
		return nil, err
	}
	t, err := d.openBelow(ctx, r, ancestors-1)
	if err != nil {
		return nil, err
	}
	defer t.Wipe()
	all := make([]uint32, len(c.Parent.Positions))
	for i := range all {
		all[i] = uint32(i)
	}
	return openings.ChildValues(t.Values, c.Parent.Positions, all)
}

// foul sets this daemon's latch because a deck is not what it must be.
func (d *Reader) foul(why error) error {
	d.entropy.Trip(entropy.ReasonFoulDeck)
	return fmt.Errorf("%w: %w", api.ErrEntropy, why)
}
