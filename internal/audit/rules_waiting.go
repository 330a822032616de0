package audit

import (
	"fmt"
	"slices"
)

// MayWait reports whether one administrator suffices for the act after the delay. For adopting a
// head two are needed: the entry of an act that waits would move the head that the act names, and a
// ledger takes no entry before its head is adopted.
func (a Act) MayWait() bool { return a == ActLatchClear || a == ActKillClear }

// mayWait reports whether the act needs two administrators, and one suffices after the delay.
func (s *State) mayWait(a Act) bool { return s.NeedsTwo(a) && a.MayWait() }

// delayed returns the delay in milliseconds.
func (p *persons) delayed() int64 { return int64(p.delay) * 1000 }

// waits reports whether one administrator signed the act although two are asked for.
func (s *State) waits(a *ActEntry) bool {
	return a.Act != ActCancel && len(a.Signatures) < 2 && s.NeedsTwo(a.Act)
}

// checkWaits: an act that waits is of a kind that may, and does not expire before it takes effect.
func (s *State) checkWaits(a *ActEntry, now int64) error {
	switch due := now + s.persons.delayed(); {
	case a.Act == ActAdoptHead:
		return illegal(RuleAct, "the act adopt_head needs two administrators: it cannot wait, because the act's own entry would move the head")
	case !s.mayWait(a.Act):
		return illegal(RuleAct, "the act %s needs two administrators", a.Act)
	case a.Expires <= due:
		return illegal(RuleAct, "an act of one administrator takes effect at %s, and this one expires at %s: the expiry is later",
			Instant(due+999), Instant(a.Expires))
	}
	return nil
}

// checkWaited: what one administrator approved comes after the delay, and before the act expires.
func (s *State) checkWaited(a approval, now int64) error {
	p := &s.persons
	i := s.waitingFor(a, now)
	if i < 0 {
		return illegal(RuleTwoPersons, "the act %s needs the signatures of two administrators", a.act)
	}
	if due := p.waiting[i].At + p.delayed(); now < due {
		return illegal(RuleTwoPersons, "act %d of one administrator takes effect at %s, and expires at %s",
			p.waiting[i].Index, Instant(due+999), Instant(p.waiting[i].Expires)) // not early by the rounding
	}
	return nil
}

// waitingFor returns the index in waiting of the first act with this approval that has not expired, −1 for none. A
// cancel is for an act of any kind.
func (s *State) waitingFor(a approval, now int64) int {
	return slices.IndexFunc(s.persons.waiting, func(w WaitingAct) bool {
		return (w.Act == a.act || a.act == ActCancel) && w.Digest == a.digest && now < w.Expires
	})
}

// unwait takes the act at index i from those that wait; −1 takes none.
func (p *persons) unwait(i int) {
	if i >= 0 {
		p.waiting = slices.Concat(p.waiting[:i], p.waiting[i+1:])
	}
}

// lapse takes out the acts that have expired.
func (p *persons) lapse(now int64) {
	lapsed := func(w WaitingAct) bool { return w.Expires <= now }
	if slices.ContainsFunc(p.waiting, lapsed) {
		p.waiting = slices.DeleteFunc(slices.Clone(p.waiting), lapsed)
	}
}

// WaitingActs returns the acts that wait, by index. Those that expired after the newest entry are among them.
func (s *State) WaitingActs() (all []WaitingAct) {
	for _, a := range s.persons.waiting {
		a.Due = a.At + s.persons.delayed()
		all = append(all, a)
	}
	return all
}

// Instant returns a time of an entry, UTC milliseconds from 1970 on, as messages show it: RFC 3339 in seconds. The days
// are counted from a 1st of March, so that a leap day is the last of its year; 146,097 days are 400 years.
func Instant(ms int64) string {
	seconds := ms / 1000
	day := seconds/86400 + 719468 // from 0000-03-01
	era, day := day/146097, day%146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153 // from March
	day -= (153*month + 2) / 5
	year += 400 * era
	if month += 3; month > 12 {
		year, month = year+1, month-12
	}
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day+1, seconds/3600%24, seconds/60%60, seconds%60)
}
