package audit

import "slices"

// holders are the credentials of a ledger.
type holders struct {
	known    map[string]*holder // every one that was created, by id
	names    map[string]string  // identities, each once: see State.identity
	supposed bool               // of a file that holds no credentials: all are taken to be in order
}

// holder is a credential as its entry made it.
type holder struct {
	Credential
	revoked bool
}

// Holder returns the credential of the id as its entry made it; ok is false when none
// was created, or it was revoked. Whether it expired is not looked at.
func (s *State) Holder(id string) (c Credential, ok bool) {
	h := s.holders.known[id]
	if h == nil || h.revoked {
		return c, false
	}
	return h.Credential, true
}

// checkHolder: who causes an entry has a credential for it. A sandbox without any
// credential has no callers but those in its own process, and any name may stand there.
func (s *State) checkHolder(e Entry) error {
	if e.Actor.Reserved() || s.holders.supposed || len(s.holders.known) == 0 && !s.genesis.Production {
		return nil
	}
	h := s.holders.known[e.Actor.Credential]
	switch {
	case h == nil:
		return illegal(RuleCredential, "no credential %s was created", e.Actor.Credential)
	case h.revoked:
		return illegal(RuleCredential, "credential %s was revoked", h.ID)
	case h.Identity != e.Actor.Identity:
		return illegal(RuleCredential, "credential %s is of %s, not of %s", h.ID, h.Identity, e.Actor.Identity)
	case h.Expires != 0 && e.Time >= h.Expires:
		return illegal(RuleCredential, "credential %s expired at %d", h.ID, h.Expires)
	case e.Body.Type() != TypeAct && h.Role != roleFor(e.Body):
		return illegal(RuleCredential, "credential %s is of the role %s, which writes no %s", h.ID, h.Role, e.Body.Type())
	}
	if table, ok := s.tableOf(e.Body); ok && h.Tables != nil && !slices.Contains(h.Tables, table) {
		return illegal(RuleCredential, "credential %s is not for table %s", h.ID, table)
	}
	return nil
}

// roleFor returns the role that causes entries with this body.
func roleFor(b Body) Role {
	switch b.(type) {
	case *Key, *Event, *Credential:
		return RoleAdmin
	}
	return RoleDealer
}

// tableOf returns the table that a body is about; ok is false when it is about none, or
// about a shuffle that is not open, which is another rule.
func (s *State) tableOf(b Body) (string, bool) {
	var id uint64
	switch b := b.(type) {
	case *Commit:
		return b.Context.Table, true
	case *Mix:
		id = b.Shuffle
	case *Deal:
		id = b.Shuffle
	case *Close:
		id = b.Shuffle
	case *Takeover:
		id = b.Shuffle
	}
	if o := s.open[id]; o != nil {
		return o.table.name, true
	}
	return "", false
}

func (s *State) checkCredential(c *Credential) error {
	h := s.holders.known[c.ID]
	switch {
	case c.Kind == CredentialCreated && h != nil:
		return illegal(RuleCredential, "credential %s was created before", c.ID)
	case c.Kind == CredentialCreated && (reserved(c.Identity) || reserved(c.ID)):
		return illegal(RuleCredential, "daemon and operator are reserved")
	case c.Kind == CredentialRevoked && h == nil:
		return illegal(RuleCredential, "no credential %s was created", c.ID)
	case c.Kind == CredentialRevoked && h.revoked:
		return illegal(RuleCredential, "credential %s was revoked before", c.ID)
	}
	return nil
}

func (s *State) applyCredential(c *Credential) {
	if c.Kind == CredentialRevoked {
		h := s.holders.known[c.ID]
		before := h.revoked
		s.push(func() { h.revoked = before })
		h.revoked = true
		return
	}
	s.holders.known[c.ID] = &holder{Credential: *c}
	s.push(func() { delete(s.holders.known, c.ID) })
}

// encodeHolders writes every credential that was created, and whether it was revoked.
func (s *State) encodeHolders(w *writer) {
	writeSorted(w, s.holders.known, compareNames, func(_ string, h *holder) {
		h.encodeRow(w)
		w.raw(h.Digest[:])
		w.flag(h.revoked)
	})
}

func (r *stateReader) holders() {
	last := ""
	r.each("credentials", func() {
		h := &holder{Credential: Credential{Kind: CredentialCreated}}
		h.parseRow(&r.reader)
		h.revoked = r.flag("revoked")
		r.ascending("credentials", compareNames(last, h.ID) < 0)
		if reserved(h.ID) || reserved(h.Identity) {
			r.fail("credentials", "daemon and operator are reserved")
		}
		last = h.ID
		r.state.holders.known[h.ID] = h
	})
}
