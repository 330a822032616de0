package audit

// identity returns the number of the actor's identity: a million open shuffles have few owners.
func (s *State) identity(by Actor) uint32 {
	h := &s.holders
	number, ok := h.numbers[by.Identity]
	if !ok {
		number = uint32(len(h.identities))
		h.numbers[by.Identity], h.identities = number, append(h.identities, by.Identity)
	}
	return number
}

// owns reports whether the actor's identity is the shuffle's owner.
func (s *State) owns(o opened, by Actor) bool { return s.holders.identities[o.owner] == by.Identity }

// checkCommitter: a shuffle has an owner, and a child that of its parent (docs/SPEC.md
// section 9): otherwise the commit of a child would be a takeover.
func (s *State) checkCommitter(c *Context, by Actor) error {
	if by.Reserved() {
		return illegal(RuleOwner, "the identity %s commits no shuffle", by.Identity)
	}
	if c.Parent == nil {
		return nil
	}
	parent, _ := s.open.find(c.Parent.ID) // rule parent found it
	return s.plays(parent, by)
}

// plays returns nil if the actor may mix, deal and continue the shuffle.
func (s *State) plays(o opened, by Actor) error {
	switch {
	case s.elsewhere(o):
		return nil
	case !s.owns(o, by):
		return illegal(RuleOwner, "shuffle %d is of %s, not of %s", o.id, s.holders.identities[o.owner], by.Identity)
	case o.extent != ExtentPlay:
		return illegal(RuleOwner, "the identity %s took shuffle %d over to close it, and for nothing else", by.Identity, o.id)
	}
	return nil
}

// closes returns nil if the actor may write the close. The daemon or an offline command closes a shuffle that expired.
// If the tape is lost, which is a fault in every audit, an administrator does (writes).
func (s *State) closes(o opened, c *Close, by Actor) error {
	if s.owns(o, by) || c.Outcome == OutcomeExpired && by.Reserved() || c.Reason == ReasonTapeLost {
		return nil
	}
	return illegal(RuleOwner, "shuffle %d is of %s, not of %s", o.id, s.holders.identities[o.owner], by.Identity)
}

func (s *State) checkTakeover(t *Takeover, by Actor) error {
	o, err := s.running(t.Shuffle)
	switch {
	case err != nil:
		return err
	case by.Reserved():
		return illegal(RuleOwner, "the identity %s takes no shuffle over", by.Identity)
	case s.owns(o, by) && o.extent >= t.Extent:
		return illegal(RuleOwner, "shuffle %d is of %s already", t.Shuffle, by.Identity)
	case o.takeovers >= MaxTakeovers:
		return illegal(RuleOwner, "shuffle %d was taken over %d times", t.Shuffle, o.takeovers)
	}
	return nil
}

func (s *State) applyTakeover(t *Takeover, by Actor) {
	o := s.change(t.Shuffle)
	o.takeovers = min(o.takeovers, MaxTakeovers-1) + 1
	o.owner, o.extent = s.identity(by), t.Extent
	s.share(o)
}
