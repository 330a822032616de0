package rules

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// Attempts at entries of owners, credentials and administrators.

type attemptAdmin struct {
	private ed25519.PrivateKey
	key     []byte
}

var attemptAdmins = sync.OnceValue(func() (list []attemptAdmin) {
	for i := range 8 {
		list = append(list, attemptAdmin{spec.AdminSigner(fmt.Sprint(i)), spec.AdminKey(fmt.Sprint(i))})
	}
	return list
})

// administrators makes a quarter of the ledgers production.
func (a attempts) administrators(g *audit.Genesis) {
	g.Production = a.pick(0, 3) == 0
	n := a.pick(0, 3)
	if g.Production && n < 2 && !a.odd() {
		n = 2
	}
	for i := range n {
		g.Administrators = append(g.Administrators,
			audit.Administrator{Name: fmt.Sprint("x", i), Key: attemptAdmins()[i].key})
	}
	if g.Production && !a.odd() || n >= 2 && a.pick(0, 1) == 0 || a.odd() {
		g.TwoPersons = a.listed(g.Production && !a.odd())
	}
	g.Delay = uint32(a.pick(0, 1))
}

// listed are acts that need two.
func (a attempts) listed(production bool) (acts []audit.Act) {
	for act := audit.ActPolicy; act <= audit.ActCoDealer; act++ {
		if act == audit.ActCancel {
			continue
		}
		if production && act >= audit.ActAdministrator || a.pick(0, 2) == 0 {
			acts = append(acts, act)
		}
	}
	if a.pick(0, 3) == 0 && !production {
		return nil
	}
	return acts
}

// guarded tells whether a credential is asked for.
func (a attempts) guarded() bool {
	return a.m.genesis().Production ||
		any1(a.m, func(c *audit.Credential) bool { return c.Kind == audit.CredentialCreated })
}

// held are the credentials of an identity that are good for a role.
func (a attempts) held(identity string, role audit.Role, now int64) (ids []string) {
	for _, i := range all(a.m, func(c *audit.Credential) bool {
		return c.Kind == audit.CredentialCreated && c.Identity == identity && c.Role == role
	}) {
		c := a.m[i].Body.(*audit.Credential)
		if _, revoked := a.m.credential(c.ID); revoked < 0 && (c.Expires == 0 || now < c.Expires) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// actor is who may write b, most often.
func (a attempts) actor(b audit.Body, now int64) audit.Actor {
	by := audit.Actor{Identity: []string{"a", "a", "a", "b"}[a.pick(0, 3)], Credential: "c9"}
	role := rolesFor(b)[0]
	id, plays := uint64(0), true
	switch b := b.(type) {
	case *audit.Mix:
		id = b.Shuffle
	case *audit.Deal:
		id = b.Shuffle
	case *audit.Reveal:
		id = b.Shuffle
		if a.m.begun(id) {
			id = a.m.newest(id)
		}
	case *audit.DisclosureEntry:
		if _, identity := a.m.toDisclose(); identity != "" && !a.odd() {
			by.Identity = identity
			for _, i := range all(a.m, func(*audit.Close) bool { return true }) {
				by.Credential = a.m[i].Actor.Credential
			}
			return by
		}
		plays = false
	case *audit.Close:
		id = b.Shuffle
		if b.Outcome == audit.OutcomeExpired && a.pick(0, 1) == 0 {
			return audit.Daemon
		}
	case *audit.Commit:
		if b.Context.Parent != nil {
			id = b.Context.Parent.ID
		}
	case *audit.Takeover:
		plays = false
	default:
		plays = false
		if a.pick(0, 3) > 0 {
			return []audit.Actor{audit.Daemon, audit.Operator}[a.pick(0, 1)]
		}
	}
	if plays && !a.odd() {
		if a.m.openCommit(id) != nil {
			by.Identity, _ = a.m.owner(id)
		}
	}
	if a.odd() {
		return []audit.Actor{audit.Daemon, audit.Operator}[a.pick(0, 1)]
	}
	if a.guarded() && role != audit.RoleDealer && len(a.held(by.Identity, role, now)) == 0 && !a.odd() {
		return audit.Operator
	}
	if a.guarded() && plays && len(a.held(by.Identity, role, now)) == 0 && !a.odd() {
		by.Identity = "a"
	}
	if ids := a.held(by.Identity, role, now); len(ids) > 0 && !a.odd() {
		by.Credential = ids[a.pick(0, len(ids)-1)]
	}
	return by
}

func (a attempts) takeover() *audit.Takeover {
	return &audit.Takeover{Shuffle: a.of(a.m.open()), Extent: audit.Extent(a.pick(1, 2)), Reason: "r"}
}

func (a attempts) credential(now int64) *audit.Credential {
	created := all(a.m, func(c *audit.Credential) bool { return c.Kind == audit.CredentialCreated })
	if len(created) > 0 && a.pick(0, 3) == 0 {
		return &audit.Credential{Kind: audit.CredentialRevoked, ID: a.m[created[a.pick(0, len(created)-1)]].Body.(*audit.Credential).ID,
			Reason: "r"}
	}
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: fmt.Sprint("c", a.pick(0, 9)), Form: audit.FormToken,
		Role:     audit.Role(a.pick(1, 5)),
		Identity: []string{"a", "b"}[a.pick(0, 1)]}
	if a.pick(0, 1) == 0 {
		c.Role = []audit.Role{audit.RoleDealer, audit.RoleAdmin, audit.RoleBlind}[a.pick(0, 2)]
	}
	if a.pick(0, 9) == 0 {
		c.Expires = now + int64(a.pick(0, 5000))
	}
	if a.pick(0, 9) == 0 {
		c.Tables = [][]string{{"t1"}, {"t2"}, {"t1", "t2"}}[a.pick(0, 2)]
	}
	if a.odd() {
		c.Identity = "daemon"
	}
	if a.odd() {
		c.ID = "operator"
	}
	return c
}

// approved is the entry that the newest act approves, or that one which waits does.
func (a attempts) approved() (audit.Entry, bool) {
	if a.m.due() && !a.odd() {
		e, ok := a.pending[a.m[len(a.m)-1].Body.(*audit.ActEntry).Digest]
		return e, ok
	}
	if waiting := a.m.waiting(); len(waiting) > 0 && a.pick(0, 5) == 0 {
		e, ok := a.pending[a.m[waiting[a.pick(0, len(waiting)-1)]].Body.(*audit.ActEntry).Digest]
		return e, ok
	}
	return audit.Entry{}, false
}

// act is signed by two, or by one where that may do.
func (a attempts) act(act audit.Act, digest [32]byte, now int64) *audit.ActEntry {
	b := &audit.ActEntry{Act: act, Digest: digest, Previous: a.m.newestAct(), HeadSize: uint64(a.pick(1, len(a.m))),
		Expires: now + []int64{1, 1000, 1001, 2000, 86_400_000}[a.pick(0, 4)]}
	if a.odd() {
		b.Act = audit.Act(a.pick(1, 13))
	}
	if a.odd() {
		b.Previous = a.index()
	}
	if a.odd() {
		b.HeadSize = a.index() + 1
	}
	if a.odd() {
		b.Expires = now + []int64{0, -1, 86_400_001, 86_401_000, 86_401_001}[a.pick(0, 4)]
	}
	inForce, _ := a.m.administrators()
	var names []string
	for _, name := range []string{"x0", "x1", "x2", "x3"} {
		if inForce[name] != "" || a.odd() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = []string{"x0"}
	}
	alone := slices.Contains([]audit.Act{audit.ActAdoptHead, audit.ActLatchClear, audit.ActKillClear, audit.ActCancel}, act) && a.pick(0, 2) > 0 ||
		a.odd()
	for len(names) > 2 || len(names) > 1 && alone {
		i := a.pick(0, len(names)-1)
		names = slices.Delete(names, i, i+1)
	}
	genesis := spec.Sum(refBytes(a.m[0]))
	for _, name := range names {
		i := slices.IndexFunc(attemptAdmins(), func(k attemptAdmin) bool { return string(k.key) == inForce[name] })
		text := b.Signed([32]byte(genesis))
		s := audit.ActSignature{Administrator: name,
			Signature: [64]byte(ed25519.Sign(attemptAdmins()[max(i, 0)].private, text))}
		if a.odd() {
			s.Signature[a.pick(0, 63)] ^= 1
		}
		b.Signatures = append(b.Signatures, s)
	}
	return b
}

func (a attempts) cancel(now int64) *audit.ActEntry {
	var digest [32]byte
	if waiting := a.m.waiting(); len(waiting) > 0 {
		digest = a.m[waiting[a.pick(0, len(waiting)-1)]].Body.(*audit.ActEntry).Digest
	}
	return a.act(audit.ActCancel, digest, now)
}

// Attempts at entries of shuffles with a co-dealer, and of orders for another ledger.

// pin names a co-dealer, or none.
func (a attempts) pin() *audit.Key {
	k := &audit.Key{Subject: audit.SubjectCoDealer}
	if a.pick(0, 5) == 0 {
		return k
	}
	k.Every, k.Origin = a.pick(0, 5) == 0, "lab"
	k.Public, k.Policy = attemptKey(audit.SubjectSigning, 39), []byte(spec.WitnessPolicy("w1"))
	if a.odd() {
		k.Origin = attemptOrigin
	}
	if a.odd() {
		k.Public = attemptKey(audit.SubjectSigning, []int{0, 40}[a.pick(0, 1)])
	}
	if a.odd() {
		k.Policy = a.policy() // of which two quorums share no witness, or none
	}
	return k
}

// coDealer puts a co-dealer in front of the plan, or makes an order for another ledger.
func (a attempts) coDealer(c *audit.Commit, now int64) {
	ctx, pin := c.Context, a.m.pinned()
	named := pin != nil && pin.Origin != "" && a.m.genesis().MixModes&8 != 0
	orders := !a.guarded() || len(a.held("a", audit.RoleBlind, now)) > 0
	switch {
	case named && (pin.Every || a.pick(0, 2) == 0) || a.pick(1, 625) == 1:
		ctx.Plan = slices.Concat([]audit.Planned{{Source: audit.SourceCoDealer, Origin: "lab", Index: 7}}, ctx.Plan)
		c.AskKey = attemptKey(audit.SubjectSigning, 38)[1:]
		if a.odd() {
			c.AskKey = attemptKey(audit.SubjectSigning, 40)[1:]
		}
		if a.odd() {
			ctx.Plan[0].Origin = "another"
		}
	case orders && a.pick(0, 5) == 0 || a.pick(1, 625) == 1:
		ctx.ForLedger = "house"
		if a.odd() {
			ctx.ForLedger = attemptOrigin
		}
		if !a.odd() {
			ctx.Plan = nil
		}
		if !ctx.IsDraw() && !a.odd() {
			ctx.DeckHash = [32]byte(refPositionsDeck(ctx.Recipe.Cards))
		}
	default:
		if a.odd() {
			c.AskKey = attemptKey(audit.SubjectSigning, 38)[1:]
		}
		return
	}
	if a.odd() {
		c.AskKey = nil
	}
	if !a.odd() {
		ctx.Parent, ctx.Terms = nil, nil
	}
	if !ctx.IsDraw() && !a.odd() {
		ctx.Recipe.Take = ctx.Recipe.Cards
	}
}

// give makes of a deal one with a co-dealer, or of an order, where the shuffle is one.
func (a attempts) give(d *audit.Deal, ctx *audit.Context) {
	if (blind(ctx) || ctx.ForLedger != "") && !a.odd() {
		for i := range d.Runs {
			d.Runs[i].Recipient = "s"
			d.Final = d.Final && (blind(ctx) || a.odd())
			if d.Runs[i].Purpose == audit.PurposeOrder && !a.odd() {
				d.Runs[i].Purpose = audit.PurposeBoard
			}
		}
	}
	if (ctx.ForLedger != "") != a.odd() {
		d.Asked = &audit.Asked{Commit: audit.Foreign{Index: 7}, Head: audit.Head{Size: 8 - uint64(a.one())}}
	}
	if blind(ctx) == a.odd() {
		return
	}
	d.Blind = a.blind(true)
	gave, place := a.m.gave(d.Shuffle), d.First
	for _, r := range d.Runs {
		for range r.Count {
			if !r.Aside() != a.odd() {
				v := a.value(ctx, place, gave)
				gave, d.Blind.Values = append(gave, v), append(d.Blind.Values, v)
			}
			place++
		}
	}
}

// blind is what a close says of a co-dealer's order, or a deal with its values to come.
func (a attempts) blind(named bool) *audit.Blind {
	b := &audit.Blind{Head: audit.Head{Size: 9}}
	if named {
		b.Deal.Index = 8 - uint64(a.one())
	}
	if a.odd() {
		b.Head.Size = uint64(a.pick(6, 9))
	}
	return b
}

// value is one that a co-dealer may give for a place, most often.
func (a attempts) value(ctx *audit.Context, place int, gave []uint32) uint32 {
	n := ctx.Recipe.Take
	if ctx.IsDraw() {
		return uint32(a.pick(1, int(ctx.Recipe.Ranges[min(place, len(ctx.Recipe.Ranges)-1)]))) + a.one() - a.one()
	}
	for v := range uint32(n) {
		if !slices.Contains(gave, v) && !a.odd() {
			return v
		}
	}
	return uint32(a.pick(0, n))
}

// one is 1 once in a while.
func (a attempts) one() uint32 {
	if a.odd() {
		return 1
	}
	return 0
}

// follow makes of a close one with a co-dealer, or of an order, where the shuffle is one.
func (a attempts) follow(c *audit.Close, ctx *audit.Context) {
	if c.Reason == audit.ReasonCoDealer && !blind(ctx) && !a.odd() {
		c.Reason = audit.ReasonMisdeal
	}
	over := c.Outcome == audit.OutcomeVoid || c.Outcome == audit.OutcomeExpired
	if blind(ctx) != a.odd() {
		c.Blind = a.blind(over && a.pick(0, 2) == 0 || a.odd())
		for gave := a.m.gave(c.Shuffle); c.Blind.Deal.Index > 0 && a.pick(0, 2) == 0; {
			v := a.value(ctx, 0, gave)
			gave, c.Blind.Values = append(gave, v), append(c.Blind.Values, v)
		}
	}
	if ctx.ForLedger != "" && a.pick(0, 5) > 0 || a.odd() {
		c.Follows = &audit.Follows{Places: a.m.dealt(c.Shuffle)}
		if a.odd() {
			c.Follows.Places++
		}
	}
}
