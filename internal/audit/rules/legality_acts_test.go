package audit

import (
	"fmt"
	"slices"
)

// Cases of owners, takeovers, credentials, acts and administrators.

func (c legalityCases) owners() {
	s := newStory()
	slot, plan := storySlot("t", 0)
	id := s.then(s.commit("t", planned(plan)))
	add := func(name, rule string, s *story, next refEntry) { c.add("owner", name, rule, s, next) }
	by := func(identity, rule string) {
		add("a commit by "+identity, rule, s, of(identity, s.commit("u")))
	}
	by("dealer-2", holds)
	by("daemon", "owner")
	by("operator", "owner")
	add("a mix by its owner", holds, s, s.mix(id, slot))
	add("a mix by another", "owner", s, of("dealer-2", s.mix(id, slot)))
	add("a mix by the daemon", "owner", s, of("daemon", s.mix(id, slot)))
	s.then(s.mix(id, slot))
	add("a deal by another", "owner", s, of("dealer-2", s.deal(id, 0, 1)))
	add("a deal by the operator", "owner", s, of("operator", s.deal(id, 0, 1)))
	another := s.deal(id, 0, 1)
	another.Identity, another.Credential = "dealer-1", "token-9"
	add("a deal by its owner with another credential", holds, s, another)
	s.then(s.deal(id, 0, 1))
	add("a child by the parent's owner", holds, s, s.commit("t", child(id, 2, 3)))
	add("a child by another", "owner", s, of("dealer-2", s.commit("t", child(id, 2, 3))))
	for i, outcome := range []string{"completed", "ended_early"} {
		add(outcome+" by another", "owner", s, of("dealer-2", s.close(id, uint8(i+1))))
		add(outcome+" by the daemon", "owner", s, of("daemon", s.close(id, uint8(i+1))))
	}
	add("void by another", "owner", s, of("dealer-2", s.close(id, 4, void(6))))
	add("void by the operator", "owner", s, of("operator", s.close(id, 4, void(6))))
	add("void by its owner", holds, s, s.close(id, 4, void(6)))
	for _, who := range []string{"daemon", "operator", "admin-1", "dealer-2"} {
		add("tape_lost by "+who, holds, s, of(who, s.close(id, 4, tapeLost)))
	}
	late := func(e refEntry) refEntry { e.Time = s.entries[id].Commit.CloseBy; return e }
	add("expired by the daemon", holds, s, late(of("daemon", s.close(id, 5))))
	add("expired by the operator", holds, s, late(of("operator", s.close(id, 5))))
	add("expired by its owner", holds, s, late(s.close(id, 5)))
	add("expired by another", "owner", s, late(of("dealer-2", s.close(id, 5))))
	s.then(s.commit("t", child(id, 2, 3)))
	add("continued by another", "owner", s, of("dealer-2", s.close(id, 3)))
	add("continued by the daemon", "owner", s, of("daemon", s.close(id, 3)))
	s.then(s.close(id, 3))
	add("a deal of the child by another", "owner", s, of("dealer-2", s.deal(id+3, 0, 1)))

	q := newStory()
	q.then(q.commit("t"))
	id = q.then(of("dealer-2", q.commit("t")))
	overdue := func(e refEntry) refEntry { e.Time = q.now + 60_000; return e }
	c.add("deadline", "two rules: a deal of another's shuffle, late", "deadline", q, overdue(q.deal(id, 0, 1)))
	c.add("owner", "two rules: a deal of another's shuffle, out of turn", "owner", q, q.deal(id, 0, 1))
	c.add("owner", "two rules: a close of another's shuffle, late", "owner", q, overdue(q.close(id, 1)))
	c.add("parent", "two rules: a child of another's shuffle, at a wrong position", "parent", q,
		q.commit("t", child(id, 0, 9)))
}

func (c legalityCases) takeovers() {
	s, id := dealt()
	add := func(name, rule string, next refEntry) { c.add("owner", "takeover: "+name, rule, s, next) }
	add("to close, by another", holds, s.takeover(id, "dealer-2", 1))
	add("to play, by another", holds, s.takeover(id, "dealer-2", 2))
	add("to close, by its owner", "owner", s.takeover(id, "dealer-1", 1))
	add("to play, by its owner", "owner", s.takeover(id, "dealer-1", 2))
	add("by the daemon", "owner", s.takeover(id, "daemon", 1))
	add("by the operator", "owner", s.takeover(id, "operator", 2))
	c.add("not_open", "a takeover of no shuffle", "not_open", s, s.takeover(1, "dealer-2", 1))
	c.add("not_open", "a takeover of a later index", "not_open", s, s.takeover(9, "daemon", 1))
	past := s.takeover(id, "dealer-2", 1)
	past.Time = s.entries[id].Commit.CloseBy + 1
	add("after close-by", holds, past)

	s.then(s.takeover(id, "dealer-2", 1))
	add("a deal by the earlier owner", "owner", s.deal(id, 1, 1))
	add("a close by the earlier owner", "owner", s.close(id, 2))
	add("a deal by an owner that may only close", "owner", of("dealer-2", s.deal(id, 1, 1)))
	add("a child by an owner that may only close", "owner", of("dealer-2", s.commit("t", child(id, 1, 2))))
	add("a close by an owner that may only close", holds, of("dealer-2", s.close(id, 2)))
	add("void by an owner that may only close", holds, of("dealer-2", s.close(id, 4, void(6))))
	add("to close, again", "owner", s.takeover(id, "dealer-2", 1))
	add("to play, by the owner that may only close", holds, s.takeover(id, "dealer-2", 2))
	add("to close, back by the first owner", holds, s.takeover(id, "dealer-1", 1))
	s.then(s.takeover(id, "dealer-2", 2))
	add("a deal by the owner that now plays", holds, of("dealer-2", s.deal(id, 1, 1)))
	add("a child by the owner that now plays", holds, of("dealer-2", s.commit("t", child(id, 1, 2))))
	add("to close, by the owner that plays", "owner", s.takeover(id, "dealer-2", 1))
	for n := 2; n < 15; n++ {
		s.then(s.takeover(id, fmt.Sprint("dealer-", 1+n%2), 2))
	}
	add("the 16th", holds, s.takeover(id, "dealer-3", 1))
	s.then(s.takeover(id, "dealer-3", 1))
	add("the 17th", "owner", s.takeover(id, "dealer-1", 1))
	add("the 17th, by the owner that may only close", "owner", s.takeover(id, "dealer-3", 2))
	add("a close after 16", holds, of("dealer-3", s.close(id, 2)))
	s.then(of("dealer-3", s.close(id, 2)))
	c.add("not_open", "a takeover after the close", "not_open", s, s.takeover(id, "dealer-2", 1))

	q, id := dealt()
	q.then(q.deal(id, 1, 1, final))
	c.add("pair", "after a final deal a takeover", "pair", q, q.takeover(id, "dealer-2", 1))
	c.add("pair", "after a final deal an entry that is passed over", "pair", q, refEntry{Opaque: &refOpaque{200, nil}})
	c.add("pair", "after a final deal an event that is passed over", "pair", q, refEntry{Event: &refEvent{Kind: 200}})
	q.then(q.close(id, 1))
	c.add("pair", "anywhere else an entry that is passed over", holds, q, refEntry{Opaque: &refOpaque{200, nil}})
	earlier := refEntry{Time: 1, Opaque: &refOpaque{200, nil}}
	c.add("time", "an entry that is passed over, a day earlier", "time", q, earlier)
}

// credentials are about who may write what.
func (c legalityCases) credentials() {
	add := func(name, rule string, s *story, next refEntry) { c.add("credential", name, rule, s, next) }
	s := newStory()
	add("a sandbox without credentials: anybody", holds, s, of("dealer-7", s.commit("t")))
	s.then(s.revokable("auditor-1", 2))
	add("a sandbox with a credential: a stranger", "credential", s, of("dealer-7", s.commit("t")))
	s.then(s.revoke("auditor-1"))
	add("a sandbox whose one credential was revoked: a stranger", "credential", s, of("dealer-7", s.commit("t")))

	p := newStory(production)
	add("production without credentials: a stranger", "credential", p, p.commit("t"))
	add("production without credentials: the daemon", holds, p, p.start())
	add("production without credentials: the operator", holds, p, operator(refEvent{Kind: 2, Table: "t"}))

	s = newStory()
	for i, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1"} {
		s.then(s.credential(who, uint8(i+1)))
	}
	id := s.then(s.commit("t"))
	key := s.key(refKey{Subject: 1, Public: signingKey("2")})
	s.then(s.credential("other", 1))
	roles := []struct {
		name string
		e    refEntry
		by   string // who may write it
	}{
		{"a commit", s.commit("u"), "dealer-1"}, {"a deal", s.deal(id, 0, 1), "dealer-1"},
		{"a close", s.close(id, 2), "dealer-1"},
		{"tape_lost", s.close(id, 4, tapeLost), "admin-1"}, {"a key", key, "admin-1"},
		{"a table that opens", operator(refEvent{Kind: 2, Table: "x"}), "admin-1"},
		{"a table that closes", operator(refEvent{Kind: 3, Table: "t"}), "admin-1"},
		{"a switch", killSwitch(true, 1, "", nil), "admin-1"}, {"a credential", s.credential("dealer-9", 1), "admin-1"},
		{"an event that is passed over", refEntry{Event: &refEvent{Kind: 200}}, "admin-1"},
		{"an entry that is passed over", refEntry{Opaque: &refOpaque{200, nil}}, "dealer-1"},
	}
	for _, r := range roles {
		for _, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1"} {
			rule := map[bool]string{true: holds, false: "credential"}[who == r.by]
			add(r.name+" by "+who, rule, s, of(who, r.e))
		}
	}
	stolen := s.commit("u")
	stolen.Identity, stolen.Credential = "dealer-1", "other"
	add("another identity's credential", "credential", s, stolen)
	unknown := s.commit("u")
	unknown.Identity, unknown.Credential = "dealer-1", "token-9"
	add("a credential that nobody created", "credential", s, unknown)
	s.then(s.revoke("token-1"))
	add("a commit by a revoked credential", "credential", s, s.commit("u"))
	add("a deal by a revoked credential", "credential", s, s.deal(id, 0, 1))
	s.then(s.credential("dealer-1", 1, func(h *refHolder) { h.ID = "token-9" }))
	again := s.deal(id, 0, 1)
	again.Identity, again.Credential = "dealer-1", "token-9"
	add("a deal by the identity's next credential", holds, s, again)
	s.then(operator(refEvent{Kind: 10, Size: 3, Root: bytesOf("root", 32), LostSize: 9, LostRoot: bytesOf("lost", 32),
		Reason: "restored"}))
	add("after an adopted head", "credential", s, again)
	add("after an adopted head: the operator makes a new one", holds, s,
		s.credential("dealer-1", 1, func(h *refHolder) { h.ID = "token-10" }))

	l := newStory()
	l.then(l.credential("dealer-1", 1, func(h *refHolder) { h.Tables, h.Expires = []string{"t", "u"}, l.now+1000 }))
	l.then(l.credential("admin-1", 3, func(h *refHolder) { h.Tables = []string{"t"} }))
	id = l.then(l.commit("t"))
	l.then(l.credential("dealer-2", 1))
	other := l.then(of("dealer-2", l.commit("v")))
	at := func(ms uint64, e refEntry) refEntry { e.Time = l.now + ms; return e }
	add("a commit at one of its tables", holds, l, l.commit("u"))
	add("a commit at another table", "credential", l, l.commit("v"))
	add("a takeover at another table", "credential", l, l.takeover(other, "dealer-1", 1))
	add("a takeover at its table", "credential", l, of("dealer-3", l.takeover(id, "dealer-3", 1)))
	add("a deal a millisecond before it expires", holds, l, at(999, l.deal(id, 0, 1)))
	add("a deal when it expires", "credential", l, at(1000, l.deal(id, 0, 1)))
	add("a table closed by its administrator", holds, l, of("admin-1", refEntry{Event: &refEvent{Kind: 3, Table: "t"}}))
	add("a table opened by the administrator of another", "credential", l,
		of("admin-1", refEntry{Event: &refEvent{Kind: 2, Table: "u"}}))
	add("a switch for a table by its administrator", holds, l, of("admin-1", killSwitch(true, 2, "t", nil)))
	add("a switch for a table by the administrator of another", "credential", l,
		of("admin-1", killSwitch(true, 2, "u", nil)))
	c.add("not_open", "two rules: a deal of no shuffle by a credential for some tables", "not_open", l,
		l.deal(99, 0, 1))
	c.add("credential", "two rules: a stranger's deal of another's shuffle", "credential", l,
		of("dealer-9", l.deal(id, 0, 1)))
	c.add("time", "two rules: a stranger, earlier", "time", l, at(^uint64(0), of("dealer-9", l.deal(id, 0, 1))))
}

// holders are about the entries that create and revoke credentials.
func (c legalityCases) holders() {
	s := newStory()
	add := func(name, rule string, next refEntry) { c.add("credential", "entry: "+name, rule, s, next) }
	add("created", holds, s.credential("dealer-1", 1))
	add("revoked before it was created", "credential", s.revoke("token-1"))
	add("of the identity daemon", "credential",
		s.credential("dealer-1", 1, func(h *refHolder) { h.Identity = "daemon" }))
	add("of the identity operator", "credential",
		s.credential("dealer-1", 3, func(h *refHolder) { h.Identity = "operator" }))
	add("with the id daemon", "credential", s.credential("dealer-1", 1, func(h *refHolder) { h.ID = "daemon" }))
	add("that expired long ago", holds, s.credential("dealer-1", 1, func(h *refHolder) { h.Expires = 1 }))
	s.then(s.credential("dealer-1", 1))
	add("created again", "credential", s.credential("dealer-1", 1))
	add("created again, for another identity", "credential",
		s.credential("dealer-1", 1, func(h *refHolder) { h.Identity = "dealer-2" }))
	add("a second one of the identity", holds, s.credential("dealer-1", 1, func(h *refHolder) { h.ID = "token-2" }))
	add("revoked", holds, s.revoke("token-1"))
	s.then(s.revoke("token-1"))
	add("revoked twice", "credential", s.revoke("token-1"))
	add("created after it was revoked", "credential", s.credential("dealer-1", 1))
	s.then(s.credential("dealer-2", 1))
	s.then(operator(refEvent{Kind: 10, Size: 3, Root: bytesOf("root", 32), LostRoot: make(hexed, 32),
		Reason: "restored"}))
	add("revoked after an adopted head revoked it", "credential", s.revoke("token-2"))
}

// acts are about the act's own entry.
func (c legalityCases) acts() {
	s := newStory(withTwo(1, 5, 6, 7, 8, 10))
	policy := s.key(refKey{Subject: 4, Policy: "quorum none\n"})
	next := func(change func(a *refAct), names ...string) refEntry {
		a := refAct{Act: 1, Digest: refApproved(policy)}
		change(&a)
		return s.signed(a, names...)
	}
	as := func(act uint8) func(a *refAct) { return func(a *refAct) { a.Act = act } }
	same := func(*refAct) {}
	add := func(name, rule string, e refEntry) { c.add("act", name, rule, s, e) }
	add("of two administrators", holds, next(same, "alice", "bob"))
	add("of one, where two are asked for", "act", next(same, "alice"))
	add("of one, where one suffices", holds, next(as(2), "bob"))
	add("of two, where one suffices", holds, next(as(2), "alice", "bob"))
	add("of one, for a takeover", "act", next(as(10), "alice"))
	add("of one, for an administrator", "act", next(as(8), "alice"))
	add("of one, for adopt_head", "act", next(as(5), "alice"))
	add("of one, for latch_clear", holds, next(as(6), "alice"))
	add("of one, for kill_clear", holds, next(as(7), "alice"))
	add("of nobody known", "act", next(same, "alice", "carol"))
	expires := func(ms uint64) func(a *refAct) { return func(a *refAct) { a.Expires = s.now + ms } }
	add("that expires in a millisecond", holds, next(expires(1), "alice", "bob"))
	add("that expires now", "act", next(func(a *refAct) { a.Expires = s.now }, "alice", "bob"))
	add("that expired", "act", next(func(a *refAct) { a.Expires = 1 }, "alice", "bob"))
	add("that expires in 24 hours", holds, next(expires(86_400_000), "alice", "bob"))
	add("that expires a millisecond later", "act", next(expires(86_400_001), "alice", "bob"))
	head := func(n uint64) func(a *refAct) {
		return func(a *refAct) { a.HeadSize, a.HeadRoot = n, bytesOf("head", 32) }
	}
	add("on a head of no entries", "act", next(head(0), "alice", "bob"))
	add("on a head of all entries below", holds, next(head(2), "alice", "bob"))
	add("on a head that is larger", "act", next(head(3), "alice", "bob"))
	add("with a previous act where there is none", "act", next(func(a *refAct) { a.Previous = 1 }, "alice", "bob"))
	flip := next(same, "alice", "bob")
	flip.Act.Signatures[1].Signature[40] ^= 1
	add("with a bit of the second signature changed", "act", flip)
	swapped := next(same, "alice", "bob")
	swapped.Act.Signatures[0].Signature, swapped.Act.Signatures[1].Signature = swapped.Act.Signatures[1].Signature,
		swapped.Act.Signatures[0].Signature
	add("with the two signatures exchanged", "act", swapped)
	changed := next(same, "alice", "bob")
	changed.Act.Digest = refApproved(s.key(refKey{Subject: 4, Policy: witnessPolicy("w1")}))
	add("with another digest than was signed", "act", changed)
	elsewhere := newStory(withTwo(1), func(g *refGenesis) { g.Origin = "casino.example/other" })
	add("signed for another ledger", "act", elsewhere.act(1, policy, "alice", "bob"))
	small := next(same, "alice", "bob")
	copy(small.Act.Signatures[0].Signature, append(hexed{1}, make(hexed, 63)...))
	add("with an R of small order", "act", small)
	add("a cancel of nothing", "act", next(func(a *refAct) { a.Act = 12 }, "alice"))

	s.approved(1, policy)
	add("the second: the first is its previous", holds, next(same, "alice", "bob"))
	add("the second, with none for its previous", "act",
		s.signedRaw(refAct{Act: 1, Digest: refApproved(policy), HeadRoot: make(hexed, 32), Expires: s.now + 9}, "alice",
			"bob"))
	replayed := s.entries[2]
	add("the first again", "act", replayed)
	s.approved(8, s.administrator(1, "carol", "carol"))
	add("of an administrator who came", holds, next(same, "alice", "carol"))
	s.approved(8, s.administrator(2, "bob", ""))
	add("of an administrator who went", "act", next(same, "alice", "bob"))
	s.then(s.act(8, s.administrator(3, "alice", "alice 2"), "alice", "carol"))
	s.then(s.administrator(3, "alice", "alice 2"))
	add("by an administrator's old key", "act", next(same, "alice", "carol"))
	delayless := newStory(withTwo(5, 6), func(g *refGenesis) { g.Delay = 0 })
	c.add("act", "of one, for adopt_head where there is no delay", "act", delayless, delayless.act(5, policy, "alice"))
	c.add("act", "of one, for latch_clear without a delay, that expires in 24 hours", holds, delayless,
		delayless.signed(latchAct(delayless, 86_400_000), "alice"))
	c.add("act", "of one, for latch_clear without a delay, that expires a millisecond later", "act", delayless,
		delayless.signed(latchAct(delayless, 86_400_001), "alice"))
	d := newStory(withTwo(6)) // a delay of 10 s
	for _, e := range []struct {
		name, rule string
		life       uint64
		by         []string
	}{
		{"of one, that expires before the delay is over", "act", 9_999, []string{"alice"}},
		{"of one, that expires when the delay is over", "act", 10_000, []string{"alice"}},
		{"of one, that expires a millisecond after the delay", holds, 10_001, []string{"alice"}},
		{"of one, that expires 24 hours after the delay", holds, 86_410_000, []string{"alice"}},
		{"of one, that expires a millisecond later", "act", 86_410_001, []string{"alice"}},
		{"of two, where one may wait, that expires before the delay is over", holds, 1, []string{"alice", "bob"}},
		{"of two, where one may wait, that expires 24 hours after the delay", holds, 86_410_000,
			[]string{"alice", "bob"}},
		{"of two, where one may wait, that expires a millisecond later", "act", 86_410_001, []string{"alice", "bob"}},
	} {
		c.add("act", e.name, e.rule, d, d.signed(latchAct(d, e.life), e.by...))
	}
	f := newStory(withTwo(1))
	c.add("act", "of one, where one suffices, that expires in 24 hours", holds, f,
		f.signed(latchAct(f, 86_400_000), "alice"))
	c.add("act", "of one, where one suffices, that expires a millisecond later", "act", f,
		f.signed(latchAct(f, 86_400_001), "alice"))
	c.add("act", "of one, for latch_clear without a delay", holds, delayless, delayless.act(6, policy, "alice"))
	none := newStory()
	c.add("act", "where there are no administrators", "act", none, none.act(1, policy, "alice"))
	h := newStory(withTwo(10))
	for i, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1"} {
		h.then(h.credential(who, uint8(i+1)))
	}
	for i, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1"} {
		rule := []string{holds, "credential"}[i%2]
		c.add("credential", "an act by "+who, rule, h, of(who, h.act(10, h.takeover(9, "dealer-1", 2), "alice", "bob")))
	}
	c.add("credential", "an act that is none for a takeover, by dealer-1", "credential", h,
		of("dealer-1", h.signed(latchAct(h, 9), "alice")))
	c.add("credential", "an act that is none for a takeover, by admin-1", holds, h,
		of("admin-1", h.signed(latchAct(h, 9), "alice")))
}

// latchAct is an act to clear the latch that lives for some milliseconds.
func latchAct(s *story, life uint64) refAct {
	return refAct{Act: 6, Digest: refApproved(s.dated(operator(refEvent{Kind: 7, Reason: "replaced"}))),
		Expires: s.now + life}
}

// approvals are about the entry that an act approves.
func (c legalityCases) approvals() {
	s := newStory(withTwo(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), withAuditors("1", "2"))
	id := s.then(s.commit("t"))
	s.then(refEntry{Event: &refEvent{Kind: 6, Cause: 1, Instance: 1}})
	s.then(killSwitch(true, 1, "", nil))
	adopted := operator(refEvent{Kind: 10, Size: 3, Root: bytesOf("root", 32), LostRoot: make(hexed, 32),
		Reason: "restored"})
	all := []struct {
		act  uint8
		name string
		e    refEntry
	}{
		{1, "policy", s.key(refKey{Subject: 4, Policy: "quorum none\n"})}, {2, "auditor", s.auditor("3")},
		{3, "signing", s.key(refKey{Subject: 1, Public: signingKey("2")})},
		{4, "retirement", s.retire(3, auditorKey("1"))},
		{5, "adopt_head", adopted}, {6, "latch_clear", operator(refEvent{Kind: 7, Reason: "r"})},
		{7, "kill_clear", killSwitch(false, 1, "", nil)},
		{8, "administrator", s.administrator(1, "carol", "carol")}, {9, "admin_credential", s.credential("admin-1", 3)},
		{10, "takeover", s.takeover(id, "dealer-2", 2)}, {11, "two_persons", s.twoPersons(9, 8)},
	}
	for i, a := range all {
		c.add("two_persons", a.name+" without an act", "two_persons", s, a.e)
		t := newStory(withTwo(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), withAuditors("1", "2"))
		t.then(t.commit("t"))
		for _, e := range s.entries[3:] {
			t.then(e)
		}
		t.then(t.act(a.act, a.e, "alice", "bob"))
		c.add("two_persons", a.name+" after its act", holds, t, a.e)
		other := all[(i+1)%len(all)]
		c.add("pair", other.name+" after an act for "+a.name, "pair", t, other.e)
		c.add("pair", "a commit after an act for "+a.name, "pair", t, t.commit("u"))
		// One signature suffices for no act here, but the digest says what it likes.
		if a.act != 1 {
			u := newStory(withTwo(uint16(a.act)), withAuditors("1", "2"))
			u.then(u.commit("t"))
			for _, e := range s.entries[3:] {
				u.then(e)
			}
			lesser := uint8(1)
			u.then(u.act(lesser, a.e, "alice"))
			c.add("pair", a.name+" after an act of one for a policy, with its digest", "pair", u, a.e)
		}
	}
	for _, e := range []struct {
		name string
		e    refEntry
	}{
		{"a disclosure key", s.disclosure("1", "1", "2")}, {"a dealer's credential", s.credential("dealer-1", 1)},
		{"a takeover to close", s.takeover(id, "dealer-2", 1)}, {"a switch that is set", killSwitch(true, 2, "t", nil)},
	} {
		c.add("two_persons", e.name+" needs no act", holds, s, e.e)
	}
	t := newStory(withTwo(10))
	id = t.then(t.commit("t"))
	play := t.takeover(id, "dealer-2", 2)
	t.then(t.act(10, play, "alice", "bob"))
	c.add("pair", "an approved takeover by another identity", "pair", t, t.takeover(id, "dealer-3", 2))
	other := play
	other.Credential = "token-9"
	c.add("pair", "an approved takeover with another credential", holds, t, other)
	limited := t.takeover(id, "dealer-2", 1)
	c.add("pair", "a takeover to close after the act for one to play", "pair", t, limited)
	t.then(play)
	c.add("two_persons", "an approved takeover a second time", "two_persons", t, play)
	free := newStory(withTwo(10))
	policy := free.key(refKey{Subject: 4, Policy: "quorum none\n"})
	c.add("two_persons", "what is not listed needs no act", holds, free, policy)
	free.then(free.act(1, policy, "alice"))
	c.add("pair", "what is not listed, after an act of one", holds, free, policy)
	c.add("pair", "another entry after an act of one", "pair", free, free.commit("t"))
	c.add("pair", "an act after an act of one", "pair", free, free.act(1, policy, "alice"))
}

// waiting are about acts of one administrator, where two are asked for.
func (c legalityCases) waiting() {
	s := newStory(withTwo(5, 6, 7, 10)) // a delay of 10 s
	set := refEntry{Event: &refEvent{Kind: 6, Cause: 1, Instance: 1}}
	clear := operator(refEvent{Kind: 7, Reason: "replaced"})
	id := s.then(s.commit("t"))
	s.then(set)
	s.then(s.act(6, clear, "alice"))
	at := func(ms uint64, e refEntry) refEntry { e.Time = s.now + ms; return e }
	add := func(name, rule string, e refEntry) { c.add("two_persons", "waiting: "+name, rule, s, e) }
	add("at once", "two_persons", clear)
	add("a millisecond before the delay is over", "two_persons", at(9_999, clear))
	add("when the delay is over", holds, at(10_000, clear))
	add("a millisecond before it expires", holds, at(59_999, clear))
	add("when it expires", "two_persons", at(60_000, clear))
	add("long after", "two_persons", at(1_000_000, clear))
	c.add("act", "cancel of an act that expires", "act", s,
		at(60_000, s.signed(refAct{Act: 12, Digest: refApproved(s.dated(clear)), Expires: s.now + 90_000}, "bob")))
	add("another entry of the kind", "two_persons", at(10_000, operator(refEvent{Kind: 7, Reason: "another"})))
	add("by another identity", "two_persons", at(10_000, of("daemon", clear)))
	add("the play goes on", holds, s.deal(id, 0, 1))
	play := s.takeover(id, "dealer-2", 2)
	c.add("act", "cancel of an act that waits, by one", holds, s,
		s.signed(refAct{Act: 12, Digest: refApproved(s.dated(clear))}, "bob"))
	c.add("act", "cancel of an act that waits, by two", holds, s,
		s.signed(refAct{Act: 12, Digest: refApproved(s.dated(clear))}, "alice", "bob"))
	c.add("act", "cancel of another act than waits", "act", s,
		s.signed(refAct{Act: 12, Digest: refApproved(play)}, "bob"))
	s.then(s.act(7, play, "alice"))
	add("a takeover after an act of one for kill_clear, with its digest", "two_persons", at(10_000, play))
	s.then(s.act(6, clear, "bob"))
	cancel := s.signed(refAct{Act: 12, Digest: refApproved(s.dated(clear))}, "bob")
	s.then(cancel)
	add("the first of two was cancelled, the second waits", holds, at(10_000, clear))
	s.then(s.signed(refAct{Act: 12, Digest: refApproved(s.dated(clear))}, "bob"))
	add("both were cancelled", "two_persons", at(10_000, clear))
	c.add("pair", "after a cancel anything else", holds, s, s.deal(id, 0, 1))
	s.then(s.act(6, clear, "bob"))
	s.then(at(10_000, clear))
	s.then(set)
	add("an act approves one entry", "two_persons", at(10_000, clear))
	s.then(s.act(6, clear, "bob"))
	add("of a latch that was set before", holds, at(10_000, clear))
	s.then(set)
	add("a latch that stands, and is set again, ends none", holds, at(10_000, clear))
	s.approved(6, clear)
	s.then(set)
	add("a latch that is set ends those that wait to clear it", "two_persons", at(10_000, clear))
	stop := operator(refEvent{Kind: 5, Scope: 1, Reason: "over"})
	s.then(s.act(7, stop, "alice"))
	s.then(s.act(6, clear, "bob"))
	s.then(killSwitch(true, 1, "", nil))
	add("a switch that is set ends those that wait to clear one", "two_persons", at(10_000, stop))
	add("a switch that is set ends none that waits to clear the latch", holds, at(10_000, clear))
	s.then(s.act(7, stop, "alice"))
	add("of a switch that was set before", holds, at(10_000, stop))
	s.then(set)
	add("a latch that is set ends none that waits to clear a switch", holds, at(10_000, stop))
	s.then(s.act(6, clear, "bob"))
	s.approved(5, operator(refEvent{Kind: 10, Size: 3, Root: bytesOf("root", 32), LostRoot: make(hexed, 32),
		Reason: "restored"}))
	add("an adopted head ends those that wait", "two_persons", at(10_000, clear))
	s.then(s.act(6, clear, "alice"))
	s.then(s.twoPersons(60, 6))
	add("the delay was made longer", "two_persons", at(10_000, clear))
	add("the longer delay is over when it expires", "two_persons", at(60_000, clear))
	s.then(s.twoPersons(59, 6))
	add("another delay is over before it expires", holds, at(59_000, clear))
	s.then(s.act(6, clear, "alice", "bob"))
	add("an act of two in between", holds, clear)
	s.then(clear)
	c.add("latch", "an act of two cleared it, and spent none that waits", "latch", s, at(59_000, clear))
	s.then(set)
	s.then(s.twoPersons(59))
	add("two are asked for no more", holds, clear)

	s = newStory(withTwo(6))
	s.then(set)
	s.then(s.signed(latchAct(s, 12_000), "alice"))
	s.then(at(5_000, s.signed(latchAct(s, 30_000), "bob")))
	add("the first of two is in force", holds, at(6_999, clear))
	add("the first of two expired, and the second takes no effect yet", "two_persons", at(7_000, clear))
	add("the first of two expired, and the second is in force", holds, at(10_000, clear))
}

func (c legalityCases) administrators() {
	add := func(name, rule string, s *story, e refEntry) { c.add("administrators", name, rule, s, e) }
	empty := &story{now: sampleTime}
	genesis := func(name, rule string, changes ...func(*refGenesis)) {
		add("genesis: "+name, rule, empty, newStory(changes...).entries[0])
	}
	genesis("a sandbox without any", holds)
	genesis("a sandbox with one, and no act for two", holds, func(g *refGenesis) { g.Admins = admins("alice") })
	genesis("a sandbox with one, and an act for two", "administrators",
		func(g *refGenesis) { g.Admins, g.TwoPersons = admins("alice"), []uint16{1} })
	genesis("production with two", holds, production)
	genesis("production with one", "administrators", production, func(g *refGenesis) { g.Admins = admins("alice") })
	genesis("production without any", "administrators", func(g *refGenesis) { g.Production = true })
	genesis("production without an act for two", "administrators", production,
		func(g *refGenesis) { g.TwoPersons = nil })
	for i, act := range []uint16{8, 9, 10, 11, 13} {
		genesis(fmt.Sprint("production without act ", act), "administrators", production, func(g *refGenesis) {
			g.TwoPersons = slices.Delete([]uint16{8, 9, 10, 11, 13}, i, i+1)
		})
	}
	weak := append(hexed{1, 1}, make(hexed, 31)...)
	c.add("key", "genesis: an administrator's key of small order", "key", empty,
		newStory(func(g *refGenesis) { g.Admins = []refAdmin{{"a", weak}} }).entries[0])
	c.add("key", "genesis: an administrator has the signing key", "key", empty,
		newStory(func(g *refGenesis) { g.Admins = []refAdmin{{"a", signingKey("1")}} }).entries[0])
	c.add("key", "two rules: genesis: a policy that cannot be read, and one administrator in production", "key", empty,
		newStory(production, func(g *refGenesis) { g.Admins, g.Policy = admins("alice"), "two of three\n" }).entries[0])

	s := newStory(func(g *refGenesis) { g.Admins = admins("alice", "bob") })
	add("a third comes", holds, s, s.administrator(1, "carol", "carol"))
	add("one comes again", "administrators", s, s.administrator(1, "alice", "alice 2"))
	add("one comes with the key of another", "administrators", s, s.administrator(1, "carol", "bob"))
	add("one goes", holds, s, s.administrator(2, "bob", ""))
	add("a stranger goes", "administrators", s, s.administrator(2, "carol", ""))
	add("one has another key", holds, s, s.administrator(3, "bob", "bob 2"))
	add("one has the same key", "administrators", s, s.administrator(3, "bob", "bob"))
	add("one has the key of another", "administrators", s, s.administrator(3, "bob", "alice"))
	add("a stranger has another key", "administrators", s, s.administrator(3, "carol", "carol"))
	low := s.administrator(1, "carol", "carol")
	low.Key.Public = weak
	c.add("key", "one comes with a key of small order", "key", s, low)
	low = s.administrator(3, "carol", "carol")
	low.Key.Public = weak
	c.add("key", "two rules: a stranger has a key of small order", "key", s, low)
	signs := s.administrator(1, "carol", "")
	signs.Key.Public = signingKey("1")
	c.add("key", "one comes with the key that signs checkpoints", "key", s, signs)
	signs = s.administrator(3, "bob", "")
	signs.Key.Public = signingKey("1")
	c.add("key", "one has the key that signs checkpoints", "key", s, signs)
	c.add("key", "the key of an administrator signs checkpoints", "key", s,
		s.key(refKey{Subject: 1, Public: adminKey("bob")}))
	t := newStory(func(g *refGenesis) { g.Admins = admins("alice", "bob") })
	t.then(t.key(refKey{Subject: 1, Public: signingKey("2")}))
	c.add("key", "one has the key that signed checkpoints before", "key", t, signs)
	t.then(t.administrator(3, "bob", "bob 2"))
	t.then(t.administrator(2, "alice", ""))
	c.add("key", "the key that was an administrator's signs checkpoints", "key", t,
		t.key(refKey{Subject: 1, Public: adminKey("bob")}))
	c.add("key", "the key of an administrator who went signs checkpoints", "key", t,
		t.key(refKey{Subject: 1, Public: adminKey("alice")}))
	add("two for an act", holds, s, s.twoPersons(0, 1, 2))
	s.then(s.administrator(2, "bob", ""))
	add("who went comes back", "administrators", s, s.administrator(1, "bob", "bob 2"))
	add("the key of who went comes back", "administrators", s, s.administrator(1, "carol", "bob"))
	add("who went has another key", "administrators", s, s.administrator(3, "bob", "bob 2"))
	add("two for an act, where there is one", "administrators", s, s.twoPersons(0, 1))
	add("two for no act, where there is one", holds, s, s.twoPersons(0))
	s.then(s.administrator(3, "alice", "alice 2"))
	add("a replaced key comes back", "administrators", s, s.administrator(3, "alice", "alice"))
	add("the last goes", holds, s, s.administrator(2, "alice", ""))

	p := newStory(production)
	approved := func(act uint8, e refEntry, names ...string) *story {
		p := newStory(production)
		p.then(p.act(act, e, names...))
		return p
	}
	for _, e := range []struct {
		name, rule string
		act        uint8
		e          refEntry
	}{
		{"production: one of two goes", "administrators", 8, p.administrator(2, "bob", "")},
		{"production: one of two has another key", holds, 8, p.administrator(3, "bob", "bob 2")},
		{"production: a third comes", holds, 8, p.administrator(1, "carol", "carol")},
		{"production: two for no act", "administrators", 11, p.twoPersons(0)},
		{"production: two for 8 to 10", "administrators", 11, p.twoPersons(0, 8, 9, 10)},
		{"production: two for 8 to 11", "administrators", 11, p.twoPersons(0, 8, 9, 10, 11)},
		{"production: two for 8 to 11, 13 and policies", holds, 11, p.twoPersons(0, 1, 8, 9, 10, 11, 13)},
	} {
		add(e.name, e.rule, approved(e.act, e.e, "alice", "bob"), e.e)
	}
	many := newStory(func(g *refGenesis) {
		for i := range 15 {
			g.Admins = append(g.Admins, admins(fmt.Sprintf("admin-%02d", i))...)
		}
	})
	add("the 16th", holds, many, many.administrator(1, "alice", "alice"))
	many.then(many.administrator(1, "alice", "alice"))
	add("the 17th", "administrators", many, many.administrator(1, "bob", "bob"))
	add("another key of one of 16", holds, many, many.administrator(3, "alice", "alice 2"))
	many.then(many.administrator(2, "admin-03", ""))
	add("a 16th after one went", holds, many, many.administrator(1, "bob", "bob"))
}
