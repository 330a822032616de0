package rules

import (
	"crypto/ed25519"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// The rules of owners, credentials and acts, asked of the whole list of entries.

// word tells whether a name is reserved.
func word(name string) bool { return name == "daemon" || name == "operator" }

// below is the ledger without its newest entry.
func (m model) below() model { return m[:len(m)-1] }

func (m model) takeovers(id uint64) []uint64 {
	return all(m, func(t *audit.Takeover) bool { return t.Shuffle == id })
}

// owner returns who owns a shuffle, and whether only to close it.
func (m model) owner(id uint64) (identity string, limited bool) {
	identity = m[id].Actor.Identity
	if taken := m.takeovers(id); len(taken) > 0 {
		last := m[taken[len(taken)-1]]
		return last.Actor.Identity, last.Body.(*audit.Takeover).Extent == audit.ExtentClose
	}
	return identity, false
}

func (m model) plays(id uint64, identity string) bool {
	owner, limited := m.owner(id)
	return owner == identity && !limited
}

func (m model) takeoverRule(t *audit.Takeover, by audit.Actor) string {
	return first(
		"not_open", func() bool { return m.openCommit(t.Shuffle) == nil },
		"owner", func() bool {
			owner, limited := m.owner(t.Shuffle)
			again := owner == by.Identity && (!limited || t.Extent == audit.ExtentClose)
			return word(by.Identity) || again || len(m.takeovers(t.Shuffle)) == 16
		},
	)
}

// credential returns the entry that created a credential, −1 for none, and that which revoked it, −1 for none.
func (m model) credential(id string) (created, revoked int) {
	created, revoked = -1, -1
	for i, e := range m {
		switch b := e.Body.(type) {
		case *audit.Credential:
			if b.ID == id && b.Kind == audit.CredentialCreated {
				created = i
			}
			if b.ID == id && b.Kind == audit.CredentialRevoked {
				revoked = i
			}
		case *audit.Event:
			if b.Kind == audit.EventHeadAdopted && created >= 0 && revoked < 0 {
				revoked = i
			}
		}
	}
	return created, revoked
}

// holds tells whether the credential of the header is one for e.
func (m model) holds(e audit.Entry) bool {
	anybody := any1(m, func(c *audit.Credential) bool { return c.Kind == audit.CredentialCreated })
	if word(e.Actor.Identity) || !m.genesis().Production && !anybody {
		return true
	}
	created, revoked := m.credential(e.Actor.Credential)
	if created < 0 || revoked >= 0 {
		return false
	}
	c := m[created].Body.(*audit.Credential)
	table, some := m.tableFor(e.Body)
	return c.Identity == e.Actor.Identity && (c.Expires == 0 || e.Time < c.Expires) &&
		slices.Contains(rolesFor(e.Body), c.Role) &&
		(!some || len(c.Tables) == 0 || slices.Contains(c.Tables, table))
}

func rolesFor(b audit.Body) []audit.Role {
	switch b := b.(type) {
	case *audit.Event, *audit.Key, *audit.Credential:
		return []audit.Role{audit.RoleAdmin}
	case *audit.ActEntry:
		if b.Act == audit.ActTakeover {
			return []audit.Role{audit.RoleAdmin, audit.RoleDealer}
		}
		return []audit.Role{audit.RoleAdmin}
	case *audit.Close:
		if b.Outcome == audit.OutcomeVoid && b.Reason == audit.ReasonTapeLost {
			return []audit.Role{audit.RoleAdmin}
		}
		return []audit.Role{audit.RoleDealer, audit.RoleBlind}
	case *audit.Commit:
		if b.Context.ForLedger != "" {
			return []audit.Role{audit.RoleBlind}
		}
	case *audit.Deal:
		if b.Asked != nil {
			return []audit.Role{audit.RoleBlind}
		}
	case *audit.DisclosureEntry:
		return []audit.Role{audit.RoleDealer, audit.RoleAdmin}
	}
	return []audit.Role{audit.RoleDealer}
}

func (m model) tableFor(b audit.Body) (table string, some bool) {
	id := uint64(len(m))
	switch b := b.(type) {
	case *audit.Commit:
		return b.Context.Table, true
	case *audit.Event:
		switch b.Kind {
		case audit.EventTableOpen, audit.EventTableClose:
			return b.Name, true
		case audit.EventKillSet, audit.EventKillClear:
			return b.Name, b.Scope == audit.ScopeTable
		}
	case *audit.Mix:
		id = b.Shuffle
	case *audit.Deal:
		id = b.Shuffle
	case *audit.Close:
		id = b.Shuffle
	case *audit.Takeover:
		id = b.Shuffle
	case *audit.Reveal:
		id = b.Shuffle
	case *audit.DisclosureEntry:
		id = b.Shuffle
	}
	if m.begun(id) {
		return m[id].Body.(*audit.Commit).Context.Table, true
	}
	return "", false
}

func (m model) credentialRule(c *audit.Credential) string {
	return first("credential", func() bool {
		created, revoked := m.credential(c.ID)
		if c.Kind == audit.CredentialCreated {
			return created >= 0 || word(c.ID) || word(c.Identity)
		}
		return created < 0 || revoked >= 0
	})
}

// administrators returns those in force, and every name and key that ever stood.
func (m model) administrators() (inForce map[string]string, stood []string) {
	inForce = make(map[string]string)
	put := func(name string, key []byte) {
		inForce[name] = string(key)
		stood = append(stood, name, string(key))
	}
	for _, a := range m.genesis().Administrators {
		put(a.Name, a.Key)
	}
	for _, e := range m {
		if k, ok := e.Body.(*audit.Key); ok && k.Subject == audit.SubjectAdministrator {
			if k.Admin == audit.ChangeRemove {
				delete(inForce, k.Name)
			} else {
				put(k.Name, k.Public)
			}
		}
	}
	return inForce, stood
}

// twoPersons returns the acts that need two, and the delay in milliseconds.
func (m model) twoPersons() (acts []audit.Act, delay int64) {
	acts, delay = m.genesis().TwoPersons, int64(m.genesis().Delay)*1000
	for _, e := range m {
		if k, ok := e.Body.(*audit.Key); ok && k.Subject == audit.SubjectTwoPersons {
			acts, delay = k.Acts, int64(k.Delay)*1000
		}
	}
	return acts, delay
}

func tooFew(production bool, n int, acts []audit.Act) bool {
	for _, a := range []audit.Act{8, 9, 10, 11, 13} {
		if production && !slices.Contains(acts, a) {
			return true
		}
	}
	return n < 2 && (production || len(acts) > 0)
}

func (m model) badAdministrators(k *audit.Key) bool {
	inForce, stood := m.administrators()
	acts, _ := m.twoPersons()
	n, old := len(inForce), inForce[k.Name] != ""
	switch {
	case k.Subject == audit.SubjectTwoPersons:
		return tooFew(m.genesis().Production, n, k.Acts)
	case k.Subject != audit.SubjectAdministrator:
		return false
	case k.Admin == audit.ChangeAdd:
		return n == 16 || slices.Contains(stood, k.Name) || slices.Contains(stood, string(k.Public)) ||
			tooFew(m.genesis().Production, n+1, acts)
	case k.Admin == audit.ChangeRemove:
		return !old || tooFew(m.genesis().Production, n-1, acts)
	}
	return !old || slices.Contains(stood, string(k.Public)) || tooFew(m.genesis().Production, n, acts)
}

// actOf is the table of docs/SPEC.md section 5.11: the act that approves a body, 0 for none.
func actOf(b audit.Body) audit.Act {
	switch b := b.(type) {
	case *audit.Key:
		return map[audit.Subject]audit.Act{1: 3, 3: 2, 4: 1, 5: 4, 6: 8, 7: 11, 8: 13}[b.Subject]
	case *audit.Event:
		return map[audit.EventKind]audit.Act{10: 5, 7: 6, 5: 7}[b.Kind]
	case *audit.Credential:
		if b.Kind == audit.CredentialCreated && b.Role == audit.RoleAdmin {
			return 9
		}
	case *audit.Takeover:
		if b.Extent == audit.ExtentPlay {
			return 10
		}
	}
	return 0
}

func refApprovedEntry(e audit.Entry) [32]byte {
	return [32]byte(spec.Sum("shuffled/v1/approved\000", uint8(e.Body.Type()), spec.Str8(e.Actor.Identity), refBody(e)))
}

func approvedBy(a *audit.ActEntry, e audit.Entry) bool {
	return actOf(e.Body) == a.Act && refApprovedEntry(e) == a.Digest
}

// waits tells whether an act on top of m is one that waits.
func (m model) waits(a *audit.ActEntry) bool {
	acts, _ := m.twoPersons()
	return len(a.Signatures) == 1 && a.Act != audit.ActCancel && slices.Contains(acts, a.Act)
}

// waiting returns the indexes of the acts that wait, at the time of the newest entry.
func (m model) waiting() (indexes []uint64) {
	if len(m) == 0 {
		return nil
	}
	return m.waitingAt(m[len(m)-1].Time)
}

// waitingAt returns the indexes of the acts that wait and have not expired at a time.
func (m model) waitingAt(now int64) (indexes []uint64) {
	if len(m) == 0 {
		return nil
	}
	drop := func(is func(a *audit.ActEntry) bool) {
		if i := slices.IndexFunc(indexes, func(i uint64) bool { return is(m[i].Body.(*audit.ActEntry)) }); i >= 0 {
			indexes = slices.Delete(indexes, i, i+1)
		}
	}
	lapse := func(now int64) {
		indexes = slices.DeleteFunc(indexes, func(i uint64) bool { return m[i].Body.(*audit.ActEntry).Expires <= now })
	}
	defer func() { lapse(now) }()
	for i, e := range m[1:] {
		m := m[:i+1]
		lapse(e.Time)
		if a, ok := e.Body.(*audit.ActEntry); ok {
			if a.Act == audit.ActCancel {
				drop(func(w *audit.ActEntry) bool { return w.Digest == a.Digest })
			} else if m.waits(a) {
				indexes = append(indexes, uint64(i+1))
			}
			continue
		}
		if len(indexes) == 0 {
			continue
		}
		if acts, _ := m.twoPersons(); !m.due() && slices.Contains(acts, actOf(e.Body)) {
			drop(func(w *audit.ActEntry) bool { return approvedBy(w, e) })
		}
		if b, ok := e.Body.(*audit.Event); ok {
			over := map[audit.EventKind][]audit.Act{audit.EventHeadAdopted: {6, 7}, audit.EventKillSet: {7}, audit.EventLatchSet: {6}}[b.Kind]
			if b.Kind == audit.EventLatchSet && m.latched() {
				over = nil
			}
			ends := func(i uint64) bool { return slices.Contains(over, m[i].Body.(*audit.ActEntry).Act) }
			indexes = slices.DeleteFunc(indexes, ends)
		}
	}
	return indexes
}

// due tells whether the newest entry is an act that approves the next.
func (m model) due() bool {
	a, ok := m[len(m)-1].Body.(*audit.ActEntry)
	return ok && a.Act != audit.ActCancel && !m.below().waits(a)
}

// approves tells whether e needs no act of two administrators, or has one.
func (m model) approves(e audit.Entry) bool {
	acts, delay := m.twoPersons()
	if m.due() || !slices.Contains(acts, actOf(e.Body)) {
		return true
	}
	for _, i := range m.waitingAt(e.Time) {
		if approvedBy(m[i].Body.(*audit.ActEntry), e) {
			return e.Time >= m[i].Time+delay
		}
	}
	return false
}

func (m model) newestAct() (index uint64) {
	for _, i := range all(m, func(*audit.ActEntry) bool { return true }) {
		index = i
	}
	return index
}

func (m model) actRule(a *audit.ActEntry, now int64) string {
	return first("act", func() bool {
		inForce, _ := m.administrators()
		for _, s := range a.Signatures {
			key, ok := inForce[s.Administrator]
			w := new(spec.Writer)
			fields := spec.Act{Act: uint8(a.Act), Digest: a.Digest[:], Previous: a.Previous, HeadSize: a.HeadSize,
				HeadRoot: a.HeadRoot[:], Expires: uint64(a.Expires), Signatures: nil}
			fields.WriteSigned(w)
			text := spec.Join("shuffled/v1/act\000", spec.Sum(refBytes(m[0])), w.B)
			if !ok || !ed25519.Verify(ed25519.PublicKey(key[1:]), text, s.Signature[:]) || smallR(s.Signature[:32]) {
				return true
			}
		}
		acts, delay := m.twoPersons()
		least, most := now+1, now+86_400_000
		mayWait := (a.Act == 6 || a.Act == 7) && slices.Contains(acts, a.Act)
		if mayWait {
			most += delay
		}
		if m.waits(a) {
			least += delay
		}
		return a.Previous != m.newestAct() || a.HeadSize == 0 || a.HeadSize > uint64(len(m)) || a.Expires < least ||
			a.Expires > most || m.waits(a) && !mayWait ||
			a.Act == audit.ActCancel && !slices.ContainsFunc(m.waitingAt(now),
				func(i uint64) bool { return m[i].Body.(*audit.ActEntry).Digest == a.Digest })
	})
}

// smallR: eight times the point is the identity.
func smallR(r []byte) bool {
	p := spec.Decode(r)
	return p == nil || p.Double().Double().Double().Identity()
}

func refBytes(e audit.Entry) []byte {
	b, err := e.Encode()
	if err != nil {
		panic(err)
	}
	return b
}

// The rules of chains, asked of the whole list of entries.

// parentOf returns the shuffle whose cards a shuffle has; ok is false for none.
func (m model) parentOf(id uint64) (uint64, bool) {
	p := m[id].Body.(*audit.Commit).Context.Parent
	if p == nil {
		return 0, false
	}
	return p.ID, any1(m, func(c *audit.Close) bool { return c.Shuffle == p.ID && c.Outcome == audit.OutcomeContinued })
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
		if c, ok := e.Body.(*audit.Commit); ok && c.Context.Parent != nil && c.Context.Parent.ID == id {
			if _, linked := m.parentOf(uint64(i)); linked {
				return m.newest(uint64(i))
			}
		}
	}
	return id
}

func (m model) rootOf(id uint64) audit.Entry {
	return m[append(m.ancestors(id), id)[0]]
}

// round returns that of the newest run of a shuffle or, before its first, of its parent; 0 for none.
func (m model) round(id uint64) (last uint16) {
	if deals := m.dealsOf(id); len(deals) > 0 {
		runs := m[deals[len(deals)-1]].Body.(*audit.Deal).Runs
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
	_, ok := m[id].Body.(*audit.Commit)
	return ok && !any1(m, func(c *audit.Close) bool {
		return c.Shuffle == id && c.Outcome != audit.OutcomeContinued
	}) && !any1(m, func(d *audit.DisclosureEntry) bool { return d.Shuffle == id })
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
		case *audit.DisclosureEntry:
		case *audit.Close:
			for _, id := range m.ancestors(b.Shuffle) {
				if b.Outcome != audit.OutcomeContinued && m.begun(id) {
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

func (m model) disclosureRule(d *audit.DisclosureEntry) string {
	c := func() *audit.Context { return m[d.Shuffle].Body.(*audit.Commit).Context }
	return first(
		"not_open", func() bool { next, _ := m.toDisclose(); return d.Shuffle != next || next == 0 },
		"form", func() bool {
			length := c().Recipe.TapeLen()
			public := c().Disclosure == audit.DisclosurePublic
			return d.Form != audit.FormNone && (public && (d.Form != audit.FormTape || len(d.Tape) != length) ||
				c().Disclosure == audit.DisclosureAuditor &&
					(d.Form != audit.FormSealed || !m.sealedLen(length, len(d.Tape))))
		},
		"disclosure_key", func() bool {
			_, disclosure, changed := m.keysInForce()
			return d.Form == audit.FormSealed && (d.Key != disclosure || changed || disclosure == 0)
		},
		"entries", func() bool { return d.Entries != spec.EntriesOf(m, d.Shuffle) },
	)
}
