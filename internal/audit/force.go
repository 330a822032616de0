package audit

// Force folds in, as the next entry, one that Apply refused. It is for audits
// only, which go on after a fault and report the next one; no ledger is written
// with it. What of the entry can still take effect does, so that the entries
// that its writer put on top of it are judged for themselves and not once more
// for the first fault (docs/SPEC.md section 9.1). An entry that cannot be parsed
// is Entry{}: it counts and changes nothing else.
//
// Everything applied so far is final, as after Commit. Force takes any entry in
// any state, and a legal one as Apply does.
func (s *State) Force(e Entry) {
	index := s.size
	s.faulty = true
	expected := s.pair
	if expected != nil && !expected.takes(e) {
		expected = nil // it is over
	}
	s.size, s.pair = index+1, nil
	if e.Body != nil {
		s.spend(e)
	}
	s.persons.approved = nil
	if e.Body != nil {
		s.time = e.Time
		s.force(e, index, expected)
	}
	s.Commit()
}

func (s *State) force(e Entry, index uint64, expected *pair) {
	if g, ok := e.Body.(*Genesis); ok && s.genesis == nil {
		s.applyGenesis(g)
		s.persons.genesis = e.hash()
	}
	if s.genesis == nil {
		return // there is no ledger yet that anything could change
	}
	switch b := e.Body.(type) {
	case *Commit:
		s.applyCommit(b, index, e)
		if s.pair != nil {
			if _, err := s.running(s.pair.shuffle); err != nil || s.pair.shuffle == index {
				s.pair = nil // the parent cannot be closed, or is the child itself
			}
		}
	case *Mix:
		if o, err := s.running(b.Shuffle); err == nil && o.planned {
			s.keep(o)
			o.mixed = true
		}
	case *Deal:
		if o, err := s.running(b.Shuffle); err == nil {
			s.dealTo(o, b)
		}
	case *Close:
		if _, err := s.running(b.Shuffle); err == nil {
			s.applyClose(b, expected, e.Actor)
			if b.Outcome == OutcomeContinued {
				s.pair = nil // disclosures follow the end of its chain, which is in a child
			}
		}
	case *Key:
		if s.matters(b) {
			s.applyKey(b, index, e.Time)
		}
	case *Event:
		s.applyEvent(b, index, e.Time)
	case *Reveal:
		if s.open.has(b.Shuffle) {
			s.applyReveal(b)
		}
	case *Takeover:
		if _, err := s.running(b.Shuffle); err == nil {
			s.applyTakeover(b, e.Actor)
		}
	case *DisclosureEntry:
		if o, ok := s.open.find(b.Shuffle); ok && o.stage == due {
			s.applyDisclosure(b, expected)
		}
	case *ActEntry:
		s.applyAct(b, index, e.Time)
	case *Credential:
		if s.counts(b) {
			s.applyCredential(b, index, e.Time)
		}
	}
}

// counts reports whether a credential's entry that breaks a rule changes anything: not
// one of a reserved name, which opens nothing, nor one that changes nothing.
func (s *State) counts(c *Credential) bool {
	known := s.holders.known[c.ID] != nil
	if c.Kind == CredentialRevoked {
		return known
	}
	return !known && !reserved(c.ID) && !reserved(c.Identity)
}

// matters reports whether a key entry that breaks a rule changes anything. A
// retirement of a key that is unknown, of another subject or retired does not,
// nor an auditor key that is in force or would be one too many.
func (s *State) matters(k *Key) bool {
	switch k.Subject {
	case SubjectAuditor:
		return s.keys.auditors[KeyID(k.Public)] == nil && len(s.keys.auditors) < MaxAuditors
	case SubjectRetirement:
		known := s.keys.known[k.ID]
		return known.subject == k.Retired && !known.retired
	}
	return true
}
