package rules

import (
	"cmp"
	"slices"

	"shuffled/internal/audit"
)

// identity returns the number of the actor's identity: a million open shuffles have few owners.
func (s *State) identity(by audit.Actor) uint32 {
	h := &s.holders
	number, ok := h.numbers[by.Identity]
	if !ok {
		number = uint32(len(h.identities))
		h.numbers[by.Identity], h.identities = number, append(h.identities, by.Identity)
	}
	return number
}

// owns reports whether the actor's identity is the shuffle's owner.
func (s *State) owns(o opened, by audit.Actor) bool {
	return s.holders.identities[o.owner] == by.Identity
}

// checkCommitter: a shuffle has an owner, and a child that of its parent (docs/SPEC.md
// section 9): otherwise the commit of a child would be a takeover.
func (s *State) checkCommitter(c *audit.Context, by audit.Actor) error {
	if by.Reserved() {
		return illegal(audit.RuleOwner, "the identity %s commits no shuffle", by.Identity)
	}
	if c.Parent == nil {
		return nil
	}
	parent, _ := s.open.find(c.Parent.ID) // rule parent found it
	return s.plays(parent, by)
}

// plays returns nil if the actor may mix, deal and continue the shuffle.
func (s *State) plays(o opened, by audit.Actor) error {
	switch {
	case s.elsewhere(o):
		return nil
	case !s.owns(o, by):
		return illegal(audit.RuleOwner, "shuffle %d is of %s, not of %s", o.id, s.holders.identities[o.owner],
			by.Identity)
	case o.extent != audit.ExtentPlay:
		return illegal(audit.RuleOwner, "the identity %s took shuffle %d over to close it, and for nothing else", by.Identity, o.id)
	}
	return nil
}

// closes returns nil if the actor may write the close. The daemon or an offline command closes a shuffle that expired.
// If the tape is lost, which is a fault in every audit, an administrator does (writes).
func (s *State) closes(o opened, c *audit.Close, by audit.Actor) error {
	if s.owns(o, by) || c.Outcome == audit.OutcomeExpired && by.Reserved() || c.Reason == audit.ReasonTapeLost {
		return nil
	}
	return illegal(audit.RuleOwner, "shuffle %d is of %s, not of %s", o.id, s.holders.identities[o.owner], by.Identity)
}

func (s *State) checkTakeover(t *audit.Takeover, by audit.Actor) error {
	o, err := s.running(t.Shuffle)
	switch {
	case err != nil:
		return err
	case by.Reserved():
		return illegal(audit.RuleOwner, "the identity %s takes no shuffle over", by.Identity)
	case s.owns(o, by) && o.extent >= t.Extent:
		return illegal(audit.RuleOwner, "shuffle %d is of %s already", t.Shuffle, by.Identity)
	case o.takeovers >= audit.MaxTakeovers:
		return illegal(audit.RuleOwner, "shuffle %d was taken over %d times", t.Shuffle, o.takeovers)
	}
	return nil
}

func (s *State) applyTakeover(t *audit.Takeover, by audit.Actor) {
	o := s.change(t.Shuffle)
	o.takeovers = min(o.takeovers, audit.MaxTakeovers-1) + 1
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
func (s *State) checkHolder(e audit.Entry) error {
	if e.Actor.Reserved() || s.holders.supposed || len(s.holders.known) == 0 && !s.genesis.Production {
		return nil
	}
	h := s.holders.known[e.Actor.Credential]
	switch {
	case h == nil:
		return illegal(audit.RuleCredential, "no credential %s was created", e.Actor.Credential)
	case h.Revoked != 0:
		return illegal(audit.RuleCredential, "credential %s was revoked", h.ID)
	case h.Identity != e.Actor.Identity:
		return illegal(audit.RuleCredential, "credential %s is of %s, not of %s", h.ID, h.Identity, e.Actor.Identity)
	case h.Expires != 0 && e.Time >= h.Expires:
		return illegal(audit.RuleCredential, "credential %s expired at %s", h.ID, audit.Instant(h.Expires))
	case !writes(h.Role, e.Body):
		return illegal(audit.RuleCredential, "credential %s is of the role %s, which writes no %s", h.ID, h.Role,
			e.Body.Type())
	}
	if table, ok := s.tableOf(e.Body); ok && len(h.Tables) > 0 && !slices.Contains(h.Tables, table) {
		return illegal(audit.RuleCredential, "credential %s is not for table %s", h.ID, table)
	}
	return nil
}

// writes reports whether a credential of the role causes entries with this body.
func writes(r audit.Role, b audit.Body) bool {
	switch b := b.(type) {
	case *audit.ActEntry: // a takeover comes with its act, and the rule looks at the table of that
		return r == audit.RoleAdmin || r == audit.RoleDealer && b.Act == audit.ActTakeover
	case *audit.Event, *audit.Key, *audit.Credential:
		return r == audit.RoleAdmin
	case *audit.Commit: // an order for another ledger is made by that ledger's house, and by nobody else
		return r == audit.RoleDealer && b.Context.ForLedger == "" || r == audit.RoleBlind && b.Context.ForLedger != ""
	case *audit.Deal:
		return r == audit.RoleDealer && b.Asked == nil || r == audit.RoleBlind && b.Asked != nil
	case *audit.Close:
		return (r == audit.RoleAdmin) == (b.Reason == audit.ReasonTapeLost) && (r == audit.RoleAdmin ||
			r == audit.RoleDealer || r == audit.RoleBlind)
	case *audit.DisclosureEntry: // by the identity of the chain's close
		return r == audit.RoleAdmin || r == audit.RoleDealer
	}
	return r == audit.RoleDealer
}

// tableOf returns the table that a body is about. ok is false if it is about none, or about a
// shuffle that is not open, which breaks another rule.
func (s *State) tableOf(b audit.Body) (string, bool) {
	switch b := b.(type) {
	case *audit.Commit:
		return b.Context.Table, true
	case *audit.Event:
		return b.Name, b.Kind == audit.EventTableOpen || b.Kind == audit.EventTableClose || b.Scope == audit.ScopeTable
	}
	if o, ok := s.open.find(audit.ShuffleOf(b)); ok {
		return o.table.Name, true
	}
	return "", false
}

func (s *State) checkCredential(c *audit.Credential) error {
	h := s.holders.known[c.ID]
	switch {
	case c.Kind == audit.CredentialCreated && h != nil:
		return illegal(audit.RuleCredential, "credential %s was created before", c.ID)
	case c.Kind == audit.CredentialCreated && (audit.Reserved(c.Identity) || audit.Reserved(c.ID)):
		return illegal(audit.RuleCredential, "the identities daemon and operator are reserved")
	case c.Kind == audit.CredentialRevoked && h == nil:
		return illegal(audit.RuleCredential, "no credential %s was created", c.ID)
	case c.Kind == audit.CredentialRevoked && h.Revoked != 0:
		return illegal(audit.RuleCredential, "credential %s was revoked before", c.ID)
	}
	return nil
}

func (s *State) applyCredential(c *audit.Credential, index uint64, now int64) {
	s.holders.changes++
	s.push(func() { s.holders.changes++ })
	if c.Kind == audit.CredentialRevoked {
		h := *s.holders.known[c.ID]
		h.Revoked = max(now, 1)
		set(s, s.holders.known, c.ID, &h, true)
		return
	}
	set(s, s.holders.known, c.ID, &Holder{Credential: *c, Index: index, Created: now}, true)
}
