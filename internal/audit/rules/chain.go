package rules

import (
	"slices"

	"shuffled/internal/audit"
)

// A chain is a root, its child, its child's child, and so on (docs/SPEC.md sections 3.3 and 5.13).
// All of it except the last shuffle was continued, and waits for its disclosure.

// running returns the shuffle of an id if it is open and was not continued.
func (s *State) running(id uint64) (opened, error) {
	o, ok := s.open.find(id)
	switch {
	case !ok:
		return o, illegal(audit.RuleNotOpen, "shuffle %d is not open", id)
	case o.stage != playing:
		return o, illegal(audit.RuleNotOpen, "shuffle %d was continued", id)
	}
	return o, nil
}

// Ancestors returns the continued shuffles below an open one, root first.
func (s *State) Ancestors(id uint64) (ids []uint64) {
	for o, ok := s.open.find(id); ok && o.depth > 1; {
		parent := o.commit().Context.Parent.ID
		if o, ok = s.open.find(parent); ok {
			ids = append(ids, parent)
		}
	}
	slices.Reverse(ids)
	return ids
}

// share gives the ancestors of an open shuffle its close-by and owner.
func (s *State) share(o opened) {
	for _, id := range s.Ancestors(o.id) {
		s.change(id).share(o.chained)
	}
}

// elsewhere reports whether the last shuffle of the chain is in another file, so that its close-by
// and owner, which hold for o, are not known.
func (s *State) elsewhere(o opened) bool { return s.holders.supposed && o.stage == continued }

// link makes an open shuffle the parent of its child. If the child is in another file, nothing is known of it.
func (s *State) link(parent, child uint64) {
	above := s.change(parent)
	above.stage = continued
	if s.open.has(child) {
		o := s.change(child)
		o.latest, o.depth, o.round = above.latest, above.depth+1, above.round
		s.share(o)
	}
}

// unchain ends the chain of a shuffle that was not continued: its ancestors are due.
func (s *State) unchain(id uint64, by audit.Actor) {
	ancestors := s.Ancestors(id)
	for _, ancestor := range ancestors {
		s.change(ancestor).stage = due
	}
	if len(ancestors) > 0 {
		s.pair = &pair{disclose: ancestors, by: by.Identity}
	}
}

// checkTerms is the rule terms of a commit.
func (s *State) checkTerms(c *audit.Context) error {
	if c.Parent != nil {
		// checkParent found it.
		p, _ := s.open.find(c.Parent.ID)
		if of := p.commit().Context.Terms; !of.Equal(c.Terms) {
			return illegal(audit.RuleTerms, "the terms are not those of the parent, shuffle %d", c.Parent.ID)
		}
	}
	switch t := c.Terms; {
	case t == nil:
	case t.Kind == audit.TermsWheel && (!c.IsDraw() || c.IsNumbers()):
		return illegal(audit.RuleTerms, "a wheel is of a draw list only")
	case t.Kind == audit.TermsWheel && slices.ContainsFunc(c.Recipe.Ranges,
		func(k uint32) bool { return k != c.Recipe.Ranges[0] }):
		return illegal(audit.RuleTerms, "every range of a wheel's draw list is its total, and these differ")
	case t.Kind == audit.TermsTicketList && (!c.IsNumbers() || t.Count != uint64(c.Of)):
		return illegal(audit.RuleTerms, "a list of %d tickets is of as many numbers only", t.Count)
	}
	return nil
}

func (s *State) checkDisclosure(d *audit.DisclosureEntry) error {
	if o, ok := s.open.find(d.Shuffle); !ok || o.stage != due {
		return illegal(audit.RuleNotOpen, "shuffle %d was not continued, is disclosed, or has an open descendant", d.Shuffle)
	}
	return s.checkDisclosed(*d)
}

func (s *State) applyDisclosure(d *audit.DisclosureEntry, expected *pair) {
	s.end(d.Shuffle)
	if expected != nil && len(expected.disclose) > 1 {
		s.pair = &pair{disclose: expected.disclose[1:], by: expected.by}
	}
}

// end takes out a shuffle that ends.
func (s *State) end(id uint64) {
	s.change(id)
	s.open.remove(id)
}
