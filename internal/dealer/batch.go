package dealer

import (
	"context"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// RoundsError refuses a batch for all or none, because an operation needs an entry that an earlier
// operation of the batch appends.
type RoundsError struct{ Operation int }

func (e *RoundsError) Error() string {
	return fmt.Sprintf("operation %d needs the entry of an earlier operation of the batch, and a batch for all or none "+
		"appends all its entries at once", e.Operation)
}

// NoShuffleError refuses an operation on the shuffle of an earlier operation that was refused itself, for the cause.
type NoShuffleError struct {
	Operation int // the earlier one
	Cause     error
}

func (e *NoShuffleError) Error() string {
	return fmt.Sprintf("operation %d made no shuffle: %v", e.Operation, e.Cause)
}

// Batch answers each operation like the same single request. It works in rounds: a round appends together what one
// append may hold, and operations that need an entry of the round go into the next one. The operations of a table keep
// their order. await waits for the witnesses of a commit. With together, all operations are answered or none is, and an
// operation that needs a second round refuses the batch.
func (d *Dealer) Batch(ctx context.Context, actor audit.Actor, ops []Operation, together bool,
	await func(id uint64) error) ([]Result, error) {
	b := &batch{Dealer: d, ctx: ctx, actor: actor, ops: ops, results: make([]Result, len(ops)),
		done: make([]bool, len(ops)),
		ids:  make([]uint64, len(ops))}
	left := make([]int, len(ops))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		if ctx.Err() != nil {
			b.refuse(left, fmt.Errorf("%w: the time of the batch ended before all its operations began", ledger.ErrOverloaded))
			break
		}
		p := b.plan(left)
		switch {
		case len(p.early) > 0 && (together || len(p.now) == 0):
			if err := await(b.newest(p.early)); err != nil {
				if together {
					b.refuse(left, ErrTogether)
				}
				b.refuse(p.early, err)
			}
		case together && len(p.later) > 0:
			return nil, &RoundsError{p.later[0]}
		default:
			r := &round{ctx: ctx, ledger: d.cfg.Ledger, together: together}
			r.run(len(p.now), func(ctx context.Context, at int) error { return b.do(ctx, p.now[at]) })
		}
		left = slices.DeleteFunc(left, func(i int) bool { return b.done[i] })
	}
	return b.results, nil
}

// do answers operation i.
func (b *batch) do(ctx context.Context, i int) error {
	op, id := &b.ops[i], b.ids[i]
	var answer any
	var err error
	switch {
	case op.Err != nil:
		err = op.Err
	case op.Cards != nil:
		answer, err = b.Shuffle(ctx, b.actor, op.Key, *op.Cards)
	case op.Draws != nil:
		answer, err = b.Draws(ctx, b.actor, op.Key, *op.Draws)
	case id == 0:
		err = &NoShuffleError{op.Of, b.results[op.Of].Err}
	case op.Mix != nil:
		answer, err = b.Mix(ctx, b.actor, id, *op.Mix)
	case op.Deal != nil:
		answer, err = b.Deal(ctx, b.actor, id, *op.Deal)
	case op.Reveal != nil:
		answer, err = b.Reveal(ctx, b.actor, id, *op.Reveal)
	default:
		answer, err = b.Close(ctx, b.actor, id, *op.Close)
	}
	b.done[i] = true
	if err != nil {
		b.results[i] = Result{Err: err}
		return err
	}
	b.results[i] = Result{Answer: answer}
	if made, ok := answer.(Shuffle); ok {
		b.ids[i] = made.ID
	}
	return nil
}

func (b *batch) refuse(list []int, err error) {
	for _, i := range list {
		b.results[i], b.done[i] = Result{Err: err}, true
	}
}

// newest returns the largest id of the operations' shuffles.
func (b *batch) newest(list []int) (id uint64) {
	for _, i := range list {
		id = max(id, b.ids[i])
	}
	return id
}

// Places returns how many places the operation commits or deals, as far as the request shows.
func (o *Operation) Places() (n int) {
	switch {
	case o.Cards != nil && o.Cards.Parent != nil:
		return len(o.Cards.Parent.Positions)
	case o.Cards != nil:
		if deck, err := o.Cards.deck(); err == nil {
			return deck.Len()
		}
	case o.Draws != nil:
		n = len(o.Draws.Ranges)
		if o.Draws.Numbers != nil {
			n += max(o.Draws.Numbers.Take, 0)
		}
	case o.Deal != nil:
		for _, r := range o.Deal.Runs {
			n += max(r.Count, 0)
		}
	}
	return n
}
