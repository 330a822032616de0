package audit

import (
	"slices"
	"time"
)

// waitingAct is an act of one administrator, where two are asked for: break-glass. It is
// in force from the end of the delay until it expires.
type waitingAct struct {
	approval
	index   uint64
	at      int64 // UTC milliseconds
	expires int64 // UTC milliseconds
}

// MayWait reports whether one administrator suffices for the act after the delay. Adopting
// a head is no such act: the entry of an act that waits would move the head that it names,
// and no ledger is open to take it before its head is adopted.
func (a Act) MayWait() bool { return a == ActLatchClear || a == ActKillClear }

// mayWait reports whether the act is asked of two administrators, and one suffices after
// the delay.
func (s *State) mayWait(a Act) bool { return s.NeedsTwo(a) && a.MayWait() }

// delayed returns the delay in milliseconds.
func (p *persons) delayed() int64 { return int64(p.delay) * 1000 }

// waits reports whether the act is of one administrator where two are asked for.
func (s *State) waits(a *ActEntry) bool {
	return a.Act != ActCancel && len(a.Signatures) < 2 && s.NeedsTwo(a.Act)
}

// checkWaits: an act that waits is of a kind that may, and does not expire before it
// takes effect.
func (s *State) checkWaits(a *ActEntry, now int64) error {
	switch due := now + s.persons.delayed(); {
	case a.Act == ActAdoptHead:
		return illegal(RuleAct, "adopt_head needs two administrators: it cannot wait, because the act's own entry would move the head")
	case !s.mayWait(a.Act):
		return illegal(RuleAct, "%s needs two administrators", a.Act)
	case a.Expires <= due:
		return illegal(RuleAct, "an act of one administrator takes effect at %s, and this one expires at %s: the expiry is later",
			Instant(due+999), Instant(a.Expires))
	}
	return nil
}

// checkWaited: what one administrator approved comes after the delay, and before the act
// expires.
func (s *State) checkWaited(a approval, now int64) error {
	p := &s.persons
	i := s.waitingFor(a, now)
	if i < 0 {
		return illegal(RuleTwoPersons, "%s needs an act of two administrators", a.act)
	}
	if due := p.waiting[i].at + p.delayed(); now < due {
		return illegal(RuleTwoPersons, "act %d of one administrator takes effect at %s, and expires at %s",
			p.waiting[i].index, Instant(due+999), Instant(p.waiting[i].expires)) // not early by the rounding
	}
	return nil
}

// waitingFor returns the place of the first act that waits with this approval and has not
// lapsed, −1 for none.
func (s *State) waitingFor(a approval, now int64) int {
	return slices.IndexFunc(s.persons.waiting, func(w waitingAct) bool { return w.approval == a && now < w.expires })
}

// waitingDigest is waitingFor whatever the act.
func (s *State) waitingDigest(digest [32]byte, now int64) int {
	return slices.IndexFunc(s.persons.waiting, func(w waitingAct) bool { return w.digest == digest && now < w.expires })
}

// unwait takes the act at a place from those that wait, if there is one.
func (s *State) unwait(i int) {
	if i >= 0 {
		w := s.persons.waiting
		s.persons.waiting = slices.Concat(w[:i], w[i+1:])
	}
}

// lapse takes out the acts that have expired.
func (p *persons) lapse(now int64) {
	lapsed := func(w waitingAct) bool { return w.expires <= now }
	if slices.ContainsFunc(p.waiting, lapsed) {
		p.waiting = slices.DeleteFunc(slices.Clone(p.waiting), lapsed)
	}
}

// WaitingAct is an act of one administrator, where two are asked for.
type WaitingAct struct {
	Index   uint64
	Due     int64 // UTC milliseconds from when on what it approves may be written
	Expires int64 // UTC milliseconds from when on it may not
	Digest  [32]byte
}

// WaitingActs returns the acts that wait, by index. Those that expired after the newest
// entry are among them.
func (s *State) WaitingActs() (all []WaitingAct) {
	for _, a := range s.persons.waiting {
		all = append(all, WaitingAct{a.index, a.at + s.persons.delayed(), a.expires, a.digest})
	}
	return all
}

// Instant returns a time of an entry, UTC milliseconds, as messages show it.
func Instant(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
