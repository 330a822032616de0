package rules

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// Encode returns the one encoding of the state: lists are in ascending order of their elements' bytes. What Rollback
// would take back is in it. Tests compare states by it, and with refState.
func (s *State) Encode() []byte {
	w := &writer{}
	w.u8(1)
	w.u64(s.size)
	w.u64(uint64(s.time))
	w.flag(s.faulty)
	w.nested(func() {
		if s.genesis != nil {
			w.raw(audit.EncodeBody(s.genesis))
		}
	})
	w.raw(s.persons.genesis[:])
	w.flag(s.latched)
	s.encodePair(w)
	s.encodeKills(w)
	writeSorted(w, s.instances, cmp.Compare, func(index uint64, _ bool) { w.u64(index) })
	writeSorted(w, s.tables, compareNames, func(_ string, t *Table) { t.encode(w) })
	writeSorted(w, s.open.slots, cmp.Compare, func(_ uint64, slot uint32) { s.encodeOpen(w, s.open.at(slot)) })
	s.encodeKeys(w)
	s.encodeHolders(w)
	s.encodePersons(w)
	return w.b
}

func (t *Table) encode(w *writer) {
	w.str(t.Name)
	w.flag(t.Closed)
	w.u64(t.Serial)
	w.u64(t.Last)
}

func (s *State) encodeOpen(w *writer, o opened) {
	w.u64(o.id)
	w.n16(o.bodyLen())
	w.b = o.appendBody(w.b)
	w.n16(int(o.next))
	w.n16(int(o.round))
	w.flag(o.mixed)
	w.str(s.holders.identities[o.owner])
	w.u8(uint8(o.extent))
	w.u8(o.takeovers)
	w.n16(len(o.shown))
	w.raw([]byte(o.shown))
	w.u64(uint64(o.closeBy))
	w.u64(uint64(o.latest))
	w.u8(o.depth)
	w.u8(uint8(o.stage))
	w.n16(len(o.given))
	for _, v := range o.given {
		w.u32(v)
	}
}

// What an entry must be when the one below left a pair open.
const (
	pairNone      = 0
	pairClose     = 1 // the close of a final deal's shuffle
	pairContinued = 2 // the close of a child's parent
	pairApproved  = 3 // the entry that an act approves
	pairRevealed  = 4 // the close of a final reveal's shuffle
	pairDisclosed = 5 // the disclosure of an ancestor
)

func (s *State) encodePair(w *writer) {
	switch {
	case s.persons.approved != nil:
		w.u8(pairApproved)
		w.u8(uint8(s.persons.approved.act))
		w.raw(s.persons.approved.digest[:])
		return
	case s.pair == nil:
		w.u8(pairNone)
		return
	case len(s.pair.disclose) > 0:
		w.u8(pairDisclosed)
		w.u64(s.pair.disclose[0])
		w.str(s.pair.by)
		return
	case s.pair.continued:
		w.u8(pairContinued)
	case s.pair.revealed:
		w.u8(pairRevealed)
	default:
		w.u8(pairClose)
	}
	w.u64(s.pair.shuffle)
}

func (s *State) encodeKills(w *writer) {
	writeSorted(w, s.killed, Switch.compare, func(k Switch, _ bool) {
		w.u8(uint8(k.Scope))
		switch k.Scope {
		case audit.ScopeTable:
			w.str(k.Table)
		case audit.ScopeDeck:
			w.raw(k.Deck[:])
		}
	})
}

func (k Switch) compare(other Switch) int {
	return cmp.Or(cmp.Compare(k.Scope, other.Scope), compareNames(k.Table, other.Table),
		bytes.Compare(k.Deck[:], other.Deck[:]))
}

// compareNames orders names as their encodings, which begin with the length.
func compareNames(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }

// encodeKeys writes the key entries, from which all that stands of keys follows.
func (s *State) encodeKeys(w *writer) {
	w.u32(uint32(len(s.keys.entries)))
	for _, e := range s.keys.entries {
		w.u64(e.Index)
		w.u64(uint64(e.Time))
		body := audit.EncodeBody(e.Key)
		if e.Key.Subject == audit.SubjectDisclosure {
			body = body[:len(body)-1] // wraps, of which it has none
		}
		w.raw(body)
	}
}

// writeSorted writes a u32 count and the elements of m, in ascending order of the bytes that write makes of them.
func writeSorted[M ~map[K]V, K comparable, V any](w *writer, m M, compare func(a, b K) int, write func(K, V)) {
	type element struct {
		key   K
		value V
	}
	all := make([]element, 0, len(m))
	for k, v := range m {
		all = append(all, element{k, v}) // a look-up of each would cost more than the sorting
	}
	slices.SortFunc(all, func(a, b element) int { return compare(a.key, b.key) })
	w.u32(uint32(len(all)))
	for _, e := range all {
		write(e.key, e.value)
	}
}

// encodeHolders writes every credential that was created, and whether it was revoked.
func (s *State) encodeHolders(w *writer) {
	writeSorted(w, s.holders.known, compareNames, func(_ string, h *Holder) {
		w.raw(audit.EncodeBody(&h.Credential)[1:]) // without its kind
		w.u64(h.Index)
		w.u64(uint64(h.Created))
		w.u64(uint64(h.Revoked))
	})
}

func (s *State) encodePersons(w *writer) {
	w.u64(s.persons.newest)
	w.u32(uint32(len(s.persons.waiting)))
	for _, a := range s.persons.waiting {
		w.u64(a.Index)
		w.u64(uint64(a.At))
		w.u64(uint64(a.Expires))
		w.u8(uint8(a.Act))
		w.raw(a.Digest[:])
	}
}

// writer puts fields into an encoding.
type writer struct{ b []byte }

func (w *writer) u8(v uint8)   { w.b = append(w.b, v) }
func (w *writer) u32(v uint32) { w.b = binary.BigEndian.AppendUint32(w.b, v) }
func (w *writer) u64(v uint64) { w.b = binary.BigEndian.AppendUint64(w.b, v) }
func (w *writer) n16(n int)    { w.b = binary.BigEndian.AppendUint16(w.b, uint16(n)) }
func (w *writer) raw(b []byte) { w.b = append(w.b, b...) }
func (w *writer) str(s string) { w.raw(spec.Str8(s)) }

func (w *writer) flag(v bool) {
	if w.u8(0); v {
		w.b[len(w.b)-1] = 1
	}
}

// nested writes what write writes, after a u16 of its length.
func (w *writer) nested(write func()) {
	at := len(w.b)
	w.n16(0)
	write()
	binary.BigEndian.PutUint16(w.b[at:], uint16(len(w.b)-at-2))
}
