package ledger

import (
	"context"
	"errors"
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

// Checkpoint returns the checkpoint to publish: the newest cosigned one, if there is one and
// the policy in force asks for witnesses, and otherwise the newest signed one.
func (l *Ledger) Checkpoint() []byte {
	if h, ok := l.Cosigned(); ok && l.asksWitnesses(l.Head().Size) {
		return h.Checkpoint
	}
	return l.published.Load().Checkpoint
}

// Live returns counts for metrics.
func (l *Ledger) Live() Live {
	live := *l.live.Load()
	live.Cosigned, live.Appends = l.cosignedSize(), l.appends.read()
	return live
}

// asksWitnesses reports whether checkpoints of the newest size need cosignatures.
func (w *witnesses) asksWitnesses(size uint64) bool {
	return w.policies.shown.Load().At(size).Asks()
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

// Abilities say what a ledger can do now. An error is nil if it can, and says why not otherwise.
type Abilities struct {
	Read   error // entries, evidence, events
	Commit error // a new shuffle
	Deal   error // from a shuffle that stands; close it
}

// Ready reports whether everything works. The ledger's kill switch is no fault: a load balancer goes on sending.
func (a Abilities) Ready() bool {
	return a.Read == nil && a.Deal == nil && (a.Commit == nil || errors.Is(a.Commit, errKilled))
}

// Abilities returns what the ledger can do now, as far as that is not a matter of one shuffle.
func (l *Ledger) Abilities() (a Abilities) {
	a.Commit = l.Ready()
	if cause := CauseOf(a.Commit); cause != "" && !causes[cause].reads {
		a.Read = a.Commit
	}
	if a.Deal = a.Commit; a.Deal == nil && l.Genesis().Deals == audit.DealsCosigned {
		a.Deal = l.witnesses.lacking()
	}
	if live := l.live.Load(); a.Commit == nil && live.Latched {
		a.Commit = errLatched
	} else if a.Commit == nil && live.Killed {
		a.Commit = errKilled
	}
	return a
}
