package inspect

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/rules"
	"shuffled/internal/disclosure"
)

// batch is what one chunk closed, on its way from the fold to a worker and back. The
// worker owns it until done is closed.
type batch struct {
	rounds   []mixCheck
	closings []closing
	done     chan struct{}
}

// closing is a closed shuffle to recompute, and the result.
type closing struct {
	*live
	id, index uint64       // of the commit, of the close or disclosure
	opened    rules.Opened // before its end
	disclosed audit.DisclosureEntry
	opener    *disclosure.Opener // nil: no key was given that opens it
	legal     bool               // the close or disclosure breaks no rule
	line      *ShuffleLine       // nil: no file of shuffles was asked for
	mixed     bool               // the level is mixed and not witnessed, if the beacon holds

	tape  string // one of the results, TapeRecomputed and so on
	fault *Fault
}

// lineage hands the values of a parent to its children. The worker that recomputes the
// parent sets values and closes done. A child waits only for a parent that comes before it,
// in its own batch or in an earlier one, which a worker has already taken.
type lineage struct {
	done   chan struct{}
	values []uint32 // nil: not known
	sent   bool     // the parent was sent to be recomputed; of the fold
}

// recompute judges the closings of a batch, in order.
func (w *worker) recompute(ctx context.Context, b *batch) {
	for _, c := range b.rounds {
		c.holds()
	}
	for i := range b.closings {
		c := &b.closings[i]
		values := w.judge(ctx, c)
		if c.self != nil {
			c.self.values = values
			close(c.self.done)
		}
		// Only the result is needed from here on.
		c.opened, c.disclosed, c.parent, c.self = rules.Opened{}, audit.DisclosureEntry{}, nil, nil
	}
}

// judge recomputes one shuffle from its tape and returns its values by position, nil if they are not known.
func (w *worker) judge(ctx context.Context, c *closing) []uint32 {
	commit, tape := c.opened.Commit(), c.disclosed.Tape
	switch c.disclosed.Form {
	case audit.FormNone:
		c.tape = TapeFailed // named by the fold
		return nil
	case audit.FormSealed:
		if c.opener == nil {
			c.tape = TapeSealed
			return nil
		}
		var err error
		if tape, err = c.opener.Open(commit.Context.Origin, c.id, commit.Commitment, tape); err != nil {
			return c.failed(CodeSealed, err.Error())
		}
	}
	ctxt := commit.Context
	if want := ctxt.Recipe.TapeLen(); len(tape) != want {
		if !c.legal { // the rule said so
			c.tape = TapeFailed
			return nil
		}
		return c.failed(CodeTape, fmt.Sprintf("the tape has %d bytes, not %d", len(tape), want))
	}
	context := ctxt.Encode()
	if openings.Commitment(context, tape) != commit.Commitment {
		return c.failed(CodeTape, "the tape does not open the commitment")
	}
	out, err := ctxt.Recipe.Run(tape)
	if err != nil {
		return c.failed(CodeOrder, err.Error())
	}
	values := inherit(ctx, c, ctxt.Parent, out.Values)
	if values == nil {
		return nil
	}
	if w.hasher.deckRoot(commit.Commitment, context, tape, values) != tlog.Hash(commit.DeckRoot) {
		// The values that its children were made from are not known either.
		return c.failed(CodeDeckRoot, "the recomputed order does not lead to the deck root")
	}
	c.tape = TapeRecomputed
	if c.told != nil {
		c.told.Values = out.Values
	}
	return values
}

func (c *closing) failed(code, why string) []uint32 {
	c.tape = TapeFailed
	c.fault = new(fault(code, "", "%s", why).at(c.index).of(c.id))
	return nil
}

// inherit turns the values of the recipe of a child of p into cards of the root ancestor, nil if they are not known.
func inherit(ctx context.Context, c *closing, p *audit.Parent, values []uint32) []uint32 {
	if p == nil {
		return values
	}
	c.tape = TapeUnchecked // unless the parent's values are known, and the positions are among them
	if c.parent == nil || await(ctx, c.parent.done) != nil || c.parent.values == nil {
		return nil
	}
	values, _ = openings.ChildValues(c.parent.values, p.Positions, values) // nil: the rule parent said so
	return values
}
