package rules

import (
	"iter"
	"maps"
	"slices"

	"shuffled/internal/audit"
)

// AuditorKeys returns the auditor keys in force, type byte first, in ascending
// order of KeyID, which is the order of wraps.
func (s *State) AuditorKeys() [][]byte {
	all := make([][]byte, 0, len(s.keys.auditors))
	for _, id := range slices.SortedFunc(maps.Keys(s.keys.auditors), audit.CompareIDs) {
		all = append(all, s.keys.auditors[id])
	}
	return all
}

// DisclosureKey returns the newest disclosure key, type byte first, with the index and the time (UTC milliseconds) of
// its entry; index 0 and nil if there is none. It is not usable if the auditors in force changed after it or it was
// retired: commits and closes with disclosure auditor then need a new key.
func (s *State) DisclosureKey() (index uint64, public []byte, at int64, usable bool) {
	d := s.keys.disclosure
	return d.index, d.public, d.at, s.sealable()
}

// sealable reports whether a tape can be sealed to exactly the auditors in force.
func (s *State) sealable() bool { return s.keys.disclosure.index != 0 && !s.keys.disclosure.stale }

// seals reports whether the tape of a commit can be sealed to exactly the auditors in force, if it is for them.
func (s *State) seals(c *audit.Context) bool {
	return c.Disclosure != audit.DisclosureAuditor || s.sealable()
}

// checkDisclosed: a tape is disclosed to everybody or to auditors, as the commit says. The entry counts those of its
// shuffle, so that no file can leave one out.
func (s *State) checkDisclosed(d audit.DisclosureEntry) error {
	o, _ := s.open.find(d.Shuffle)
	public := o.disclosure == audit.DisclosurePublic
	switch {
	case d.Form == audit.FormNone: // continued, or lost, which is legal to write and a fault in every audit
	case public && (d.Form != audit.FormTape || len(d.Tape) != o.tapeLen):
		return illegal(audit.RuleForm, "shuffle %d discloses %d bytes of tape to everybody", d.Shuffle, o.tapeLen)
	case public:
	case d.Form != audit.FormSealed || !s.sealedLen(o.tapeLen, len(d.Tape)):
		return illegal(audit.RuleForm, "shuffle %d discloses its tape to auditors", d.Shuffle)
	case !s.sealable() || d.Key != s.keys.disclosure.index:
		return illegal(audit.RuleDisclosureKey, "the newest disclosure key is entry %d", s.keys.disclosure.index)
	}
	if d.Entries != int(o.entries) {
		return illegal(audit.RuleEntries, "it counts %d entries of shuffle %d, and %d are below", d.Entries, d.Shuffle, o.entries)
	}
	return nil
}

// Counted returns the body of the next entry: of a close or disclosure a copy that counts the entries of its shuffle.
func (s *State) Counted(b audit.Body) audit.Body {
	o, ok := s.open.find(audit.ShuffleOf(b))
	if !ok {
		return b
	}
	switch b := b.(type) {
	case *audit.Close:
		c := *b
		c.Entries = int(o.entries)
		return &c
	case *audit.DisclosureEntry:
		d := *b
		d.Entries = int(o.entries)
		return &d
	}
	return b
}

// sealedLen reports whether a sealed tape has the length that its disclosure key gives. A file of
// one shuffle does not show the key: then each type of key counts that the ledger may have.
func (s *State) sealedLen(tape, sealed int) bool {
	if kem, ok := audit.KEMOf(s.keys.disclosure.public); ok {
		return sealed == tape+kem.Overhead()
	}
	for kem := range audit.KEMs() {
		if sealed == tape+kem.Overhead() {
			return checkType(s.genesis, maps.Values(s.keys.auditors), kem.Type) == nil
		}
	}
	return false
}

// checkType: a tape is as safe as the weakest key that opens it, so the keys that tapes and
// disclosure keys of a ledger are sealed to have one type, in production the hybrid one.
func checkType(g *audit.Genesis, inForce iter.Seq[[]byte], kind byte) error {
	if g.Production && kind != audit.KeyHybrid {
		return illegal(audit.RuleKey, "auditor and disclosure keys of a production ledger have type %d, this one has %d",
			audit.KeyHybrid, kind)
	}
	for k := range inForce {
		if k[0] != kind {
			return illegal(audit.RuleKey, "the auditor keys in force have type %d, this key has %d: a ledger has one type",
				k[0], kind)
		}
	}
	return nil
}

// checkWraps: a disclosure key is wrapped to every auditor key in force and to no other.
func (s *State) checkWraps(k *audit.Key) error {
	if len(k.Wraps) != len(s.keys.auditors) {
		return illegal(audit.RuleKey, "%d wraps for %d auditors in force", len(k.Wraps), len(s.keys.auditors))
	}
	for _, w := range k.Wraps {
		if s.keys.auditors[w.Auditor] == nil {
			return illegal(audit.RuleKey, "a wrap is to no auditor in force")
		}
	}
	return nil
}

// retire takes a retired auditor key out of force. The newest disclosure key is stale if it is the one that retired.
func (s *State) retire(k *audit.Key) {
	switch {
	case k.Retired == audit.SubjectAuditor:
		s.setAuditor(k.ID, nil)
	case k.ID == audit.KeyID(s.keys.disclosure.public):
		s.keys.disclosure.stale = true
	}
}

// setAuditor puts an auditor key into force, or takes it out if public is nil. The disclosure key is
// stale then, because its wraps are for other auditors.
func (s *State) setAuditor(id [32]byte, public []byte) {
	s.keys.disclosure.stale = s.keys.disclosure.index != 0
	set(s, s.keys.auditors, id, public, public != nil)
}
