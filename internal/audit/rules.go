package audit

import "slices"

// The rules of legality, by code, in the order they are checked (docs/SPEC.md
// section 9).
const (
	RuleGenesisFirst  = "genesis_first"  // entry 0 is the genesis, no other is
	RuleTime          = "time"           // time never decreases
	RulePair          = "pair"           // a final deal and a child's commit are followed by their close
	RuleOrigin        = "origin"         // a commit's context is of this ledger and its production bit
	RuleInstance      = "instance"       // it names a daemon that started below
	RuleLatch         = "latch"          // no commit while the entropy latch is set; a set latch is cleared once
	RuleKill          = "kill"           // no commit while a kill switch covers it
	RuleTable         = "table"          // no commit at a closed table; tables open and close in turn
	RuleSerial        = "serial"         // serials count by one and name the previous commit
	RuleCloseBy       = "close_by"       // close-by is after the commit, at most the ledger's cap later
	RuleMixModes      = "mix_modes"      // only sources that the genesis declares
	RuleParent        = "parent"         // the parent is open, at this table, of this deck, and has the positions
	RuleDisclosureKey = "disclosure_key" // auditor disclosure needs a disclosure key for the auditors in force
	RuleNotOpen       = "not_open"       // the shuffle is open
	RuleDeadline      = "deadline"       // before close-by, except expired, which comes at or after it
	RuleEarlier       = "earlier_serial" // earlier serials of the table were dealt from or closed
	RuleMix           = "mix"            // a plan is revealed once, whole, before the first deal
	RulePlace         = "place"          // a deal starts at the next place
	RulePlaces        = "places"         // a deal ends at the last place at the latest
	RuleCosigned      = "cosigned"       // where asked for, a cosigned checkpoint covers the commit
	RuleOutcome       = "outcome"        // continued follows the child's commit, and only that
	RuleForm          = "form"           // the close discloses as the commit declared
	RuleSnapshot      = "snapshot"       // a snapshot is of entries below it
	RuleKey           = "key"            // key entries name new keys, wrap to all auditors, retire known ones
)

func (s *State) check(e Entry) error {
	_, isGenesis := e.Body.(*Genesis)
	switch {
	case isGenesis != (s.size == 0):
		return illegal(RuleGenesisFirst, "entry %d is a %s", s.size, e.Body.Type())
	case isGenesis:
		return nil // what a genesis says is for its reader to accept or refuse
	case e.Time < s.time:
		return illegal(RuleTime, "time %d after %d", e.Time, s.time)
	case s.pair != nil:
		c, ok := e.Body.(*Close)
		if !ok || c.Shuffle != s.pair.shuffle || (c.Outcome == OutcomeContinued) != s.pair.continued {
			return illegal(RulePair, "the close of shuffle %d must follow", s.pair.shuffle)
		}
	}
	switch b := e.Body.(type) {
	case *Commit:
		return s.checkCommit(b, e.Time)
	case *Mix:
		return s.checkMix(b, e.Time)
	case *Deal:
		return s.checkDeal(b, e.Time)
	case *Close:
		return s.checkClose(b, e.Time)
	case *Key:
		return s.checkKey(b)
	case *Event:
		return s.checkEvent(b)
	}
	return nil
}

func (s *State) applyGenesis(g *Genesis) {
	s.push(func() {
		s.genesis, s.keys = nil, NewState().keys
	})
	s.genesis = g
	s.keys.signing, s.keys.policy = g.SigningKey, g.Policy
	s.keys.known[KeyID(g.SigningKey)] = SubjectSigning
	for _, k := range g.AuditorKeys {
		s.keys.known[KeyID(k)] = SubjectAuditor
		s.keys.auditors[KeyID(k)] = true
	}
}

func (s *State) checkKey(k *Key) error {
	switch k.Subject {
	case SubjectSigning, SubjectAuditor, SubjectDisclosure:
		if _, known := s.keys.known[KeyID(k.Public)]; known {
			return illegal(RuleKey, "the %s key stood in the ledger before", k.Subject)
		}
		if k.Subject == SubjectAuditor && len(s.keys.auditors) >= MaxAuditors {
			return illegal(RuleKey, "at most %d auditor keys are in force", MaxAuditors)
		}
		if k.Subject == SubjectDisclosure {
			return s.checkWraps(k)
		}
	case SubjectRetirement:
		subject, known := s.keys.known[k.ID]
		switch {
		case !known || subject != k.Retired:
			return illegal(RuleKey, "no %s key with that id stands in the ledger", k.Retired)
		case subject == SubjectSigning && k.ID == KeyID(s.keys.signing):
			return illegal(RuleKey, "the signing key in force is replaced before it is retired")
		case subject == SubjectAuditor && !s.keys.auditors[k.ID]:
			return illegal(RuleKey, "the auditor key was retired before")
		}
	}
	return nil
}

// checkWraps: a disclosure key is wrapped to every auditor key in force and to
// no other.
func (s *State) checkWraps(k *Key) error {
	if len(k.Wraps) != len(s.keys.auditors) {
		return illegal(RuleKey, "%d wraps for %d auditors in force", len(k.Wraps), len(s.keys.auditors))
	}
	for _, w := range k.Wraps {
		if !s.keys.auditors[w.Auditor] {
			return illegal(RuleKey, "a wrap is to no auditor in force")
		}
	}
	return nil
}

func (s *State) applyKey(k *Key, index uint64) {
	before := s.keys
	s.push(func() { s.keys = before })
	switch k.Subject {
	case SubjectSigning:
		s.keys.signing = k.Public
		s.learn(k.Public, SubjectSigning)
	case SubjectDisclosure:
		s.keys.disclosure, s.keys.stale = index, false
		s.learn(k.Public, SubjectDisclosure)
	case SubjectAuditor:
		s.learn(k.Public, SubjectAuditor)
		s.setAuditor(KeyID(k.Public), true)
	case SubjectPolicy:
		s.keys.policy = k.Policy
	case SubjectRetirement:
		if k.Retired == SubjectAuditor {
			s.setAuditor(k.ID, false)
		}
	}
}

func (s *State) learn(public []byte, subject Subject) {
	id := KeyID(public)
	s.keys.known[id] = subject
	s.push(func() { delete(s.keys.known, id) })
}

func (s *State) setAuditor(id [32]byte, inForce bool) {
	s.keys.stale = true
	if inForce {
		s.keys.auditors[id] = true
		s.push(func() { delete(s.keys.auditors, id) })
	} else {
		delete(s.keys.auditors, id)
		s.push(func() { s.keys.auditors[id] = true })
	}
}

// sealable reports whether a tape can be sealed to exactly the auditors in force.
func (s *State) sealable() bool { return s.keys.disclosure != 0 && !s.keys.stale }

func (s *State) checkEvent(e *Event) error {
	switch e.Kind {
	case EventTableOpen:
		if t := s.tables[e.Name]; t != nil && !t.closed {
			return illegal(RuleTable, "table %s is open", e.Name)
		}
	case EventTableClose:
		if t := s.tables[e.Name]; t == nil || t.closed {
			return illegal(RuleTable, "table %s is not open", e.Name)
		}
	case EventKillSet, EventKillClear:
		if s.killed[e.kill()] == (e.Kind == EventKillSet) {
			return illegal(RuleKill, "the switch stands so already")
		}
	case EventLatchSet:
		if !s.instances[e.Instance] {
			return illegal(RuleInstance, "entry %d is no instance_start", e.Instance)
		}
	case EventLatchClear:
		if !s.latched {
			return illegal(RuleLatch, "the latch is not set")
		}
	case EventSnapshot:
		if e.Size > s.size {
			return illegal(RuleSnapshot, "a snapshot of %d entries at entry %d", e.Size, s.size)
		}
	}
	return nil
}

func (e *Event) kill() kill { return kill{e.Scope, e.Name, e.Deck} }

func (s *State) applyEvent(e *Event, index uint64) {
	switch e.Kind {
	case EventInstanceStart:
		s.instances[index] = true
		s.push(func() { delete(s.instances, index) })
	case EventTableOpen, EventTableClose:
		t := s.table(e.Name)
		closed := t.closed
		t.closed = e.Kind == EventTableClose
		s.push(func() { t.closed = closed })
	case EventKillSet:
		s.killed[e.kill()] = true
		s.push(func() { delete(s.killed, e.kill()) })
	case EventKillClear:
		delete(s.killed, e.kill())
		s.push(func() { s.killed[e.kill()] = true })
	case EventLatchSet, EventLatchClear:
		latched := s.latched
		s.latched = e.Kind == EventLatchSet
		s.push(func() { s.latched = latched })
	}
}

// table returns the table, made when it is new.
func (s *State) table(name string) *table {
	t := s.tables[name]
	if t == nil {
		t = new(table)
		s.tables[name] = t
		s.push(func() { delete(s.tables, name) })
	}
	return t
}

// wait puts an open shuffle among those of its table that were not dealt from.
func (s *State) wait(t *table, id uint64) {
	t.waiting = append(t.waiting, id)
	s.push(func() { t.waiting = t.waiting[:len(t.waiting)-1] })
}

// unwait takes it out; most often it is the first.
func (s *State) unwait(t *table, id uint64) {
	i, found := slices.BinarySearch(t.waiting, id)
	if !found {
		return
	}
	before := t.waiting
	if i == 0 {
		t.waiting = t.waiting[1:]
	} else {
		t.waiting = slices.Concat(before[:i], before[i+1:])
	}
	s.push(func() { t.waiting = before })
}
