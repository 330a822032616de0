package ledger

import (
	"context"
	"slices"

	"shuffled/internal/audit"
)

// intervals says which witness policy governs which checkpoints (docs/SPEC.md
// section 7.3). A published one is not changed.
type intervals struct {
	list  []policyInterval // ascending, at least one
	waits uint64           // index of the first policy that waits; MaxInteger for none
}

// policyInterval is a policy that governs checkpoints above a size, up to that of the
// next interval.
type policyInterval struct {
	above  uint64
	policy *audit.Policy // nil: none
}

// at returns the policy that governs a checkpoint of that size, nil for none.
func (t intervals) at(size uint64) *audit.Policy {
	i := len(t.list) - 1
	for i > 0 && t.list[i].above >= size {
		i--
	}
	return t.list[i].policy
}

// ask reports whether any of the policies asks for witnesses.
func (t intervals) ask() bool {
	return slices.ContainsFunc(t.list, func(one policyInterval) bool { return one.policy.Asks() })
}

// asksWitnesses reports whether checkpoints of the newest size need cosignatures.
func (l *Ledger) asksWitnesses(size uint64) bool { return l.witnesses.intervals.Load().at(size).Asks() }

// learn takes the policies of new entries. The fold has read them before.
func (w *witnesses) learn() {
	records, news := w.l.keys.Load().records, w.intervals.Load() == nil
	for ; w.history < len(records); w.history++ {
		r := records[w.history]
		if r.Subject != audit.SubjectPolicy || r.Index == 0 {
			continue
		}
		if err := w.policies.Change(r.Index, r.Policy); err != nil {
			w.l.cfg.Log.Error("reading a witness policy", "ledger", w.l.cfg.Info.Name, "entry", r.Index, "error", err)
			continue
		}
		news = true
	}
	if news {
		w.changed()
	}
}

// changed shows which policy governs, those that were in force and, where the last of
// them asks for nobody, those that wait; and has their witnesses asked.
func (w *witnesses) changed() {
	t := intervals{slices.Clone(w.past), audit.MaxInteger}
	for i, p := range w.policies.Waiting() {
		if i == 0 {
			t.waits = p.Index
		}
		if !w.policies.Governing(0).Asks() {
			t.list = append(t.list, policyInterval{p.Index, p.Policy})
		}
	}
	w.intervals.Store(&t)
	w.name()
}

// unseen returns the size from which on follow has read no stored checkpoint, if
// one of that size lets a waiting policy take over; else 0.
func (w *witnesses) unseen(size uint64) uint64 {
	waiting := w.policies.Waiting()
	if len(waiting) == 0 || waiting[0].Index >= size {
		return 0
	}
	return max(w.looked, waiting[0].Index+1)
}

// follow reads the stored cosigned checkpoints for those that let a waiting policy take
// over, from this daemon or another. Rows that do not hold are passed over, each once.
// Without a waiting policy there is nothing to read.
func (w *witnesses) follow() {
	for waiting := w.policies.Waiting(); len(waiting) > 0; waiting = w.policies.Waiting() {
		h, ok := w.nextHandover(max(w.looked, waiting[0].Index+1))
		if !ok {
			return
		}
		w.accept(h, waiting)
	}
}

// nextHandover returns the first stored checkpoint from a size on that lets a policy take
// over; not ok: there is none, or the rest is looked at later.
func (w *witnesses) nextHandover(from uint64) (Head, bool) {
	ctx, cancel := context.WithTimeout(w.l.running, storeTimeout)
	defer cancel()
	head := w.l.Head()
	for h, err := range w.l.cfg.Store.CosignedFrom(ctx, w.l.id, from) {
		if err != nil || h.Size > head.Size {
			break
		}
		held, err := w.holds(ctx, head, h)
		if err != nil {
			break
		}
		w.looked = h.Size + 1
		if policy := w.policies.Governing(h.Size); held && policy != nil && policy.Satisfied(h.Checkpoint) {
			return h, true
		}
	}
	return Head{}, false
}

// holds reports whether a stored head is one that the ledger signed, of its
// history; an error says that the store could not tell.
func (w *witnesses) holds(ctx context.Context, head, h Head) (bool, error) {
	c, err := audit.OpenCheckpoint(h.Checkpoint, w.l.keys.Load().at(h.Size))
	if err != nil || c.Size != h.Size || c.Root != h.Root {
		return false, nil
	}
	return w.l.extends(ctx, head, c)
}

// accept lets the newest waiting policy that h covers take over. A round that is under way
// is of the policy before.
func (w *witnesses) accept(h Head, waiting []audit.WaitingPolicy) {
	asked := w.policies.Governing(0).Asks()
	if !w.policies.Accept(h.Size, h.Checkpoint) {
		return
	}
	taken := waiting[:len(waiting)-len(w.policies.Waiting())]
	for i, p := range taken {
		switch {
		case !asked:
			w.past = append(w.past, policyInterval{p.Index, p.Policy})
		case i == len(taken)-1:
			w.past = append(w.past, policyInterval{h.Size, p.Policy})
		}
	}
	w.abandon()
	w.changed()
	w.l.cfg.Log.Info("a witness policy is in force", "ledger", w.l.cfg.Info.Name, "entry", taken[len(taken)-1].Index,
		"after_size", h.Size)
}
