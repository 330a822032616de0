// Package batch has a dealer answer many requests, as if each had come alone.
package batch

import (
	"context"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
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

// Run answers each operation like the same single request. It works in rounds: a round appends together what one
// append may hold, and operations that need an entry of the round go into the next one. The operations of a table keep
// their order. await waits for the witnesses of a commit. With together, all operations are answered or none is, and an
// operation that needs a second round refuses the batch.
func Run(ctx context.Context, d *dealer.Dealer, actor audit.Actor, ops []Operation, together bool,
	await func(id uint64) (context.Context, error)) (_ []Result, err error) {
	b := &batch{dealer: d, ctx: ctx, actor: actor, ops: ops, results: make([]Result, len(ops)),
		done: make([]bool, len(ops)), ids: make([]uint64, len(ops))}
	left := make([]int, len(ops))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		if b.ctx.Err() != nil {
			b.refuse(left, fmt.Errorf("%w: the time of the batch ended before all its operations began", ledger.ErrOverloaded))
			break
		}
		p := b.plan(left)
		switch {
		case len(p.early) > 0 && (together || len(p.now) == 0):
			newest := uint64(0)
			for _, i := range p.early {
				newest = max(newest, b.ids[i])
			}
			if b.ctx, err = await(newest); err != nil { // whatever the error is, the operations may yet be done
				if b.refuse(left, ledger.ErrBehind); together {
					b.refuse(left, dealer.ErrTogether)
				}
				b.refuse(p.early, err)
			}
		case together && len(p.later) > 0:
			return nil, &RoundsError{p.later[0]}
		default:
			d.Round(b.ctx, len(p.now), together, func(in context.Context, at int) error { return b.do(in, p.now[at]) })
		}
		left = slices.DeleteFunc(left, func(i int) bool { return b.done[i] })
		if slices.ContainsFunc(slices.Concat(p.now, p.early), func(i int) bool { return dealer.Undecided(b.results[i].Err) }) {
			b.refuse(left, ledger.ErrBehind)
			break
		}
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
		answer, err = b.dealer.Shuffle(ctx, b.actor, op.Key, *op.Cards)
	case op.Draws != nil:
		answer, err = b.dealer.Draws(ctx, b.actor, op.Key, *op.Draws)
	case id == 0:
		err = &NoShuffleError{op.Of, b.results[op.Of].Err}
	case op.Mix != nil:
		answer, err = b.dealer.Mix(ctx, b.actor, id, *op.Mix)
	case op.Deal != nil:
		answer, err = b.dealer.Deal(ctx, b.actor, id, *op.Deal)
	case op.Reveal != nil:
		answer, err = b.dealer.Reveal(ctx, b.actor, id, *op.Reveal)
	default:
		answer, err = b.dealer.Close(ctx, b.actor, id, *op.Close)
	}
	b.done[i] = true
	if err != nil {
		b.results[i] = Result{Err: err}
		return err
	}
	b.results[i] = Result{Answer: answer}
	if made, ok := answer.(api.Shuffle); ok {
		b.ids[i] = made.ID
	}
	return nil
}

func (b *batch) refuse(list []int, err error) {
	for _, i := range list {
		b.results[i], b.done[i] = Result{Err: err}, true
	}
}

// Places returns how many places the operation commits or deals, as far as the request shows.
func (o *Operation) Places() (n int) {
	switch {
	case o.Cards != nil:
		return o.Cards.Places()
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

// Operation is one request of a batch. Exactly one of its requests is set, or Err.
type Operation struct {
	Table   string // of the commit, or of the shuffle
	Shuffle uint64 // the shuffle that it is about; unused for a commit, and if Of is set
	Of      int    // the earlier operation that makes this shuffle; -1: none

	Key    string // of a commit or draw
	Cards  *api.ShuffleRequest
	Draws  *api.DrawsRequest
	Mix    *api.MixRequest
	Deal   *api.DealRequest
	Reveal *api.RevealRequest
	Close  *api.CloseRequest

	Err error // why the caller refused it already
}

// commits reports whether the operation makes a shuffle.
func (o *Operation) commits() bool { return o.Cards != nil || o.Draws != nil }

// child reports whether the operation makes a shuffle of cards that another one has left.
func (o *Operation) child() bool { return o.Cards != nil && o.Cards.Parent != nil }

// batch is the state of one batch.
type batch struct {
	dealer  *dealer.Dealer
	ctx     context.Context // of the request
	actor   audit.Actor
	ops     []Operation
	results []Result
	done    []bool
	ids     []uint64 // ids of the operations' shuffles, as far as they are known
}

// plan says which operations go into the next round of a batch, each list ascending.
type plan struct {
	now   []int
	later []int
	early []int // those of later that only wait for witnesses

	lanes map[string]*lane
	slots map[[32]byte]bool // slots that operations before name
}

// lane has the operations of one table. Commits keep their order, and so do the other operations: a commit that is no
// child rests on nothing, and goes in front of those that wait. Two operations go into the same round only if the later
// one can be judged without the entry of the earlier one.
type lane struct {
	blocked bool // an operation waits, and so do all behind it, except commits that are no children
	held    bool // a commit waits, and so do all behind it
	used    bool // an operation is in the round
	keys    map[string]bool
	next    map[uint64]int // by shuffle: the place where a further deal may start, or over
}

// over: no further operation of the shuffle goes into this round.
const over = -1

// plan returns the next round of what is left: of each table as many operations as can
// be appended together, from the first.
func (b *batch) plan(left []int) *plan {
	p := &plan{lanes: make(map[string]*lane), slots: make(map[[32]byte]bool)}
	for _, i := range left {
		op := &b.ops[i]
		l := p.lanes[op.Table]
		if l == nil {
			l = &lane{keys: make(map[string]bool), next: make(map[uint64]int)}
			p.lanes[op.Table] = l
		}
		known, blocked := b.find(i), l.blocked
		if op.commits() && !op.child() {
			blocked = l.held
		}
		switch {
		case op.Err != nil || known && !op.commits() && b.ids[i] == 0:
			p.now = append(p.now, i) // it is refused, and appends nothing
			continue
		case !blocked && known && !op.commits() && b.unseen(op, b.ids[i]):
			p.early = append(p.early, i)
		case !blocked && known && !b.rests(op, l, b.ids[i]) && p.goes(op, l, b.ids[i]):
			p.now, l.used = append(p.now, i), true
			continue
		}
		p.name(op)
		l.blocked, l.held = true, l.held || op.commits()
		p.later = append(p.later, i)
	}
	return p
}

// find reports whether it is known of which shuffle operation i is, or that there is none. A refused one is of none: an
// operation that names it would otherwise reach a shuffle of which the caller was refused.
func (b *batch) find(i int) bool {
	op := &b.ops[i]
	switch {
	case op.commits(), op.Err != nil:
		return true
	case op.Of < 0:
		b.ids[i] = op.Shuffle
		return true
	}
	b.ids[i] = b.ids[op.Of]
	return b.done[op.Of]
}

// unseen reports whether the operation must wait for witnesses.
func (b *batch) unseen(op *Operation, id uint64) bool {
	if op.Close != nil || op.Reveal != nil || b.dealer.Ledger().Genesis().Deals != audit.DealsCosigned {
		return false
	}
	live := b.dealer.Ledger().Live()
	return id >= live.Cosigned && id < live.Size
}

// rests reports whether the operation depends on entries of this round. A deal of a blind shuffle
// does: the co-dealer is asked behind an entry that must be in the ledger.
func (b *batch) rests(op *Operation, l *lane, id uint64) bool {
	if _, touched := l.next[id]; op.commits() || !touched {
		return false
	}
	r, err := b.dealer.Shuffles().Remembered(b.ctx, id)
	return err == nil && r.Blind()
}

// goes reports whether the operation goes into this round, behind those of its lane that are in
// it, and notes its effect on those that follow.
func (p *plan) goes(op *Operation, l *lane, id uint64) bool {
	next, touched := l.next[id]
	switch {
	case op.commits():
		return p.commitGoes(op, l)
	case touched && (next == over || op.Mix != nil):
		return false
	case op.Deal != nil && touched && op.Deal.First != next, touched && op.reveals():
		return false
	}
	l.next[id] = over
	if op.Deal != nil && op.Deal.Close == nil {
		l.next[id] = op.Deal.First
		for _, r := range op.Deal.Runs {
			l.next[id] += max(r.Count, 0)
		}
	}
	return true
}

// commitGoes is goes for a commit. A commit with a key or slot that an operation before names goes
// into a later round, and is then compared with the ledger. So does a child after operations of its
// table: its cards are those that its parent has left.
func (p *plan) commitGoes(op *Operation, l *lane) bool {
	if l.keys[op.Key] || slices.ContainsFunc(op.slots(), func(s [32]byte) bool { return p.slots[s] }) ||
		op.child() && l.used {
		return false
	}
	l.keys[op.Key] = true
	p.name(op)
	l.blocked = l.blocked || op.child()
	return true
}

// name notes the slots of an operation.
func (p *plan) name(op *Operation) {
	for _, s := range op.slots() {
		p.slots[s] = true
	}
}

// reveals reports whether the operation reveals places, which must be dealt in an earlier round.
func (o *Operation) reveals() bool {
	if o.Reveal != nil {
		return true
	}
	ending := o.Close
	if o.Deal != nil {
		ending = o.Deal.Close
	}
	return ending != nil && len(ending.Reveal) > 0
}

func (o *Operation) slots() [][32]byte {
	switch {
	case o.Cards != nil && o.Cards.Plan != nil:
		return o.Cards.Plan.Slots
	case o.Draws != nil && o.Draws.Plan != nil:
		return o.Draws.Plan.Slots
	}
	return nil
}

// Result is the answer to an operation: a Shuffle, Mix, Deal, Reveal or Close; or an error.
type Result struct {
	Answer any
	Err    error
}
