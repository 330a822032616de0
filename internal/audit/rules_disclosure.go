package audit

import (
	"iter"
	"maps"
	"slices"
)

// disclosure is the newest disclosure key.
type disclosure struct {
	index  uint64 // of its entry, 0 for none
	at     int64  // time of its entry
	public []byte
	stale  bool // the auditors in force changed after it, or it was retired
}

// AuditorKeys returns the auditor keys in force, type byte first, in ascending
// order of KeyID, which is the order of wraps.
func (s *State) AuditorKeys() [][]byte {
	all := make([][]byte, 0, len(s.keys.auditors))
	for _, id := range slices.SortedFunc(maps.Keys(s.keys.auditors), compareIDs) {
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

// checkDisclosable refuses a commit with disclosure to auditors while no tape can be sealed to
// exactly the auditors in force.
func (s *State) checkDisclosable(ctx *Context) error {
	if ctx.Disclosure == DisclosureAuditor && !s.sealable() {
		return illegal(RuleDisclosureKey, "no disclosure key for the auditors in force")
	}
	return nil
}

// checkDisclosed: a tape is disclosed to everybody or to auditors, as the commit says.
func (s *State) checkDisclosed(d DisclosureEntry) error {
	if d.Form == FormNone {
		return nil // continued, or lost, which is legal to write and a fault in every audit
	}
	o, _ := s.open.find(d.Shuffle)
	switch o.disclosure {
	case DisclosurePublic:
		if d.Form != FormTape || len(d.Tape) != o.tapeLen {
			return illegal(RuleForm, "shuffle %d discloses %d bytes of tape to everybody", d.Shuffle, o.tapeLen)
		}
	case DisclosureAuditor:
		if d.Form != FormSealed || !s.sealedLen(o.tapeLen, len(d.Tape)) {
			return illegal(RuleForm, "shuffle %d discloses its tape to auditors", d.Shuffle)
		}
		if !s.sealable() || d.Key != s.keys.disclosure.index {
			return illegal(RuleDisclosureKey, "the newest disclosure key is entry %d", s.keys.disclosure.index)
		}
	}
	return nil
}

// sealedLen reports whether a sealed tape has the length that its disclosure key gives. A file of
// one shuffle does not show the key: then each type of key counts that the ledger may have.
func (s *State) sealedLen(tape, sealed int) bool {
	if kem, ok := KEMOf(s.keys.disclosure.public); ok {
		return sealed == tape+kem.Overhead()
	}
	for kind, kem := range kems {
		if sealed == tape+kem.Overhead() {
			return checkType(s.genesis, maps.Values(s.keys.auditors), kind) == nil
		}
	}
	return false
}

// checkType: a tape is as safe as the weakest key that opens it, so the keys that tapes and
// disclosure keys of a ledger are sealed to have one type, in production the hybrid one.
func checkType(g *Genesis, inForce iter.Seq[[]byte], kind byte) error {
	if g.Production && kind != KeyHybrid {
		return illegal(RuleKey, "auditor and disclosure keys of a production ledger have type %d, this one has %d",
			KeyHybrid, kind)
	}
	for k := range inForce {
		if k[0] != kind {
			return illegal(RuleKey, "the auditor keys in force have type %d, this key has %d: a ledger has one type",
				k[0], kind)
		}
	}
	return nil
}

// checkWraps: a disclosure key is wrapped to every auditor key in force and to no other.
func (s *State) checkWraps(k *Key) error {
	if len(k.Wraps) != len(s.keys.auditors) {
		return illegal(RuleKey, "%d wraps for %d auditors in force", len(k.Wraps), len(s.keys.auditors))
	}
	for _, w := range k.Wraps {
		if s.keys.auditors[w.Auditor] == nil {
			return illegal(RuleKey, "a wrap is to no auditor in force")
		}
	}
	return nil
}

// retireDisclosure makes the newest disclosure key stale if it is the one that retired.
func (s *State) retireDisclosure(id [32]byte) {
	if id == KeyID(s.keys.disclosure.public) {
		s.keys.disclosure.stale = true
	}
}

// setAuditor puts an auditor key into force, or takes it out if public is nil. The disclosure key is
// stale then, because its wraps are for other auditors.
func (s *State) setAuditor(id [32]byte, public []byte) {
	s.keys.disclosure.stale = s.keys.disclosure.index != 0
	before := s.keys.auditors[id]
	put := func(k []byte) {
		if s.keys.auditors[id] = k; k == nil {
			delete(s.keys.auditors, id)
		}
	}
	put(public)
	s.push(func() { put(before) })
}
