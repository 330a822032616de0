package rules

import "shuffled/internal/audit"

// Apply applies e as the next entry; e was parsed, or Encode took it. If e breaks a rule,
// Apply changes nothing and returns an *Illegal, or an ErrUnknown if a policy has a key that
// this version cannot judge. It keeps no part of a commit.
func (s *State) Apply(e audit.Entry) error {
	if err := s.check(e); err != nil {
		return err
	}
	s.fold(e)
	return nil
}

// fold is Apply of an entry that was checked.
func (s *State) fold(e audit.Entry) {
	index, expected := s.size, s.pair
	s.saved = append(s.saved, s.restored)
	s.push(s.restore)
	s.size, s.time, s.pair = index+1, e.Time, nil
	s.spend(e)
	s.take(e, index, expected)
}

// check returns the first rule that an entry breaks as the next one.
func (s *State) check(e audit.Entry) error {
	_, isGenesis := e.Body.(*audit.Genesis)
	switch {
	case isGenesis != (s.size == 0):
		return illegal(audit.RuleGenesisFirst, "entry %d is a %s", s.size, e.Body.Type())
	case s.genesis == nil && !isGenesis:
		return illegal(audit.RuleGenesisFirst, "no genesis stands below") // after Force
	case isGenesis:
		return checkGenesis(e.Body.(*audit.Genesis))
	case e.Time < s.time:
		return illegal(audit.RuleTime, "the time %s comes after %s", audit.Instant(e.Time), audit.Instant(s.time))
	case s.pair != nil && !s.pair.takes(e):
		return s.pair.broken()
	}
	if err := s.checkApproved(e); err != nil {
		return err
	}
	if err := s.checkHolder(e); err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case *audit.Commit:
		return s.checkCommit(b, e)
	case *audit.Mix:
		return s.checkMix(b, e)
	case *audit.Deal:
		return s.checkDeal(b, e)
	case *audit.Close:
		return s.checkClose(b, e)
	case *audit.Takeover:
		return s.checkTakeover(b, e.Actor)
	case *audit.Credential:
		return s.checkCredential(b)
	case *audit.ActEntry:
		return s.checkAct(b, e.Time)
	case *audit.Reveal:
		return s.checkReveal(b, e)
	case *audit.DisclosureEntry:
		return s.checkDisclosure(b)
	case *audit.Key:
		return s.checkKey(b)
	case *audit.Event:
		return s.checkEvent(b)
	}
	return nil
}

// take changes the state as the entry with this index says. expected is the pair that it completes, nil for none.
func (s *State) take(e audit.Entry, index uint64, expected *pair) {
	switch b := e.Body.(type) {
	case *audit.Genesis:
		s.applyGenesis(b)
		s.persons.genesis = e.Hash()
	case *audit.Commit:
		s.applyCommit(b, index, e)
	case *audit.Mix:
		s.change(b.Shuffle).mixed = true
	case *audit.Deal:
		s.applyDeal(b)
	case *audit.Close:
		s.applyClose(b, expected, e.Actor)
	case *audit.Key:
		s.applyKey(b, index, e.Time)
	case *audit.Event:
		s.applyEvent(b, index, e.Time)
	case *audit.Takeover:
		s.applyTakeover(b, e.Actor)
	case *audit.Credential:
		s.applyCredential(b, index, e.Time)
	case *audit.ActEntry:
		s.applyAct(b, index, e.Time)
	case *audit.Reveal:
		s.applyReveal(b)
	case *audit.DisclosureEntry:
		s.applyDisclosure(b, expected)
	}
	if o, ok := s.open.find(audit.ShuffleOf(e.Body)); ok {
		o.entries = min(o.entries, 0xfffe) + 1 // the case above kept what was there before
	}
}

// Force applies, as the next entry, one that Apply refused. Only audits call it: they go on after a fault and report
// the next one. No ledger is written with it. Whatever of the entry can still take effect takes effect. Later entries
// that build on it are then judged by themselves, and are not reported once more for the first fault (docs/SPEC.md
// section 9.1). An entry that cannot be parsed is Entry{}: it counts, and changes nothing else.
//
// Everything applied so far is final, as after Commit. Force takes any entry in
// any state, and a legal one as Apply does.
func (s *State) Force(e audit.Entry) {
	index, expected := s.size, s.pair
	s.faulty = true
	if expected != nil && !expected.takes(e) {
		expected = nil // the pair ends with another entry
	}
	s.size, s.pair = index+1, nil
	if e.Body != nil {
		s.time = e.Time
		s.spend(e)
	}
	s.persons.approved = nil
	if s.hasEffect(e.Body) {
		s.take(e, index, expected)
	}
	switch b := e.Body.(type) {
	case *audit.Commit:
		if s.pair != nil {
			if _, err := s.running(s.pair.shuffle); err != nil || s.pair.shuffle == index {
				s.pair = nil // the parent cannot be closed, or is the child itself
			}
		}
	case *audit.Close:
		if b.Outcome == audit.OutcomeContinued {
			s.pair = nil // disclosures follow the end of its chain, which is in a child
		}
	}
	s.Commit()
}

// hasEffect reports whether the body of an entry that breaks a rule changes anything, apart from the
// time and the number of entries. Before a genesis there is no ledger that anything could change.
func (s *State) hasEffect(b audit.Body) bool {
	if _, genesis := b.(*audit.Genesis); genesis || s.genesis == nil {
		return genesis && s.genesis == nil
	}
	o, open := s.open.find(audit.ShuffleOf(b))
	running := open && o.stage == playing
	switch b := b.(type) {
	case *audit.Mix:
		return running && o.planned
	case *audit.Deal, *audit.Close, *audit.Takeover:
		return running
	case *audit.Reveal:
		return open
	case *audit.DisclosureEntry:
		return open && o.stage == due
	case *audit.Key:
		return s.matters(b)
	case *audit.Credential:
		return s.counts(b)
	}
	return b != nil
}

// counts reports whether a credential's entry that breaks a rule changes anything. A revocation does if the credential
// is known. A creation does if the credential is new, and neither name in it is reserved.
func (s *State) counts(c *audit.Credential) bool {
	known := s.holders.known[c.ID] != nil
	if c.Kind == audit.CredentialRevoked {
		return known
	}
	return !known && !audit.Reserved(c.ID) && !audit.Reserved(c.Identity)
}

// matters reports whether a key entry that breaks a rule changes anything. A retirement of a key that is unknown, of
// another subject or retired does not, nor an auditor key that is in force or would be one too many.
func (s *State) matters(k *audit.Key) bool {
	switch k.Subject {
	case audit.SubjectAuditor:
		return s.keys.auditors[audit.KeyID(k.Public)] == nil && len(s.keys.auditors) < audit.MaxAuditors
	case audit.SubjectRetirement:
		known := s.keys.known[k.ID]
		return known.subject == k.Retired && !known.retired
	}
	return true
}
