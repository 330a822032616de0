package rules

import (
	"cmp"
	"maps"
	"slices"

	"shuffled/internal/audit"
)

// covers reports whether a kill switch is set against a commit.
func (s *stops) covers(ctx *audit.Context) bool {
	return s.killed[Switch{Scope: audit.ScopeLedger}] || s.killed[Switch{Scope: audit.ScopeTable, Table: ctx.Table}] ||
		!ctx.IsDraw() && s.killed[Switch{Scope: audit.ScopeDeck, Deck: ctx.DeckHash}]
}

// checkEvent is the rule for an event. Tables and kill switches change, and a latch that is cleared is
// set. A latch may be set twice, by two daemons.
func (s *State) checkEvent(e *audit.Event) error {
	switch e.Kind {
	case audit.EventTableOpen:
		if t := s.tables[e.Name]; t != nil && !t.Closed {
			return illegal(audit.RuleTable, "table %s is open", e.Name)
		}
	case audit.EventTableClose:
		if t := s.tables[e.Name]; t == nil || t.Closed {
			return illegal(audit.RuleTable, "table %s is not open", e.Name)
		}
	case audit.EventKillSet, audit.EventKillClear:
		if s.killed[switchOf(e)] == (e.Kind == audit.EventKillSet) {
			return illegal(audit.RuleKill, "the switch is so already")
		}
	case audit.EventLatchSet:
		if !s.instances[e.Instance] {
			return illegal(audit.RuleInstance, "entry %d is no instance_start", e.Instance)
		}
	case audit.EventLatchClear:
		if !s.latched {
			return illegal(audit.RuleLatch, "the latch is not set")
		}
	}
	return nil
}

// switchOf returns the kill switch that an event sets or clears.
func switchOf(e *audit.Event) Switch { return Switch{e.Scope, e.Name, e.Deck} }

func (s *State) applyEvent(e *audit.Event, index uint64, now int64) {
	// What is set was not known when an act that waits to clear it was signed. A latch that stands is set again.
	over := map[audit.EventKind]audit.Act{audit.EventKillSet: audit.ActKillClear, audit.EventLatchSet: audit.ActLatchClear}[e.Kind]
	if over != 0 && !(over == audit.ActLatchClear && s.latched) {
		s.persons.waiting = slices.DeleteFunc(slices.Clone(s.persons.waiting),
			func(w WaitingAct) bool { return w.Act == over })
	}
	switch e.Kind {
	case audit.EventInstanceStart:
		set(s, s.instances, index, true, true)
	case audit.EventTableOpen, audit.EventTableClose:
		t := s.table(e.Name)
		before := *t
		s.push(func() { *t = before })
		t.Closed = e.Kind == audit.EventTableClose
		// A close sets aside what has not begun, all at once. The cards of a child's ancestors are in play, and another
		// ledger holds to an order.
		t.Waiting = slices.DeleteFunc(slices.Clone(t.Waiting), func(id uint64) bool {
			o, _ := s.open.find(id)
			return t.Closed && !o.child && !o.forLedger
		})
	case audit.EventKillSet, audit.EventKillClear:
		set(s, s.killed, switchOf(e), true, e.Kind == audit.EventKillSet)
	case audit.EventLatchSet, audit.EventLatchClear:
		s.latched = e.Kind == audit.EventLatchSet
	case audit.EventHeadAdopted:
		s.adopt(now)
	}
}

// adopt ends what an adopted database may have brought back: every credential, and every act that waits.
func (s *State) adopt(now int64) {
	known := s.holders.known
	s.holders.changes++
	s.push(func() {
		s.holders.known = known
		s.holders.changes++
	})
	s.persons.waiting = nil
	revoked := make(map[string]*Holder, len(known))
	for id, h := range known {
		after := *h
		if after.Revoked == 0 {
			after.Revoked = max(now, 1)
		}
		revoked[id] = &after
	}
	s.holders.known = revoked
}

// stopsOf returns a latch and kill switches that were saved.
func stopsOf(latched bool, switches []Switch) stops {
	s := stops{latched: latched, killed: make(map[Switch]bool)}
	for _, k := range switches {
		s.killed[k] = true
	}
	return s
}

// Latched reports whether the entropy latch is set.
func (s *State) Latched() bool { return s.latched }

// Switches returns the kill switches that are set: of the ledger, of tables by name, of decks by hash.
func (s *State) Switches() []Switch {
	return slices.SortedFunc(maps.Keys(s.killed), func(a, b Switch) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Table, b.Table), audit.CompareIDs(a.Deck, b.Deck))
	})
}

// Killed reports whether the kill switch of the whole ledger is set.
func (s *State) Killed() bool { return s.killed[Switch{Scope: audit.ScopeLedger}] }

// table returns the table, made when it is new.
func (s *State) table(name string) *Table {
	t := s.tables[name]
	if t == nil {
		t = &Table{Name: name}
		set(s, s.tables, name, t, true)
	}
	return t
}

// begun takes a shuffle from those of its table that were not dealt from; most often it is the
// first. The slice before stays as it is, for Rollback.
func (s *State) begun(o opened) {
	t, before := o.table, o.table.Waiting
	s.push(func() { t.Waiting = before })
	switch i, found := slices.BinarySearch(t.Waiting, o.id); {
	case !found:
	case i == 0:
		t.Waiting = t.Waiting[1:]
	default:
		t.Waiting = slices.Concat(t.Waiting[:i], t.Waiting[i+1:])
	}
}

// Next returns the serial and the previous index that the next commit of the table must carry.
func (s *State) Next(name string) (serial, previous uint64) {
	if t := s.tables[name]; t != nil {
		return t.Serial + 1, t.Last
	}
	return 1, 0
}

// stops are the entropy latch and the kill switches. Events set and clear them, and no commit that
// one of them covers is taken while it is set.
type stops struct {
	latched bool // the entropy latch of the ledger
	killed  map[Switch]bool
}

// Switch is a kill switch that is set.
type Switch struct {
	Scope audit.Scope
	Table string   // ScopeTable
	Deck  [32]byte // ScopeDeck: its hash
}
