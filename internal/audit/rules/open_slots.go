package rules

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"shuffled/internal/audit"
)

// openShuffles holds the open shuffles of a state. There may be a million, and every collection of garbage visits
// everything that has a pointer. So a shuffle is one slot without pointers, in a chunk of many, and what many shuffles
// have in common is interned (pool). BenchmarkOpenShuffles measures memory and collections.
//
// A new field of a shuffle is an integer in open. If it is a name, it is interned as contexts
// are, and the slot holds its number.
type openShuffles struct {
	slots  map[uint64]uint32 // by id
	chunks []*[chunkSlots]open
	free   []uint32 // slots that hold no shuffle

	contexts pool[*sharedContext] // by their encoding
	shown    pool[shown]

	earliest int64 // no shuffle closes by an earlier time; a lower bound, as removals leave it

	long map[uint64]string // by id: the part of a commit's tail that its slot has no room for

	given map[uint64][]uint32 // by id, of cards with a co-dealer: the values that it gave

	// at a table: its open shuffles are a list, of which this is the first slot
	first map[*Table]uint32
}

const (
	chunkSlots = 256
	// tailSize has room for a commit with a game reference of 36 bytes, and makes a slot 256 bytes.
	tailSize = 196
)

// open is the part of an open shuffle that differs from one shuffle to the next.
type open struct {
	id uint64 // 0: the slot is free
	chained
	context     uint32
	next        uint16 // next place to deal
	mixed       bool
	shownNumber uint32 // which dealt places are public, by its number
	takeovers   uint8
	used        uint8          // bytes of tail
	copied      uint8          // the copy that has it (State.Copy)
	prev, succ  uint32         // the slots around this one in its table's list; noSlot at an end
	round       uint16         // of the newest run of the chain, 0 for none
	entries     uint16         // that name it and took effect
	tail        [tailSize]byte // the commit's body (docs/SPEC.md section 5.3) after its context
}

// chained is what the shuffles of a chain have in common, and the place of each in it. An ancestor
// has the close-by and the owner of the chain's last shuffle.
type chained struct {
	closeBy int64
	latest  int64        // no close-by of the chain is later
	owner   uint32       // identity, by its number in holders
	extent  audit.Extent // what the owner may do
	depth   uint8        // 1 of a root, and one more of each child
	stage   stage
}

// share takes over what an ancestor has in common with the last shuffle of its chain.
func (c *chained) share(from chained) {
	c.closeBy, c.owner, c.extent = from.closeBy, from.owner, from.extent
}

// SavedChain is what a SavedShuffle holds of its chain.
type SavedChain struct {
	CloseBy   int64 // of the chain
	Latest    int64 // no close-by of the chain is later
	Extent    audit.Extent
	Depth     uint8 // in the chain: 1 of a root
	Continued bool  // its cards are in a child
}

func (c *chained) save() SavedChain {
	return SavedChain{c.closeBy, c.latest, c.extent, c.depth, c.stage == continued}
}

func (c *chained) restore(saved SavedChain) {
	c.closeBy, c.latest, c.extent, c.depth = saved.CloseBy, saved.Latest, saved.Extent, saved.Depth
	if saved.Continued {
		c.stage = continued
	}
}

// stage says whether an open shuffle is played, was continued, or is to be disclosed.
type stage uint8

const (
	playing   stage = iota
	continued       // its cards are in a child
	due             // the chain is closed: the tape is to be disclosed
)

const noSlot = math.MaxUint32

// sharedContext is a context, and what rules that run often need of it. Most open shuffles of a table share one.
type sharedContext struct {
	encoded    string // with its length before it, as a commit's body begins
	table      *Table
	m          int // places
	tapeLen    int
	disclosure audit.Disclosure
	planned    bool // there is a mix plan
	cards      bool // not draws
	numbers    bool // numbers without repeats
	blind      bool // the plan names a co-dealer
	forLedger  bool // an order for another ledger
	child      bool // of a shuffle below
}

// Table is a game table.
type Table struct {
	Name    string
	Closed  bool
	Serial  uint64   // of its newest commit
	Last    uint64   // index of its newest commit
	Waiting []uint64 // ids of open shuffles that were not dealt from or set aside, ascending
}

// opened is an open shuffle in its slot: valid until that shuffle is removed.
type opened struct {
	*open
	*sharedContext
	long  string
	shown shown    // when it was found
	given []uint32 // when it was found
}

func newOpenShuffles() openShuffles {
	s := openShuffles{earliest: math.MaxInt64, slots: make(map[uint64]uint32), contexts: newPool[*sharedContext](),
		shown: newPool[shown](), long: make(map[uint64]string), first: make(map[*Table]uint32),
		given: make(map[uint64][]uint32)}
	s.shown.hold("", "") // so that 0 is its number
	return s
}

func (s *openShuffles) has(id uint64) bool {
	_, ok := s.slots[id]
	return ok
}

// find returns the open shuffle of an id; ok is false for none.
func (s *openShuffles) find(id uint64) (o opened, ok bool) {
	slot, ok := s.slots[id]
	if !ok {
		return opened{}, false
	}
	return s.at(slot), true
}

func (s *openShuffles) at(slot uint32) opened {
	o := &s.chunks[slot/chunkSlots][slot%chunkSlots]
	out := opened{open: o, sharedContext: s.contexts.values[o.context], shown: s.shown.values[o.shownNumber]}
	if len(s.long) > 0 {
		out.long = s.long[o.id]
	}
	if len(s.given) > 0 {
		out.given = s.given[o.id]
	}
	return out
}

// all yields the open shuffles in no order.
func (s *openShuffles) all() iter.Seq[opened] {
	return func(yield func(opened) bool) {
		for i, chunk := range s.chunks {
			for j := range chunk {
				if chunk[j].id != 0 && !yield(s.at(uint32(i*chunkSlots+j))) {
					return
				}
			}
		}
	}
}

// describe makes the shuffle that a commit opens at a table; body is the encoding of
// the commit. The result keeps no part of either, and is not among the others yet.
func (s *openShuffles) describe(id uint64, c *audit.Commit, body []byte, t *Table) opened {
	begin := 2 + int(binary.BigEndian.Uint16(body))
	o := opened{open: &open{id: id, entries: 1, chained: chained{closeBy: c.CloseBy, depth: 1}}}
	n := copy(o.tail[:], body[begin:])
	o.used, o.long = uint8(n), string(body[begin+n:])
	if number, ok := s.contexts.numbers[string(body[:begin])]; ok {
		o.sharedContext = s.contexts.values[number]
		return o
	}
	recipe := &c.Context.Recipe
	o.sharedContext = &sharedContext{encoded: string(body[:begin]), table: t, m: recipe.Positions(),
		tapeLen: recipe.TapeLen(), disclosure: c.Context.Disclosure, planned: len(c.Context.Mixed()) > 0,
		cards: !c.Context.IsDraw(), numbers: c.Context.IsNumbers(), forLedger: c.Context.ForLedger != "",
		child: c.Context.Parent != nil}
	_, o.blind = c.Context.CoDealer()
	return o
}

// insert copies a shuffle into a slot.
func (s *openShuffles) insert(o opened) {
	if len(s.free) == 0 {
		first := uint32(len(s.chunks) * chunkSlots)
		s.chunks = append(s.chunks, new([chunkSlots]open))
		for i := uint32(chunkSlots); i > 0; i-- {
			s.free = append(s.free, first+i-1)
		}
	}
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	held := &s.chunks[slot/chunkSlots][slot%chunkSlots]
	*held = *o.open
	held.context, held.shownNumber = s.contexts.hold(o.encoded, o.sharedContext), s.shown.hold(string(o.shown), o.shown)
	s.link(slot)
	s.earliest = min(s.earliest, o.closeBy)
	s.slots[o.id] = slot
	if o.long != "" {
		s.long[o.id] = o.long
	}
	if o.given != nil {
		s.given[o.id] = o.given
	}
}

// show sets which places of an open shuffle are public.
func (s *openShuffles) show(o opened, places shown) {
	was := o.open.shownNumber
	o.open.shownNumber = s.shown.hold(string(places), places)
	s.shown.release(was, string(s.shown.values[was]))
}

// link makes a slot the first of its table's list.
func (s *openShuffles) link(slot uint32) {
	o := s.at(slot)
	o.prev, o.succ = noSlot, noSlot
	if second, ok := s.first[o.table]; ok {
		o.succ = second
		s.at(second).prev = slot
	}
	s.first[o.table] = slot
}

// unlink takes a slot out of its table's list.
func (s *openShuffles) unlink(o opened) {
	if o.succ != noSlot {
		s.at(o.succ).prev = o.prev
	}
	switch {
	case o.prev != noSlot:
		s.at(o.prev).succ = o.succ
	case o.succ != noSlot:
		s.first[o.table] = o.succ
	default:
		delete(s.first, o.table)
	}
}

// atTable yields the open shuffles of a table in no order.
func (s *openShuffles) atTable(t *Table) iter.Seq[opened] {
	return func(yield func(opened) bool) {
		slot, ok := s.first[t]
		for ; ok; ok = slot != noSlot {
			o := s.at(slot)
			if slot = o.succ; !yield(o) {
				return
			}
		}
	}
}

// remove takes out the open shuffle of an id.
func (s *openShuffles) remove(id uint64) {
	slot := s.slots[id]
	held := s.at(slot)
	s.contexts.release(held.open.context, held.encoded)
	s.shown.release(held.shownNumber, string(held.shown))
	s.unlink(held)
	*held.open = open{}
	s.free = append(s.free, slot)
	delete(s.slots, id)
	delete(s.long, id)
	delete(s.given, id)
	if len(s.slots) == 0 && len(s.chunks) > 1 {
		*s = newOpenShuffles() // a map never shrinks by itself
	}
}

// setAside reports whether a close of its table set the shuffle aside: then it has no deal, and waits no more.
func (o opened) setAside() bool {
	_, waits := slices.BinarySearch(o.table.Waiting, o.id)
	return o.stage == playing && o.next == 0 && !waits
}

// continues reports whether the shuffle can have a child (docs/SPEC.md section 9, parent).
func (o opened) continues() bool { return o.cards && !o.blind && !o.forLedger }

// appendBody appends the body of the commit.
func (o opened) appendBody(b []byte) []byte {
	return append(append(append(b, o.encoded...), o.tail[:o.used]...), o.long...)
}

func (o opened) bodyLen() int { return len(o.encoded) + int(o.used) + len(o.long) }

// commit parses the body. It was an entry's, which parse.
func (o opened) commit() *audit.Commit {
	c, err := audit.ParseBody(audit.TypeCommit, o.appendBody(make([]byte, 0, o.bodyLen())))
	if err != nil {
		panic("audit: the commit of an open shuffle: " + err.Error())
	}
	return c.(*audit.Commit)
}
