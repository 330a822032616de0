package dealer

import (
	"slices"

	"shuffled/internal/audit"
)

// plan is what goes in the next round of a batch, ascending.
type plan struct {
	now   []int
	later []int
	early []int // of later: those that wait for witnesses alone

	lanes map[string]*lane
	slots map[[32]byte]bool // that operations name which do not wait, or that wait
}

// lane are the operations of one table, which keep their order. A later operation goes
// along with an earlier one only if it is judged without what the earlier one appends.
type lane struct {
	blocked bool // an operation waits, and all behind it
	used    bool // an operation goes
	keys    map[string]bool
	next    map[uint64]int // the place at which a deal goes on; over: nothing goes on
}

// over: no further operation of the shuffle goes in this round.
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
		known := b.find(i)
		switch {
		case op.Err != nil || known && !op.commits() && b.ids[i] == 0:
			p.now = append(p.now, i) // it is refused, and nothing else comes of it
			continue
		case !l.blocked && known && !op.commits() && b.unseen(op, b.ids[i]):
			p.early = append(p.early, i)
		case !l.blocked && known && !b.rests(op, l, b.ids[i]) && p.goes(op, l, b.ids[i]):
			p.now, l.used = append(p.now, i), true
			continue
		}
		p.name(op)
		l.blocked = true
		p.later = append(p.later, i)
	}
	return p
}

// find reports whether the shuffle of operation i is known, or known not to be.
func (b *batch) find(i int) bool {
	op := &b.ops[i]
	switch {
	case op.commits():
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
	if op.Close != nil || op.Reveal != nil || b.cfg.Ledger.Genesis().Deals != audit.DealsCosigned {
		return false
	}
	live := b.cfg.Ledger.Live()
	return id >= live.Cosigned && id < live.Size
}

// rests reports whether the operation rests on entries that go in this round: what a co-dealer is
// asked for does on those before it, which must stand in the ledger.
func (b *batch) rests(op *Operation, l *lane, id uint64) bool {
	if _, touched := l.next[id]; op.commits() || !touched {
		return false
	}
	r, err := b.glance(b.ctx, id)
	return err == nil && r.blind()
}

// goes reports whether the operation goes in this round, behind those of its lane that do,
// and notes what it does there.
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

// commitGoes: the same key, or a slot that was named before, is looked for in the ledger
// first. The cards of a child are those that its parent has left.
func (p *plan) commitGoes(op *Operation, l *lane) bool {
	child := op.Cards != nil && op.Cards.Parent != nil
	if l.keys[op.Key] || slices.ContainsFunc(op.slots(), func(s [32]byte) bool { return p.slots[s] }) ||
		child && l.used {
		return false
	}
	l.keys[op.Key] = true
	p.name(op)
	l.blocked = child
	return true
}

// name notes the slots of an operation.
func (p *plan) name(op *Operation) {
	for _, s := range op.slots() {
		p.slots[s] = true
	}
}

// reveals: what is shown must be dealt first.
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
