package rules

import (
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Placed is an entry with its index in the ledger.
type Placed struct {
	Index uint64
	Entry audit.Entry
}

// CheckShuffle reports the first rule of docs/SPEC.md section 9 that the entries of one shuffle break by themselves, as
// an *Illegal. entries are the genesis, the commit and what followed it, in order of index.
//
// It is State.Apply over these entries alone. The entries between them are not known, and count in the operator's
// favour. An instance, an earlier serial, a parent and a disclosure key are supposed to be in the entries that are
// named for them, if they can be there. The latch and the switches are supposed to be clear, and earlier serials to
// have begun. An audit of the whole ledger checks all of that.
func CheckShuffle(entries []Placed) error {
	if len(entries) < 2 || entries[0].Index != 0 {
		return fmt.Errorf("%w shuffle: begins with the genesis and its commit", audit.ErrMalformed)
	}
	if err := NewState().check(entries[0].Entry); err != nil {
		return err
	}
	return CheckShuffleUnder(entries[0].Entry, entries[1:])
}

// CheckShuffleUnder is CheckShuffle with a genesis that was checked before: to check its keys takes
// longer than to check most shuffles. entries are those after the genesis.
func CheckShuffleUnder(genesis audit.Entry, entries []Placed) error {
	if len(entries) == 0 {
		return fmt.Errorf("%w shuffle: no commit", audit.ErrMalformed)
	}
	c, ok := entries[0].Entry.Body.(*audit.Commit)
	if !ok {
		return fmt.Errorf("%w shuffle: begins with the genesis and its commit", audit.ErrMalformed)
	}
	s := NewState()
	s.fold(genesis)
	s.suppose(c, entries[0].Index, entries[0].Entry.Actor)
	s.holders.supposed = true
	for _, e := range entries {
		if err := s.pass(e); err != nil {
			return err
		}
		if err := s.Apply(e.Entry); err != nil {
			return err
		}
	}
	// The close of the parent is in another file, if this file ends with the child's
	// commit. The close after a final deal is in this file.
	if s.pair != nil && !s.pair.continued {
		return s.pair.broken()
	}
	return nil
}

// suppose puts into s what the commit at index id says stands below it.
func (s *State) suppose(c *audit.Commit, id uint64, by audit.Actor) {
	below := func(index uint64) bool { return index > 0 && index < id }
	if below(c.Instance) {
		s.instances[c.Instance] = true
	}
	if below(c.Previous) {
		t := s.table(c.Context.Table)
		t.Serial, t.Last = c.Serial-1, c.Previous
	}
	if p := c.Context.Parent; p != nil && below(p.ID) {
		m := 0
		for _, pos := range p.Positions {
			m = max(m, int(pos)+1)
		}
		s.open.insert(s.supposedParent(c, m, audit.Entry{Actor: by}))
	}
	s.keys.disclosure.index = id // some entry below the close, for auditors in force
}

// supposedParent is a shuffle of m places, all dealt, that the child c may be of.
func (s *State) supposedParent(c *audit.Commit, m int, by audit.Entry) opened {
	context := &audit.Context{Origin: c.Context.Origin, Genesis: c.Context.Genesis, Table: c.Context.Table,
		DeckHash: c.Context.DeckHash, Terms: c.Context.Terms, Disclosure: audit.DisclosurePublic,
		Recipe: shuffle.Recipe{Cards: shuffle.MinCards, Take: shuffle.MinCards}}
	parent := &audit.Commit{Context: context, Serial: 1, CloseBy: audit.MaxInteger}
	o := s.opening(c.Context.Parent.ID, parent, s.table(c.Context.Table), by)
	o.m, o.next, o.latest = m, uint16(min(m, 1<<16-1)), audit.MaxInteger
	return o
}

// pass moves s over the entries of others that lie in front of e.
func (s *State) pass(e Placed) error {
	if e.Index < s.size {
		return fmt.Errorf("%w shuffle: entry %d after entry %d", audit.ErrMalformed, e.Index, s.size-1)
	}
	c, isClose := e.Entry.Body.(*audit.Close)
	if e.Index > s.size {
		if s.pair != nil && !s.pair.continued {
			return s.pair.broken()
		}
		// The first of these entries may have closed this child's parent, and the last
		// may have committed a child of this shuffle.
		s.size, s.pair = e.Index, nil
		if isClose && c.Outcome == audit.OutcomeContinued {
			s.pair = &pair{shuffle: c.Shuffle, continued: true}
		}
		if d, ok := e.Entry.Body.(*audit.DisclosureEntry); ok {
			// If this shuffle was continued, the last shuffle of its chain was closed right below.
			if o, ok := s.open.find(d.Shuffle); ok && o.stage == continued {
				o.stage = due
			}
		}
	}
	if d, ok := audit.DisclosedBy(e.Entry.Body); ok && d.Form == audit.FormSealed {
		if d.Key >= e.Index {
			return illegal(audit.RuleDisclosureKey, "no disclosure key can be entry %d", d.Key)
		}
		s.keys.disclosure.index = d.Key
	}
	return nil
}
