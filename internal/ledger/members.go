package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// recruit makes the members those whom the policies name, each at the addresses
// that they name: the one in force, those that wait, so that they are at the head
// when their turn comes, and one that is tried. It runs on the goroutine of run, or
// before it.
func (w *witnessing) recruit() {
	var wanted []audit.Witness
	place := make(map[address]bool) // of wanted
	want := func(p *audit.Policy) {
		if !p.Asks() {
			return
		}
		for _, one := range p.Witnesses {
			if at := addressOf(one); !place[at] {
				place[at] = true
				wanted = append(wanted, one)
			}
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
		if !place[m.at] {
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
		if m.at == addressOf(one) {
			return m
		}
	}
	m := &member{name: one.Name, at: addressOf(one), signer: signer(one.Key), witness: w.l.reachWitness(one),
		targets: make(chan Head, 1), stop: make(chan struct{})}
	w.members = append(w.members, m)
	w.states[m] = WitnessState{Err: errors.New("not asked yet")}
	w.group.Go(func() { m.serve(w.l, w.results) })
	return m
}

// dismiss lets a member go. What it showed stays a doubt, its mere word does not.
func (w *witnessing) dismiss(m *member) {
	close(m.stop)
	w.members = slices.DeleteFunc(w.members, func(other *member) bool { return other == m })
	if w.doubts[m] {
		w.l.ask(w.l.running, func() {
			if c := w.l.doubts[m.at]; c != nil && c.seen == nil {
				delete(w.l.doubts, m.at)
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
	if err == nil {
		err = l.mayAsk(one)
	}
	if err != nil {
		return unreachable{fmt.Errorf("reaching witness %s: %w", one.Name, err)}
	}
	return asked
}

func (l *Ledger) mayAsk(one audit.Witness) error {
	if l.cfg.MayAsk == nil {
		return nil
	}
	return l.cfg.MayAsk(l.Genesis(), one)
}

type unreachable struct{ err error }

func (u unreachable) AddCheckpoint(context.Context, uint64, []tlog.Hash, []byte) ([]byte, error) {
	return nil, u.err
}

func (u unreachable) Latest(context.Context, string) ([]byte, error) { return nil, u.err }
