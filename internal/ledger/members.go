package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// recruit makes the members those whom the policies name: the one in force, those
// that wait, so that they are at the head when their turn comes, and one that is
// tried. It runs on the goroutine of run, or before it.
func (w *witnessing) recruit() {
	var wanted []audit.Witness
	place := make(map[string]int) // in wanted, by key
	want := func(p *audit.Policy) {
		if !p.Asks() {
			return
		}
		for _, one := range p.Witnesses {
			if i, known := place[one.VKey]; known {
				wanted[i] = one // at its newest address
				continue
			}
			place[one.VKey] = len(wanted)
			wanted = append(wanted, one)
		}
	}
	want(w.policies.Governing(0))
	for _, p := range w.policies.Waiting() {
		want(p.Policy)
	}
	ours := len(wanted)
	if w.trial != nil {
		want(w.trial.policy)
	}
	for _, m := range slices.Clone(w.members) {
		if i, ok := place[m.vkey]; !ok || wanted[i].URL != m.url {
			w.dismiss(m)
		}
	}
	for i, one := range wanted {
		m := w.member(one)
		m.tried = i >= ours
	}
	w.show()
}

// member returns the member of a witness, which it makes if there is none.
func (w *witnessing) member(one audit.Witness) *member {
	for _, m := range w.members {
		if m.vkey == one.VKey {
			return m
		}
	}
	m := &member{name: one.Name, vkey: one.VKey, url: one.URL, signer: signer(one.Key), witness: w.l.reachWitness(one),
		targets: make(chan Head, 1), stop: make(chan struct{})}
	if slices.ContainsFunc(w.members, func(other *member) bool { return other.name == m.name }) {
		m.name = fmt.Sprintf("%s+%08x", one.Name, one.Key.KeyHash())
	}
	w.members = append(w.members, m)
	w.states[m] = WitnessState{Name: m.name, Err: errors.New("not asked yet")}
	w.group.Go(func() { m.serve(w.l, w.results) })
	return m
}

// dismiss lets a member go. What it showed stays a doubt, its mere word does not.
func (w *witnessing) dismiss(m *member) {
	close(m.stop)
	w.members = slices.DeleteFunc(w.members, func(other *member) bool { return other == m })
	if w.doubts[m] {
		w.l.ask(w.l.running, func() {
			if c := w.l.doubts[m.vkey]; c != nil && c.seen == nil {
				delete(w.l.doubts, m.vkey)
			}
		})
	}
	delete(w.states, m)
	delete(w.told, m)
	delete(w.doubts, m)
	delete(w.unheard, m)
	w.heard()
	if w.round != nil {
		if delete(w.round.waits, m); len(w.round.waits) == 0 {
			w.round = nil // nobody is left to end it
		}
	}
}

// reachWitness returns the way to a witness; where there is none, one that says
// so whenever it is asked.
func (l *Ledger) reachWitness(one audit.Witness) Witness {
	if l.cfg.Witness == nil {
		return unreachable{errors.New("there is no way to reach witnesses")}
	}
	asked, err := l.cfg.Witness(one)
	if err != nil {
		return unreachable{fmt.Errorf("reaching witness %s: %w", one.Name, err)}
	}
	return asked
}

type unreachable struct{ err error }

func (u unreachable) AddCheckpoint(context.Context, uint64, []tlog.Hash, []byte) ([]byte, error) {
	return nil, u.err
}

func (u unreachable) Latest(context.Context, string) ([]byte, error) { return nil, u.err }
