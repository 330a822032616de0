package ledger

import (
	"context"
	"slices"

	"shuffled/internal/audit"
)

// tenures says which witness policy governs which checkpoints (docs/SPEC.md
// section 7.3). A published one is not changed.
type tenures struct {
	list  []tenure // ascending, at least one
	waits uint64   // index of the first policy that waits; MaxInteger for none
}

// tenure is a policy that governs checkpoints above a size, up to that of the
// next tenure.
type tenure struct {
	above  uint64
	policy *audit.Policy // nil: none
}

// at returns the policy that governs a checkpoint of that size, nil for none.
func (t tenures) at(size uint64) *audit.Policy {
	i := len(t.list) - 1
	for i > 0 && t.list[i].above >= size {
		i--
	}
	return t.list[i].policy
}

// asks reports whether any of the policies asks for witnesses.
func (t tenures) asks() bool {
	return slices.ContainsFunc(t.list, func(one tenure) bool { return one.policy.Asks() })
}

// asksWitnesses reports whether checkpoints of the newest size need cosignatures.
func (l *Ledger) asksWitnesses(size uint64) bool { return l.witnessing.tenures.Load().at(size).Asks() }

// learn takes the policies of new entries; news: there was one. The fold has read
// them before.
func (w *witnessing) learn() (news bool) {
	records := w.l.keys.Load().records
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
	if news || w.tenures.Load() == nil {
		w.publish()
	}
	return news
}

// publish shows which policy governs: those that were in force and, where the
// last of them asks for nobody, those that wait.
func (w *witnessing) publish() {
	t := tenures{slices.Clone(w.past), audit.MaxInteger}
	for i, p := range w.policies.Waiting() {
		if i == 0 {
			t.waits = p.Index
		}
		if !w.policies.Governing(0).Asks() {
			t.list = append(t.list, tenure{p.Index, p.Policy})
		}
	}
	w.tenures.Store(&t)
}

// unseen returns the size from which on follow has read no stored checkpoint, if
// one of that size lets a waiting policy take over; else 0.
func (w *witnessing) unseen(size uint64) uint64 {
	waiting := w.policies.Waiting()
	if len(waiting) == 0 || waiting[0].Index >= size {
		return 0
	}
	return max(w.looked, waiting[0].Index+1)
}

// follow reads the stored cosigned checkpoints for one that lets a waiting policy
// take over, from this daemon or another; changed: there was one, and recruit is
// due. Rows that do not hold are passed over, each once. Without a waiting policy
// there is nothing to read.
func (w *witnessing) follow() (changed bool) {
	waiting := w.policies.Waiting()
	if len(waiting) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(w.l.running, storeTimeout)
	defer cancel()
	head := w.l.Head()
	for h, err := range w.l.cfg.Store.CosignedFrom(ctx, w.l.id, max(w.looked, waiting[0].Index+1)) {
		if err != nil || h.Size > head.Size {
			break // the rest is looked at later
		}
		held, err := w.holds(ctx, head, h)
		if err != nil {
			break
		}
		w.looked = h.Size + 1
		if held && w.accept(h) {
			w.follow() // what waits now is covered by none of the rows up to its entry
			return true
		}
	}
	return false
}

// holds reports whether a stored head is one that the ledger signed, of its
// history; an error says that the store could not tell.
func (w *witnessing) holds(ctx context.Context, head, h Head) (bool, error) {
	c, err := audit.OpenCheckpoint(h.Checkpoint, w.l.keys.Load().at(h.Size))
	if err != nil || c.Size != h.Size || c.Root != h.Root {
		return false, nil
	}
	return w.l.extends(ctx, head, c)
}

// accept lets waiting policies take over if h is cosigned under the one that
// governs it; changed: one did.
func (w *witnessing) accept(h Head) (changed bool) {
	asked, before := w.policies.Governing(0).Asks(), w.policies.Waiting()
	if !w.policies.Accept(h.Size, h.Checkpoint) {
		return false
	}
	taken := before[:len(before)-len(w.policies.Waiting())]
	for i, p := range taken {
		switch {
		case !asked:
			w.past = append(w.past, tenure{p.Index, p.Policy})
		case i == len(taken)-1:
			w.past = append(w.past, tenure{h.Size, p.Policy})
		}
	}
	if len(taken) == 0 {
		return false
	}
	w.round = nil // one under way may be of a smaller size, which the policy before governs
	w.publish()
	w.l.cfg.Log.Info("a witness policy is in force", "ledger", w.l.cfg.Info.Name, "entry", taken[len(taken)-1].Index,
		"after_size", h.Size)
	return true
}
