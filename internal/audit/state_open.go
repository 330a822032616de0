package audit

import (
	"maps"
	"slices"
)

// open is a shuffle between its commit and its close. A ledger may have hundreds
// of thousands, and the garbage collector passes each again and again: the commit
// is kept as its bytes, without a pointer in them, and the hot rules have what they
// need of it beside them.
type open struct {
	body       string // of the commit, as docs/SPEC.md section 5.3 encodes it
	table      *table
	closeBy    int64
	m          int // places
	next       int // next place to deal
	tapeLen    int
	disclosure Disclosure
	owner      string // identity, interned
	extent     Extent // what the owner may do
	takeovers  uint8
	planned    bool // there is a mix plan
	mixed      bool
}

// body encodes a commit into no more memory than it needs.
func (s *State) body(c *Commit) string {
	s.scratch.b = s.scratch.b[:0]
	c.encode(&s.scratch)
	return string(s.scratch.b)
}

// open is the open shuffle of c, of which it keeps no part.
func (c *Commit) open(body string, t *table, owner string) *open {
	return &open{
		body:       body,
		table:      t,
		owner:      owner,
		extent:     ExtentPlay,
		closeBy:    c.CloseBy,
		m:          c.Context.Recipe.Positions(),
		tapeLen:    c.Context.Recipe.TapeLen(),
		disclosure: c.Context.Disclosure,
		planned:    len(c.Context.Plan) > 0,
	}
}

// parseOpen parses the body of an open shuffle. It was an entry's, which parse.
func parseOpen(body string) *Commit {
	c, r := new(Commit), &reader{s: []byte(body)}
	c.parse(r)
	if err := r.end("commit"); err != nil {
		panic("audit: the commit of an open shuffle: " + err.Error())
	}
	return c
}

func (o *open) commit() *Commit { return parseOpen(o.body) }

// Opened is what the state knows of an open shuffle. It does not change with it.
type Opened struct {
	ID      uint64
	Table   string
	CloseBy int64  // UTC milliseconds
	Places  int    // m
	Next    int    // next place to deal
	Mixed   bool   // its plan was revealed
	Owner   string // identity
	Extent  Extent // what the owner may do

	body string
}

// Commit parses the commit, at each call anew.
func (o Opened) Commit() *Commit { return parseOpen(o.body) }

// Shuffle returns an open shuffle; ok is false when id is not open.
func (s *State) Shuffle(id uint64) (Opened, bool) {
	o := s.open[id]
	if o == nil {
		return Opened{}, false
	}
	return o.view(id), true
}

func (o *open) view(id uint64) Opened {
	return Opened{ID: id, Table: o.table.name, CloseBy: o.closeBy, Places: o.m, Next: o.next, Mixed: o.mixed, Owner: o.owner, Extent: o.extent, body: o.body}
}

// OpenCount returns the number of open shuffles.
func (s *State) OpenCount() int { return len(s.open) }

// OpenRef names an open shuffle.
type OpenRef struct {
	ID    uint64
	Table string
}

// OpenRefs returns all open shuffles, in no order: who sorts them need not keep the
// state from changing meanwhile.
func (s *State) OpenRefs() []OpenRef {
	all := make([]OpenRef, 0, len(s.open))
	for id, o := range s.open {
		all = append(all, OpenRef{id, o.table.name})
	}
	return all
}

// OpenShuffles returns all open shuffles, by id.
func (s *State) OpenShuffles() []Opened {
	ids := slices.Sorted(maps.Keys(s.open))
	all := make([]Opened, len(ids))
	for i, id := range ids {
		all[i] = s.open[id].view(id)
	}
	return all
}

// Backlog returns the oldest open shuffle, 0 for none, and how many of the open
// ones close by a time that has passed at now, in UTC milliseconds.
func (s *State) Backlog(now int64) (oldest uint64, overdue int) {
	for id, o := range s.open {
		if oldest == 0 || id < oldest {
			oldest = id
		}
		if now >= o.closeBy {
			overdue++
		}
	}
	return oldest, overdue
}
