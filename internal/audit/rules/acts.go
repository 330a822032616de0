package rules

import (
	"maps"
	"slices"

	"shuffled/internal/audit"
)

// alwaysTwo are the acts that need two administrators in every production ledger. With one of them,
// an administrator alone could become two persons, or choose the co-dealer.
var alwaysTwo = []audit.Act{audit.ActAdministrator, audit.ActAdminCredential, audit.ActTakeover, audit.ActTwoPersons,
	audit.ActCoDealer}

// actLife is the longest time for which an act is valid, in milliseconds. For an act that may wait
// it begins after the delay.
const actLife = 24 * 60 * 60 * 1000

// GenesisHash returns SHA-256 of the genesis entry, zeros before it.
func (s *State) GenesisHash() [32]byte { return s.persons.genesis }

// NewestAct returns the index of the newest act, 0 for none.
func (s *State) NewestAct() uint64 { return s.persons.newest }

// Administrators returns the administrators in force, by name.
func (s *State) Administrators() (all []audit.Administrator) {
	for _, name := range slices.Sorted(maps.Keys(s.persons.inForce)) {
		all = append(all, audit.Administrator{Name: name, Key: s.persons.inForce[name]})
	}
	return all
}

// NeedsTwo reports whether the act needs two administrators.
func (s *State) NeedsTwo(a audit.Act) bool { return slices.Contains(s.persons.acts, a) }

// checkTwoPersons: if two administrators are asked for, two are in force.
func checkTwoPersons(production bool, administrators int, acts []audit.Act) error {
	if administrators < 2 && (len(acts) > 0 || production) {
		return illegal(audit.RuleAdmins, "two administrators are asked for, and %d would be in force", administrators)
	}
	for _, a := range alwaysTwo {
		if production && !slices.Contains(acts, a) {
			return illegal(audit.RuleAdmins, "a production ledger asks for two administrators for %s", a)
		}
	}
	return nil
}

func (s *State) checkAdministrator(k *audit.Key) error {
	if k.Admin != audit.ChangeRemove {
		if err := soundKey(audit.SubjectAdministrator, k.Public); err != nil {
			return err
		}
		if s.IsSigningKey(k.Public) {
			return signsBoth(k.Name)
		}
	}
	p, after := &s.persons, len(s.persons.inForce)
	_, inForce := p.inForce[k.Name]
	switch k.Admin {
	case audit.ChangeAdd:
		after++
		if p.stood[k.Name] {
			return illegal(audit.RuleAdmins, "an administrator %s stood in the ledger before", k.Name)
		}
	case audit.ChangeRemove:
		after--
	}
	switch {
	case k.Admin != audit.ChangeAdd && !inForce:
		return illegal(audit.RuleAdmins, "no administrator %s is in force", k.Name)
	case after > audit.MaxAdmins:
		return illegal(audit.RuleAdmins, "at most %d administrators are in force", audit.MaxAdmins)
	case k.Admin != audit.ChangeRemove && p.stood[string(k.Public)]:
		return illegal(audit.RuleAdmins, "the key of administrator %s stood in the ledger before", k.Name)
	}
	return checkTwoPersons(s.genesis.Production, after, p.acts)
}

// put makes maps of its own, because copies share those that it finds.
func (p *persons) put(a audit.Administrator, how audit.Change) {
	p.inForce, p.stood = maps.Clone(p.inForce), maps.Clone(p.stood)
	if how == audit.ChangeRemove {
		delete(p.inForce, a.Name)
		return
	}
	p.inForce[a.Name] = a.Key
	p.stood[a.Name], p.stood[string(a.Key)] = true, true
}

func (s *State) checkAct(a *audit.ActEntry, now int64) error {
	p := &s.persons
	switch {
	case a.Previous != p.newest:
		return illegal(audit.RuleAct, "the newest act is entry %d, not %d", p.newest, a.Previous)
	case a.HeadSize == 0 || a.HeadSize > s.size:
		return illegal(audit.RuleAct, "a head of %d entries at entry %d: it has 1 to %d", a.HeadSize, s.size, s.size)
	}
	if err := s.checkExpiry(a, now); err != nil {
		return err
	}
	for _, sig := range a.Signatures {
		key := p.inForce[sig.Administrator]
		if key == nil {
			return illegal(audit.RuleAct, "no administrator %s is in force", sig.Administrator)
		}
		if !audit.VerifyEd25519(key[1:], a.Signed(p.genesis), sig.Signature[:]) {
			return illegal(audit.RuleAct, "the signature is not of administrator %s", sig.Administrator)
		}
	}
	if s.waits(a) {
		return s.checkWaits(a, now)
	}
	if a.Act == audit.ActCancel && s.waitingFor(approval{a.Act, a.Digest}, now) < 0 {
		return illegal(audit.RuleAct, "no act with this digest waits")
	}
	return nil
}

// checkExpiry: an act is valid for a day at most. For an act that may wait the day begins after the
// delay, also if two administrators signed it: one and two sign the same bytes.
func (s *State) checkExpiry(a *audit.ActEntry, now int64) error {
	life, said := int64(actLife), "24 hours"
	if s.mayWait(a.Act) {
		life, said = life+s.persons.delayed(), "the delay and 24 hours"
	}
	if now >= a.Expires || a.Expires-now > life {
		return illegal(audit.RuleAct, "the act expires at %s, and the entry is of %s: the expiry is later, by at most %s",
			audit.Instant(a.Expires), audit.Instant(now), said)
	}
	return nil
}

func (s *State) applyAct(a *audit.ActEntry, index uint64, now int64) {
	p := &s.persons
	p.newest = index
	switch {
	case a.Act == audit.ActCancel:
		p.unwait(s.waitingFor(approval{a.Act, a.Digest}, now))
	case s.waits(a):
		if now < a.Expires { // one that Force put in may have lapsed
			p.waiting = append(slices.Clip(p.waiting), WaitingAct{Act: a.Act, Digest: a.Digest, Index: index,
				At: now, Expires: a.Expires})
		}
	default:
		p.approved = &approval{a.Act, a.Digest}
	}
}

// checkApproved: what an act approved comes next, and what needs an act has one (docs/SPEC.md
// section 9, pair and two_persons).
func (s *State) checkApproved(e audit.Entry) error {
	p := &s.persons
	act, ok := audit.ActFor(e.Body)
	if p.approved != nil {
		if !ok || *p.approved != (approval{act, audit.Approved(e.Actor.Identity, e.Body)}) {
			return illegal(audit.RulePair, "the entry that act %d approves must follow", p.newest)
		}
		return nil
	}
	if !ok || !s.NeedsTwo(act) || s.holders.supposed {
		return nil
	}
	return s.checkWaited(approval{act, audit.Approved(e.Actor.Identity, e.Body)}, e.Time)
}

// spend ends the approval that the entry e uses, and the acts that expired before it.
func (s *State) spend(e audit.Entry) {
	p := &s.persons
	lapsed := func(w WaitingAct) bool { return w.Expires <= e.Time }
	if slices.ContainsFunc(p.waiting, lapsed) {
		p.waiting = slices.DeleteFunc(slices.Clone(p.waiting), lapsed)
	}
	if p.approved != nil {
		p.approved = nil
	} else if act, ok := audit.ActFor(e.Body); ok && len(p.waiting) > 0 && s.NeedsTwo(act) {
		p.unwait(s.waitingFor(approval{act, audit.Approved(e.Actor.Identity, e.Body)}, e.Time))
	}
}

// TwoPersons returns the acts that need two administrators, and after how many seconds an act of one takes effect.
func (s *State) TwoPersons() (acts []audit.Act, delay uint32) { return s.persons.acts, s.persons.delay }

// mayWait reports whether the act needs two administrators, and one suffices after the delay.
func (s *State) mayWait(a audit.Act) bool { return s.NeedsTwo(a) && a.MayWait() }

// delayed returns the delay in milliseconds.
func (p *persons) delayed() int64 { return int64(p.delay) * 1000 }

// waits reports whether one administrator signed the act although two are asked for.
func (s *State) waits(a *audit.ActEntry) bool {
	return a.Act != audit.ActCancel && len(a.Signatures) < 2 && s.NeedsTwo(a.Act)
}

// checkWaits: an act that waits is of a kind that may, and does not expire before it takes effect.
func (s *State) checkWaits(a *audit.ActEntry, now int64) error {
	switch due := now + s.persons.delayed(); {
	case a.Act == audit.ActAdoptHead:
		return illegal(audit.RuleAct, "the act adopt_head needs two administrators: it cannot wait, because the act's own entry would move the head")
	case !s.mayWait(a.Act):
		return illegal(audit.RuleAct, "the act %s needs two administrators", a.Act)
	case a.Expires <= due:
		return illegal(audit.RuleAct, "an act of one administrator takes effect at %s, and this one expires at %s: the expiry is later",
			audit.Instant(due+999), audit.Instant(a.Expires))
	}
	return nil
}

// checkWaited: what one administrator approved comes after the delay, and before the act expires.
func (s *State) checkWaited(a approval, now int64) error {
	p := &s.persons
	i := s.waitingFor(a, now)
	if i < 0 {
		return illegal(audit.RuleTwoPersons, "the act %s needs the signatures of two administrators", a.act)
	}
	if due := p.waiting[i].At + p.delayed(); now < due {
		return illegal(audit.RuleTwoPersons, "act %d of one administrator takes effect at %s, and expires at %s",
			p.waiting[i].Index, audit.Instant(due+999),
			audit.Instant(p.waiting[i].Expires)) // not early by the rounding
	}
	return nil
}

// waitingFor returns the index in waiting of the first act with this approval that has not expired, −1 for none. A
// cancel is for an act of any kind.
func (s *State) waitingFor(a approval, now int64) int {
	return slices.IndexFunc(s.persons.waiting, func(w WaitingAct) bool {
		return (w.Act == a.act || a.act == audit.ActCancel) && w.Digest == a.digest && now < w.Expires
	})
}

// unwait takes the act at index i from those that wait; −1 takes none.
func (p *persons) unwait(i int) {
	if i >= 0 {
		p.waiting = slices.Concat(p.waiting[:i], p.waiting[i+1:])
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
