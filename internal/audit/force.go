package audit

// Force folds in, as the next entry, one that Apply refused. It is for audits
// only, which go on after a fault and report the next one; no ledger is written
// with it. What of the entry can still take effect does, so that the entries
// that its writer put on top of it are judged for themselves and not once more
// for the first fault (docs/SPEC.md section 9.1). An entry that cannot be parsed
// is Entry{}: it counts and changes nothing else.
//
// Everything applied so far is final, as after Commit. Force takes any entry in
// any state, and a legal one as Apply does. From then on the digest of a snapshot
// is not compared: its writer had another state.
func (s *State) Force(e Entry) {
	index := s.size
	s.faulty, s.digest = true, nil
	s.size, s.pair = index+1, nil
	if e.Body != nil {
		s.time = e.Time
		s.force(e, index)
	}
	s.Commit()
}

func (s *State) force(e Entry, index uint64) {
	if g, ok := e.Body.(*Genesis); ok && s.genesis == nil {
		s.applyGenesis(g)
	}
	if s.genesis == nil {
		return // there is no ledger yet that anything could change
	}
	switch b := e.Body.(type) {
	case *Commit:
		s.applyCommit(b, index)
		if s.pair != nil && !s.open.has(s.pair.shuffle) {
			s.pair = nil // the parent cannot be closed
		}
	case *Mix:
		if o, ok := s.open.find(b.Shuffle); ok && o.planned {
			o.mixed = true
		}
	case *Deal:
		if o, ok := s.open.find(b.Shuffle); ok {
			s.dealTo(o, b, min(o.m, max(int(o.next), b.First+b.Count())))
		}
	case *Close:
		if s.open.has(b.Shuffle) {
			s.applyClose(b)
		}
	case *Key:
		if s.matters(b) {
			s.applyKey(b, index, e.Time)
		}
	case *Event:
		s.applyEvent(b, index)
	}
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
