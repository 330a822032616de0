package audit

import "bytes"

// ParseState reads the encoding of a state. Nothing of it can be taken back, and it
// keeps no part of b. What Encode would not have written is an ErrMalformed, what a
// later version may have written an ErrUnknown. It does not show that the state is
// that of a ledger.
func ParseState(b []byte) (*State, error) {
	r, s := &stateReader{reader: reader{s: b}}, NewState()
	r.state = s
	if v := r.u8("version"); r.err == nil && v != stateVersion {
		r.unknown("version of the state", uint64(v))
	}
	s.size = r.u64("size")
	s.time = int64(r.u64("time"))
	s.faulty = r.flag("fault")
	r.genesis()
	s.persons.genesis = r.hash("hash of the genesis")
	s.latched = r.flag("latch")
	r.pair()
	r.kills()
	r.instances()
	r.tables()
	r.open()
	r.keys()
	r.holders()
	r.persons()
	if s.pair != nil && !s.open.has(s.pair.shuffle) {
		r.fail("pair", "its shuffle is not open")
	}
	if err := r.end("state"); err != nil {
		return nil, err
	}
	if s.genesis == nil && !bytes.Equal(b, s.bare().Encode()) {
		return nil, malformedState("a ledger without a genesis")
	}
	return s, nil
}

// bare is the state that knows no more than how many entries there are.
func (s *State) bare() *State {
	out := NewState()
	if s.size > 0 && s.faulty {
		out.size, out.time, out.faulty = s.size, s.time, true
	}
	return out
}

func malformedState(why string) error {
	r := reader{}
	r.fail("state", why)
	return r.err
}

type stateReader struct {
	reader
	state *State
}

// each reads a u32 count and calls read for every element. Nothing is made ahead
// of the bytes: a count that is too large ends with them.
func (r *stateReader) each(field string, read func()) {
	n := r.u32(field)
	for i := uint32(0); i < n && r.err == nil; i++ {
		read()
	}
}

// ascending fails unless a value is above the one before.
func (r *stateReader) ascending(field string, above bool) {
	if !above {
		r.fail(field, "in ascending order, each once")
	}
}

// below reads the index of an entry that was folded, other than 0; 0 is none.
func (r *stateReader) below(field string) uint64 {
	index := r.u64(field)
	if index > 0 && index >= r.state.size {
		r.fail(field, "not below the size")
	}
	return index
}

// body reads the body of an entry.
func (r *stateReader) body(what string, b []byte, body Body) {
	if r.err == nil {
		in := &reader{s: b}
		body.parse(in)
		r.err = in.end(what)
	}
}

func (r *stateReader) genesis() {
	b := r.blob("genesis")
	if len(b) == 0 {
		return
	}
	if r.state.size == 0 {
		r.fail("size", "0 with a genesis")
	}
	g := new(Genesis)
	r.body("genesis", b, g)
	r.state.genesis = g
}

func (r *stateReader) pair() {
	kind := r.u8("pair")
	switch kind {
	case pairNone:
	case pairClose, pairContinued:
		r.state.pair = &pair{shuffle: r.u64("pair"), continued: kind == pairContinued}
	case pairApproved:
		approved := r.approval()
		r.state.persons.approved = &approved
	default:
		r.unknown("pair", uint64(kind))
	}
}

func (r *stateReader) kills() {
	var last kill
	r.each("switches", func() {
		k := kill{scope: Scope(r.code("scope", &codesOfScope))}
		switch k.scope {
		case ScopeTable:
			k.table = r.name("table")
		case ScopeDeck:
			k.deck = r.hash("deck hash")
		}
		r.ascending("switches", last.compare(k) < 0)
		last = k
		r.state.killed[k] = true
	})
}

func (r *stateReader) instances() {
	last := uint64(0)
	r.each("instances", func() {
		index := r.below("instance")
		r.ascending("instances", index > last)
		last = index
		r.state.instances[index] = true
	})
}

func (r *stateReader) tables() {
	last := ""
	r.each("tables", func() {
		t := r.table()
		r.ascending("tables", compareNames(last, t.name) < 0)
		last = t.name
	})
}

// table reads a table into the state.
func (r *stateReader) table() *table {
	t := &table{name: r.name("table"), closed: r.flag("closed"), serial: r.u64("serial"),
		last: r.below("newest commit")}
	if (t.serial == 0) != (t.last == 0) {
		r.fail("serial", "0 without a commit and only then")
	}
	r.state.tables[t.name] = t
	return t
}

func (r *stateReader) open() {
	last := uint64(0)
	r.each("open shuffles", func() {
		id := r.openShuffle()
		r.ascending("open shuffles", id > last)
		last = id
	})
}

// openShuffle reads an open shuffle into the state, and returns its id.
func (r *stateReader) openShuffle() (id uint64) {
	id, c := r.below("shuffle"), new(Commit)
	body := r.take("commit", int(r.u16("commit")))
	r.body("commit", body, c)
	next, mixed := int(r.u16("next place")), r.flag("mixed")
	owner, extent, takeovers := r.name("owner"), Extent(r.code("extent", &codesOfExtent)), r.u8("takeovers")
	if r.err != nil {
		return id
	}
	o := r.state.open.describe(id, c, body, r.state.tables[c.Context.Table])
	o.next, o.mixed, o.extent, o.takeovers = uint16(next), mixed, extent, takeovers
	o.owner = r.state.identity(Actor{Identity: owner})
	switch {
	case id == 0 || r.state.open.has(id):
		r.fail("shuffle", "each once, and not the genesis")
	case o.table == nil || o.table.last < id:
		r.fail("table", "does not know an open shuffle")
	case takeovers > MaxTakeovers || takeovers == 0 && extent != ExtentPlay:
		r.fail("takeovers", "at most 16, and no first owner is limited")
	case next > o.m:
		r.fail("next place", "past the last")
	case mixed && !o.planned:
		r.fail("mixed", "without a plan")
	case next == 0:
		o.table.waiting = append(o.table.waiting, id)
	}
	if r.err == nil {
		r.state.open.insert(o)
	}
	return id
}

// keys reads the key entries and folds them, as they were folded when they took
// effect.
func (r *stateReader) keys() {
	s := r.state
	if s.genesis != nil {
		s.applyGenesis(s.genesis)
	}
	last := uint64(0)
	r.each("key entries", func() {
		index, now, k := r.below("key entry"), int64(r.u64("time of the key entry")), new(Key)
		k.parseBare(&r.reader)
		r.ascending("key entries", index > last)
		if r.err == nil && !s.matters(k) {
			r.fail("key entries", "one that could not take effect")
		}
		if last = index; r.err == nil {
			s.applyKey(k, index, now)
		}
	})
	s.Commit()
}
