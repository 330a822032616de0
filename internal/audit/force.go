package audit

// Force applies, as the next entry, one that Apply refused. Only audits call it: they go on after a fault and report
// the next one. No ledger is written with it. Whatever of the entry can still take effect takes effect. Later entries
// that build on it are then judged by themselves, and are not reported once more for the first fault (docs/SPEC.md
// section 9.1). An entry that cannot be parsed is Entry{}: it counts, and changes nothing else.
//
// Everything applied so far is final, as after Commit. Force takes any entry in
// any state, and a legal one as Apply does.
func (s *State) Force(e Entry) {
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
	case *Commit:
		if s.pair != nil {
			if _, err := s.running(s.pair.shuffle); err != nil || s.pair.shuffle == index {
				s.pair = nil // the parent cannot be closed, or is the child itself
			}
		}
	case *Close:
		if b.Outcome == OutcomeContinued {
			s.pair = nil // disclosures follow the end of its chain, which is in a child
		}
	}
	s.Commit()
}

// hasEffect reports whether the body of an entry that breaks a rule changes anything, apart from the
// time and the number of entries. Before a genesis there is no ledger that anything could change.
func (s *State) hasEffect(b Body) bool {
	if _, genesis := b.(*Genesis); genesis || s.genesis == nil {
		return genesis && s.genesis == nil
	}
	o, open := s.open.find(ShuffleOf(b))
	running := open && o.stage == playing
	switch b := b.(type) {
	case *Mix:
		return running && o.planned
	case *Deal, *Close, *Takeover:
		return running
	case *Reveal:
		return open
	case *DisclosureEntry:
		return open && o.stage == due
	case *Key:
		return s.matters(b)
	case *Credential:
		return s.counts(b)
	}
	return b != nil
}

// counts reports whether a credential's entry that breaks a rule changes anything. A revocation does if the credential
// is known. A creation does if the credential is new, and neither name in it is reserved.
func (s *State) counts(c *Credential) bool {
	known := s.holders.known[c.ID] != nil
	if c.Kind == CredentialRevoked {
		return known
	}
	return !known && !reserved(c.ID) && !reserved(c.Identity)
}

// matters reports whether a key entry that breaks a rule changes anything. A retirement of a key that is unknown, of
// another subject or retired does not, nor an auditor key that is in force or would be one too many.
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
