package dealer

import (
	"bytes"
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/outcome"
	"shuffled/internal/seal"
	"shuffled/internal/shuffle"
)

// opened is a shuffle whose tape was opened, with every value, salt and proof. It holds undealt cards and never leaves
// this package. It belongs to the function that opened it, which wipes it. No answer shares memory with it.
type opened struct {
	tape   []byte
	values []uint32 // by position
	shows  []uint32 // of draws, by position: values moved by the mix
	endAt  int      // place of the cut card, 0 for none
	tree   *audit.DeckTree
	order  audit.Order

	by map[int]*audit.By // openings of the co-dealer by place; nil without one
}

// wipe clears the tape and the cards, so that they do not stay in memory that is not used. A nil t has none.
func (t *opened) wipe() {
	if t == nil {
		return
	}
	clear(t.tape)
	clear(t.values)
	clear(t.shows)
	t.tree.Wipe()
}

// maxAncestors is how many parents at most are opened for a child whose own sealed inputs cannot be opened.
const maxAncestors = audit.MaxChain

// open takes the tape of a shuffle from its close, or opens it with the sealing key, and computes everything else from
// it. A tape that does not open the commitment is an error. An order that is not the committed one, or is not of the
// deck's cards, is a foul deck: open sets the latch, and nothing is dealt.
func (d *Dealer) open(ctx context.Context, r *record) (*opened, error) {
	return d.openBelow(ctx, r, maxAncestors)
}

func (d *Dealer) openBelow(ctx context.Context, r *record, ancestors int) (t *opened, err error) {
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
func (d *Dealer) drawAgain(ctx context.Context, r *record, ancestors int) (*opened, error) {
	c := r.commit
	tape, inputs, err := d.tape(ctx, r, ancestors)
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
func (d *Dealer) values(c *audit.Context, out shuffle.Outcome, inputs []uint32) ([]uint32, error) {
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
func (d *Dealer) inputsIn(c *audit.Context, order, inputs []uint32) ([]uint32, error) {
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

// tape returns the tape that opens the commitment of a shuffle, and of a child the cards that it
// shuffles. The caller clears both.
func (d *Dealer) tape(ctx context.Context, r *record, ancestors int) (tape []byte, inputs []uint32, err error) {
	tape, inputs, err = d.unseal(ctx, r, ancestors)
	if err == nil && audit.Commitment(r.commit.Context.Encode(), tape) != r.commit.Commitment {
		clear(tape)
		clear(inputs)
		return nil, nil, fmt.Errorf("shuffle %d: the tape does not open the commitment", r.id)
	}
	return tape, inputs, err
}

// unseal reads tape and cards from the entry that discloses the tape, or opens them with the sealing key.
func (d *Dealer) unseal(ctx context.Context, r *record, ancestors int) (tape []byte, inputs []uint32, err error) {
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
	sealed, err := d.cfg.Keys.Open(c.Origin, r.commit.Commitment, kept)
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
	d.cfg.Log.Error("a sealed tape could not be opened", "shuffle", r.id, "error", err)
	return nil, nil, fmt.Errorf("shuffle %d: %w", r.id, ErrSealed)
}

// inherited computes the cards that a child shuffles from those of its parent.
func (d *Dealer) inherited(ctx context.Context, c *audit.Context, ancestors int) ([]uint32, error) {
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

// ordered refuses a shuffle that has no order in r, because its plan is not mixed there. The
// ledger may have a mix that is not in r.
func (r *record) ordered() error {
	if len(r.commit.Context.Mixed()) > 0 && r.mix == nil {
		return illegal(audit.RuleMix, "shuffle %d is dealt only after its mix", r.id)
	}
	return nil
}

// names returns the card names of a shuffle's deck, nil for a draw list. A shuffle without an order is refused.
func (d *Dealer) names(ctx context.Context, r *record) ([]string, error) {
	if err := r.ordered(); err != nil {
		return nil, err
	}
	return d.deckNames(ctx, r.commit.Context)
}

// cards returns the openings of places. names are the card names of the deck, nil for a draw list.
func (t *opened) cards(names []string, first, count int) []audit.Card {
	cards := make([]audit.Card, count)
	for i := range cards {
		o := t.tree.Open(t.order.Position(first + i))
		name := ""
		if names != nil {
			name = names[o.Value]
		}
		cards[i] = audit.NewCard(first+i, o, name)
		cards[i].By = t.by[first+i]
	}
	return cards
}
