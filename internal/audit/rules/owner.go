package audit

import (
	"cmp"
	"slices"
)

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

// Holders returns every credential that was created, by its entry.
func (s *State) Holders() []Holder {
	all := make([]Holder, 0, len(s.holders.known))
	for _, h := range s.holders.known {
		all = append(all, *h)
	}
	slices.SortFunc(all, func(a, b Holder) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

// HolderChanges counts every change of the credentials, also by Rollback. As long as the count is
// the same, Holders returns the same.
func (s *State) HolderChanges() uint64 { return s.holders.changes }

// checkHolder: the actor of an entry has a credential for it. A sandbox without any credential has
// no callers outside its own process, and its entries may have any name.
func (s *State) checkHolder(e Entry) error {
	if e.Actor.Reserved() || s.holders.supposed || len(s.holders.known) == 0 && !s.genesis.Production {
		return nil
	}
	h := s.holders.known[e.Actor.Credential]
	switch {
	case h == nil:
		return illegal(RuleCredential, "no credential %s was created", e.Actor.Credential)
	case h.Revoked != 0:
		return illegal(RuleCredential, "credential %s was revoked", h.ID)
	case h.Identity != e.Actor.Identity:
		return illegal(RuleCredential, "credential %s is of %s, not of %s", h.ID, h.Identity, e.Actor.Identity)
	case h.Expires != 0 && e.Time >= h.Expires:
		return illegal(RuleCredential, "credential %s expired at %s", h.ID, Instant(h.Expires))
	case !writes(h.Role, e.Body):
		return illegal(RuleCredential, "credential %s is of the role %s, which writes no %s", h.ID, h.Role,
			e.Body.Type())
	}
	if table, ok := s.tableOf(e.Body); ok && len(h.Tables) > 0 && !slices.Contains(h.Tables, table) {
		return illegal(RuleCredential, "credential %s is not for table %s", h.ID, table)
	}
	return nil
}

// writes reports whether a credential of the role causes entries with this body.
func writes(r Role, b Body) bool {
	switch b := b.(type) {
	case *ActEntry: // a takeover comes with its act, and the rule looks at the table of that
		return r == RoleAdmin || r == RoleDealer && b.Act == ActTakeover
	case *Event, *Key, *Credential:
		return r == RoleAdmin
	case *Commit: // an order for another ledger is made by that ledger's house, and by nobody else
		return r == RoleDealer && b.Context.ForLedger == "" || r == RoleBlind && b.Context.ForLedger != ""
	case *Deal:
		return r == RoleDealer && b.Asked == nil || r == RoleBlind && b.Asked != nil
	case *Close:
		return (r == RoleAdmin) == (b.Reason == ReasonTapeLost) && (r == RoleAdmin || r == RoleDealer || r == RoleBlind)
	case *DisclosureEntry: // by the identity of the chain's close
		return r == RoleAdmin || r == RoleDealer
	}
	return r == RoleDealer
}

// tableOf returns the table that a body is about. ok is false if it is about none, or about a
// shuffle that is not open, which breaks another rule.
func (s *State) tableOf(b Body) (string, bool) {
	switch b := b.(type) {
	case *Commit:
		return b.Context.Table, true
	case *Event:
		return b.Name, b.Kind == EventTableOpen || b.Kind == EventTableClose || b.Scope == ScopeTable
	}
	if o, ok := s.open.find(ShuffleOf(b)); ok {
		return o.table.name, true
	}
	return "", false
}

func (s *State) checkCredential(c *Credential) error {
	h := s.holders.known[c.ID]
	switch {
	case c.Kind == CredentialCreated && h != nil:
		return illegal(RuleCredential, "credential %s was created before", c.ID)
	case c.Kind == CredentialCreated && (Reserved(c.Identity) || Reserved(c.ID)):
		return illegal(RuleCredential, "the identities daemon and operator are reserved")
	case c.Kind == CredentialRevoked && h == nil:
		return illegal(RuleCredential, "no credential %s was created", c.ID)
	case c.Kind == CredentialRevoked && h.Revoked != 0:
		return illegal(RuleCredential, "credential %s was revoked before", c.ID)
	}
	return nil
}

func (s *State) applyCredential(c *Credential, index uint64, now int64) {
	s.holders.changes++
	s.push(func() { s.holders.changes++ })
	if c.Kind == CredentialRevoked {
		h := s.holders.known[c.ID]
		before := h.Revoked
		s.push(func() { h.Revoked = before })
		h.Revoked = max(now, 1)
		return
	}
	s.holders.known[c.ID] = &Holder{Credential: *c, Index: index, Created: now}
	s.push(func() { delete(s.holders.known, c.ID) })
}
