package audit

// identity returns the actor's identity, interned: hundreds of thousands of open
// shuffles have few owners.
func (s *State) identity(by Actor) string {
	if name, ok := s.holders.names[by.Identity]; ok {
		return name
	}
	s.holders.names[by.Identity] = by.Identity
	return by.Identity
}

// checkCommitter: a shuffle has an owner, and a child that of its parent (docs/SPEC.md
// section 9): otherwise the commit of a child would be a takeover.
func (s *State) checkCommitter(c *Context, by Actor) error {
	if by.Reserved() {
		return illegal(RuleOwner, "%s commits no shuffle", by.Identity)
	}
	if c.Parent == nil {
		return nil
	}
	return s.open[c.Parent.ID].plays(c.Parent.ID, by)
}

// plays reports whether the actor may mix, deal and continue the shuffle.
func (o *open) plays(id uint64, by Actor) error {
	switch {
	case o.owner != by.Identity:
		return illegal(RuleOwner, "shuffle %d is of %s, not of %s", id, o.owner, by.Identity)
	case o.extent != ExtentPlay:
		return illegal(RuleOwner, "%s took shuffle %d over to close it, and for nothing else", o.owner, id)
	}
	return nil
}

// closes reports whether the actor may write the close. The daemon closes what expired;
// what lost its tape, which is a fault in every audit, an administrator.
func (o *open) closes(c *Close, by Actor) error {
	if o.owner == by.Identity || c.Outcome == OutcomeExpired && by.Reserved() || c.Reason == ReasonTapeLost {
		return nil
	}
	return illegal(RuleOwner, "shuffle %d is of %s, not of %s", c.Shuffle, o.owner, by.Identity)
}

func (s *State) checkTakeover(t *Takeover, by Actor) error {
	o := s.open[t.Shuffle]
	switch {
	case o == nil:
		return illegal(RuleNotOpen, "shuffle %d is not open", t.Shuffle)
	case by.Reserved():
		return illegal(RuleOwner, "%s takes no shuffle over", by.Identity)
	case o.owner == by.Identity && o.extent >= t.Extent:
		return illegal(RuleOwner, "shuffle %d is of %s already", t.Shuffle, o.owner)
	case o.takeovers >= MaxTakeovers:
		return illegal(RuleOwner, "shuffle %d was taken over %d times", t.Shuffle, o.takeovers)
	}
	return nil
}

func (s *State) applyTakeover(t *Takeover, by Actor) {
	o := s.open[t.Shuffle]
	owner, extent, takeovers := o.owner, o.extent, o.takeovers
	s.push(func() { o.owner, o.extent, o.takeovers = owner, extent, takeovers })
	o.owner, o.extent, o.takeovers = s.identity(by), t.Extent, min(o.takeovers, MaxTakeovers-1)+1
}
