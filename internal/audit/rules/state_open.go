package rules

import (
	"maps"
	"math"
	"slices"

	"shuffled/internal/audit"
)

// Opened is what the state knows of an open shuffle, as it was when the caller asked.
type Opened struct {
	ID      uint64
	Table   string
	CloseBy int64  // UTC milliseconds
	Places  int    // m
	Next    int    // next place to deal
	Owner   string // identity
	Latest  int64  // no close-by of its chain is later, UTC milliseconds
	Depth   int    // of its chain: 1 of a root
	Aside   bool   // a close of its table set it aside

	slot  open // a copy
	terms *sharedContext
	long  string
	shown shown
}

// Commit parses the commit, at each call anew.
func (o Opened) Commit() *audit.Commit {
	return opened{open: &o.slot, sharedContext: o.terms, long: o.long}.commit()
}

// Shuffle returns an open shuffle; ok is false if id is not open.
func (s *State) Shuffle(id uint64) (Opened, bool) {
	o, ok := s.open.find(id)
	if !ok {
		return Opened{}, false
	}
	return s.view(o), true
}

func (s *State) view(o opened) Opened {
	return Opened{ID: o.id, Table: o.table.Name, CloseBy: o.closeBy, Places: o.m, Next: int(o.next),
		Owner: s.holders.identities[o.owner], Latest: o.latest, Depth: int(o.depth), Aside: o.setAside(),
		slot: *o.open, terms: o.sharedContext, long: o.long, shown: o.shown}
}

// Public returns how many of the dealt places are public.
func (o Opened) Public() (n int) {
	for _, what := range o.shown.places(o.Next) {
		if what == placePublic {
			n++
		}
	}
	return n
}

// OpenCount returns the number of open shuffles.
func (s *State) OpenCount() int { return len(s.open.slots) }

// OpenRef names an open shuffle.
type OpenRef struct {
	ID      uint64
	Table   string
	CloseBy int64 // UTC milliseconds
}

// OpenRefs returns all open shuffles that were not continued, in no order: the caller can sort them
// while the state goes on.
func (s *State) OpenRefs() []OpenRef {
	all := make([]OpenRef, 0, len(s.open.slots))
	for o := range s.open.all() {
		if o.stage == playing {
			all = append(all, OpenRef{o.id, o.table.Name, o.closeBy})
		}
	}
	return all
}

// TableRef is a game table with its open shuffles.
type TableRef struct {
	Table  string
	Closed bool     // it takes no new shuffle
	Serial uint64   // of its newest commit, 0 for none
	Newest uint64   // index of its newest commit, 0 for none
	Open   []uint64 // ids, ascending; of a chain that of its open shuffle
	More   bool     // there are open ones alongside Open
}

// AtTable returns a table, with at most so many of its open shuffles; ok is false if no entry named the table.
func (s *State) AtTable(name string, most int) (ref TableRef, ok bool) {
	t, ok := s.tables[name]
	if !ok {
		return TableRef{}, false
	}
	ref = TableRef{Table: name, Closed: t.Closed, Serial: t.Serial, Newest: t.Last}
	for o := range s.open.atTable(t) {
		if o.stage != playing {
			continue
		}
		if len(ref.Open) == most {
			ref.More = true
			break
		}
		ref.Open = append(ref.Open, o.id)
	}
	slices.Sort(ref.Open)
	return ref, true
}

// TableCount returns the number of tables.
func (s *State) TableCount() int { return len(s.tables) }

// Tables returns the names of all tables, in no order.
func (s *State) Tables() []string { return slices.Collect(maps.Keys(s.tables)) }

// Overdue returns the open shuffles whose close-by has passed at now, in UTC milliseconds, by id. Of a chain it returns
// the last shuffle, with which the others end. It costs nothing if there cannot be any.
func (s *State) Overdue(now int64) (ids []uint64) {
	if now < s.open.earliest {
		return nil
	}
	s.open.earliest = math.MaxInt64
	for o := range s.open.all() {
		s.open.earliest = min(s.open.earliest, o.closeBy)
		if now >= o.closeBy && o.stage == playing {
			ids = append(ids, o.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Backlog returns the oldest open shuffle, 0 for none, and how many of the open
// ones close by a time that has passed at now, in UTC milliseconds.
func (s *State) Backlog(now int64) (oldest uint64, overdue int) {
	for o := range s.open.all() {
		if oldest == 0 || o.id < oldest {
			oldest = o.id
		}
		if now >= o.closeBy {
			overdue++
		}
	}
	return oldest, overdue
}
