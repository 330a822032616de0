package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// BestHead returns the head under which the entries up to index are proved: the first late checkpoint that covers them
// and has the cosignatures of all witnesses with an interval; if there is none, the first late checkpoint; if there is
// none, that of HeadFor. After the first one, it checks only checkpoints whose lines name all these witnesses, so that
// a witness that is down makes no look-up slow.
func (w *witnesses) BestHead(ctx context.Context, index uint64) (Head, error) {
	if len(w.l.cfg.Intervals) == 0 {
		return w.HeadFor(index), nil
	}
	policies := w.policies.shown.Load()
	newest, best := w.l.Head().Size, Head{}
	from, checked := index+1, 0
	for _, n := range []int{firstLateRows, lateRows} {
		rows, err := w.l.cfg.Store.LateFrom(ctx, w.l.id, from, n)
		if err != nil {
			return Head{}, Unavailable(fmt.Errorf("reading late checkpoints: %w", err))
		}
		for _, h := range rows {
			policy := policies.At(h.Size)
			if h.Size > newest || checked == maxUnheld || best.Size > 0 && !w.namesAllLate(h, policy) {
				continue
			}
			if checked++; !w.isCosigned(h, policies) {
				continue
			}
			if best.Size == 0 {
				best = h
			}
			if w.hasAllLate(h, policy) {
				return h, nil
			}
		}
		if len(rows) < n {
			break
		}
		from = rows[n-1].Size + 1
	}
	if best.Size > 0 {
		return best, nil
	}
	return w.HeadFor(index), nil
}

// namesAllLate reports whether hasAllLate is true if every signature line of h holds.
func (w *witnesses) namesAllLate(h Head, p *audit.Policy) bool {
	by := make(map[string]bool) // signers
	for line := range strings.Lines(string(h.Checkpoint)) {
		by[gateway.SignerOf(line)] = true
	}
	return w.allLate(p, func(one audit.Witness) bool { return by[gateway.Signer(one.Key)] })
}

// hasAllLate reports whether every witness of the policy that has an interval cosigned h, with
// at least one of its keys.
func (w *witnesses) hasAllLate(h Head, p *audit.Policy) bool {
	all := p.Cosignatures(h.Checkpoint)
	return w.allLate(p, func(one audit.Witness) bool {
		return slices.ContainsFunc(all, func(c audit.Cosignature) bool { return c.Witness == one.Name })
	})
}

// allLate reports whether for each key name that has an interval one key cosigned.
func (w *witnesses) allLate(p *audit.Policy, cosigned func(audit.Witness) bool) bool {
	if p == nil {
		return false
	}
	by := make(map[string]bool) // names of keys
	for _, one := range p.Witnesses {
		by[one.Key.Name()] = by[one.Key.Name()] || cosigned(one)
	}
	for name, has := range by {
		if w.l.cfg.Intervals[name] > 0 && !has {
			return false
		}
	}
	return true
}

// Receipt returns the receipt of an entry as text, under the checkpoint of BestHead; ErrNotFound for an index at or
// above the ledger's size. An entry that another daemon wrote is folded first.
func (w *witnesses) Receipt(ctx context.Context, index uint64) (string, error) {
	if err := w.l.reachEntry(ctx, index); err != nil {
		return "", err
	}
	head, err := w.BestHead(ctx, index)
	if err != nil {
		return "", err
	}
	row, err := w.l.Row(ctx, index)
	if err != nil {
		return "", err
	}
	return w.l.ReceiptUnder(ctx, row, head)
}

// HeadFor returns the head under which the entries up to index are proved: the newest
// cosigned one, if it covers them, and otherwise the newest.
func (w *witnesses) HeadFor(index uint64) Head {
	if h, ok := w.Cosigned(); ok && h.Size > index {
		return h
	}
	return w.l.Head()
}

// Witnesses returns the witnesses of the policy in force and of the policies that wait, by name.
func (w *witnesses) Witnesses() []WitnessState {
	r := &w.roll
	r.mu.Lock()
	defer r.mu.Unlock()
	states := make([]WitnessState, 0, len(r.asked))
	shown := make(map[string]bool)
	for _, one := range r.asked {
		s := WitnessState{Size: one.size, Err: one.err}
		keyed := one.witness.Name + fmt.Sprintf("+%08x", one.witness.Key.KeyHash())
		for _, s.Name = range []string{one.witness.Name, keyed, keyed + " " + one.witness.URL} {
			if !shown[s.Name] {
				break
			}
		}
		shown[s.Name] = true
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b WitnessState) int { return strings.Compare(a.Name, b.Name) })
	return states
}
