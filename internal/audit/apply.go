package audit

// Apply applies e as the next entry; e was parsed, or Encode took it. If e breaks a rule,
// Apply changes nothing and returns an *Illegal, or an ErrUnknown if a policy has a key that
// this version cannot judge. It keeps no part of a commit.
func (s *State) Apply(e Entry) error {
	if err := s.check(e); err != nil {
		return err
	}
	s.fold(e)
	return nil
}

// fold is Apply of an entry that was checked.
func (s *State) fold(e Entry) {
	index, expected := s.size, s.pair
	s.saved = append(s.saved, s.restored)
	s.push(s.restore)
	s.size, s.time, s.pair = index+1, e.Time, nil
	s.spend(e)
	s.take(e, index, expected)
}

// check returns the first rule that an entry breaks as the next one.
func (s *State) check(e Entry) error {
	_, isGenesis := e.Body.(*Genesis)
	switch {
	case isGenesis != (s.size == 0):
		return illegal(RuleGenesisFirst, "entry %d is a %s", s.size, e.Body.Type())
	case s.genesis == nil && !isGenesis:
		return illegal(RuleGenesisFirst, "no genesis stands below") // after Force
	case isGenesis:
		return checkGenesis(e.Body.(*Genesis))
	case e.Time < s.time:
		return illegal(RuleTime, "the time %s comes after %s", Instant(e.Time), Instant(s.time))
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
	case *Commit:
		return s.checkCommit(b, e)
	case *Mix:
		return s.checkMix(b, e)
	case *Deal:
		return s.checkDeal(b, e)
	case *Close:
		return s.checkClose(b, e)
	case *Takeover:
		return s.checkTakeover(b, e.Actor)
	case *Credential:
		return s.checkCredential(b)
	case *ActEntry:
		return s.checkAct(b, e.Time)
	case *Reveal:
		return s.checkReveal(b, e)
	case *DisclosureEntry:
		return s.checkDisclosure(b)
	case *Key:
		return s.checkKey(b)
	case *Event:
		return s.checkEvent(b)
	}
	return nil
}

// take changes the state as the entry with this index says. expected is the pair that it completes, nil for none.
func (s *State) take(e Entry, index uint64, expected *pair) {
	switch b := e.Body.(type) {
	case *Genesis:
		s.applyGenesis(b)
		s.persons.genesis = e.hash()
	case *Commit:
		s.applyCommit(b, index, e)
	case *Mix:
		s.change(b.Shuffle).mixed = true
	case *Deal:
		s.applyDeal(b)
	case *Close:
		s.applyClose(b, expected, e.Actor)
	case *Key:
		s.applyKey(b, index, e.Time)
	case *Event:
		s.applyEvent(b, index, e.Time)
	case *Takeover:
		s.applyTakeover(b, e.Actor)
	case *Credential:
		s.applyCredential(b, index, e.Time)
	case *ActEntry:
		s.applyAct(b, index, e.Time)
	case *Reveal:
		s.applyReveal(b)
	case *DisclosureEntry:
		s.applyDisclosure(b, expected)
	}
	if o, ok := s.open.find(ShuffleOf(e.Body)); ok {
		o.entries = min(o.entries, 0xfffe) + 1 // the case above kept what was there before
	}
}
