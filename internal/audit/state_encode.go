package audit

import (
	"bytes"
	"cmp"
	"slices"
)

// stateVersion is the first byte of an encoded state.
const stateVersion = 1

// Encode returns the one encoding of the state, of about 300 bytes for an open
// shuffle and 30 for a table: lists are in ascending order of their elements' bytes.
// What Rollback would take back is in it. It is no evidence: who reads one has to
// know where it comes from.
func (s *State) Encode() []byte {
	size := 0
	for o := range s.open.all() {
		size += o.bodyLen() + 64
	}
	return s.encode(size+48*len(s.tables), s.tables, s.open.slots)
}

// encode writes the state with these tables and the open shuffles in these slots, by
// id, which take about size bytes.
func (s *State) encode(size int, tables map[string]*table, slots map[uint64]uint32) []byte {
	w := &writer{b: make([]byte, 0, 4096+size)}
	w.u8(stateVersion)
	w.u64(s.size)
	w.u64(uint64(s.time))
	w.flag(s.faulty)
	w.nested(func() {
		if s.genesis != nil {
			s.genesis.encode(w)
		}
	})
	w.raw(s.persons.genesis[:])
	w.flag(s.latched)
	s.encodePair(w)
	s.encodeKills(w)
	writeSorted(w, s.instances, cmp.Compare, func(index uint64, _ bool) { w.u64(index) })
	writeSorted(w, tables, compareNames, func(_ string, t *table) { t.encode(w) })
	writeSorted(w, slots, cmp.Compare, func(_ uint64, slot uint32) { s.encodeOpen(w, s.open.at(slot)) })
	s.encodeKeys(w)
	s.encodeHolders(w)
	s.encodePersons(w)
	return w.b
}

func (t *table) encode(w *writer) {
	w.str(t.name)
	w.flag(t.closed)
	w.u64(t.serial)
	w.u64(t.last)
}

func (s *State) encodeOpen(w *writer, o opened) {
	w.u64(o.id)
	w.n16(o.bodyLen())
	w.b = o.appendBody(w.b)
	w.n16(int(o.next))
	w.flag(o.mixed)
	w.str(s.holders.identities[o.owner])
	w.u8(uint8(o.extent))
	w.u8(o.takeovers)
}

// What an entry must be when the one below left a pair open.
const (
	pairNone      = 0
	pairClose     = 1 // the close of a final deal's shuffle
	pairContinued = 2 // the close of a child's parent
	pairApproved  = 3 // the entry that an act approves
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
	case s.pair.continued:
		w.u8(pairContinued)
	default:
		w.u8(pairClose)
	}
	w.u64(s.pair.shuffle)
}

func (s *State) encodeKills(w *writer) {
	writeSorted(w, s.killed, kill.compare, func(k kill, _ bool) {
		w.u8(uint8(k.scope))
		switch k.scope {
		case ScopeTable:
			w.str(k.table)
		case ScopeDeck:
			w.raw(k.deck[:])
		}
	})
}

func (k kill) compare(other kill) int {
	return cmp.Or(cmp.Compare(k.scope, other.scope), compareNames(k.table, other.table),
		bytes.Compare(k.deck[:], other.deck[:]))
}

// compareNames orders names as their encodings, which begin with the length.
func compareNames(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }

// encodeKeys writes the key entries, from which all that stands of keys follows.
func (s *State) encodeKeys(w *writer) {
	w.u32(uint32(len(s.keys.entries)))
	for _, e := range s.keys.entries {
		w.u64(e.Index)
		w.u64(uint64(e.Time))
		e.Key.encodeBare(w)
	}
}

// writeSorted writes a u32 count and the elements of m, in ascending order of the
// bytes that write makes of them.
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
