package audit

import "slices"

// The rules of chains, asked of the whole list of entries.

// parentOf returns the shuffle whose cards a shuffle has; ok is false for none.
func (m model) parentOf(id uint64) (uint64, bool) {
	p := m[id].Body.(*Commit).Context.Parent
	if p == nil {
		return 0, false
	}
	return p.ID, any1(m, func(c *Close) bool { return c.Shuffle == p.ID && c.Outcome == OutcomeContinued })
}

// ancestors returns the shuffles above one in its chain, root first.
func (m model) ancestors(id uint64) (ids []uint64) {
	for parent, ok := m.parentOf(id); ok; parent, ok = m.parentOf(parent) {
		ids = slices.Insert(ids, 0, parent)
	}
	return ids
}

// newest returns the last shuffle of the chain of one.
func (m model) newest(id uint64) uint64 {
	for i, e := range m {
		if c, ok := e.Body.(*Commit); ok && c.Context.Parent != nil && c.Context.Parent.ID == id {
			if _, linked := m.parentOf(uint64(i)); linked {
				return m.newest(uint64(i))
			}
		}
	}
	return id
}

func (m model) rootOf(id uint64) Entry {
	return m[append(m.ancestors(id), id)[0]]
}

// round returns that of the newest run of a shuffle or, before its first, of its parent; 0 for none.
func (m model) round(id uint64) (last uint16) {
	if deals := m.dealsOf(id); len(deals) > 0 {
		runs := m[deals[len(deals)-1]].Body.(*Deal).Runs
		return runs[len(runs)-1].Round
	}
	if parent, ok := m.parentOf(id); ok {
		return m.round(parent)
	}
	return 0
}

// begun tells whether a shuffle was committed, and its tape not disclosed.
func (m model) begun(id uint64) bool {
	if id >= uint64(len(m)) {
		return false
	}
	_, ok := m[id].Body.(*Commit)
	return ok && !any1(m, func(c *Close) bool { return c.Shuffle == id && c.Outcome != OutcomeContinued }) &&
		!any1(m, func(d *DisclosureEntry) bool { return d.Shuffle == id })
}

// live returns the ids of shuffles whose tapes are not disclosed.
func (m model) live() (ids []uint64) {
	for i := range m {
		if m.begun(uint64(i)) {
			ids = append(ids, uint64(i))
		}
	}
	return ids
}

// toDisclose returns the ancestor whose disclosure is the next entry, 0 for none, and of whom it is.
func (m model) toDisclose() (next uint64, by string) {
	for i := len(m) - 1; i >= 0; i-- {
		switch b := m[i].Body.(type) {
		case *DisclosureEntry:
		case *Close:
			for _, id := range m.ancestors(b.Shuffle) {
				if b.Outcome != OutcomeContinued && m.begun(id) {
					return id, m[i].Actor.Identity
				}
			}
			return 0, ""
		default:
			return 0, ""
		}
	}
	return 0, ""
}

func (m model) disclosureRule(d *DisclosureEntry) string {
	c := func() *Context { return m[d.Shuffle].Body.(*Commit).Context }
	return first(
		"not_open", func() bool { next, _ := m.toDisclose(); return d.Shuffle != next || next == 0 },
		"form", func() bool {
			length := c().Recipe.TapeLen()
			public := c().Disclosure == DisclosurePublic
			return d.Form != FormNone && (public && (d.Form != FormTape || len(d.Tape) != length) ||
				c().Disclosure == DisclosureAuditor && (d.Form != FormSealed || !m.sealedLen(length, len(d.Tape))))
		},
		"disclosure_key", func() bool {
			_, disclosure, changed := m.keysInForce()
			return d.Form == FormSealed && (d.Key != disclosure || changed || disclosure == 0)
		},
		"entries", func() bool { return d.Entries != entriesOf(m, d.Shuffle) },
	)
}
