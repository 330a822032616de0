package rules

import (
	"fmt"
	"slices"

	"shuffled/internal/audit/spec"
)

// Cases of owners, takeovers, credentials, acts and administrators.

func (c legalityCases) owners() {
	s := spec.NewStory()
	slot, plan := spec.StorySlot("t", 0)
	id := s.Then(s.Commit("t", spec.Planned(plan)))
	add := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("owner", name, rule, s, next) }
	by := func(identity, rule string) {
		add("a commit by "+identity, rule, s, spec.Of(identity, s.Commit("u")))
	}
	by("dealer-2", holds)
	by("daemon", "owner")
	by("operator", "owner")
	add("a mix by its owner", holds, s, s.Mix(id, slot))
	add("a mix by another", "owner", s, spec.Of("dealer-2", s.Mix(id, slot)))
	add("a mix by the daemon", "owner", s, spec.Of("daemon", s.Mix(id, slot)))
	s.Then(s.Mix(id, slot))
	add("a deal by another", "owner", s, spec.Of("dealer-2", s.Deal(id, 0, 1)))
	add("a deal by the operator", "owner", s, spec.Of("operator", s.Deal(id, 0, 1)))
	another := s.Deal(id, 0, 1)
	another.Identity, another.Credential = "dealer-1", "token-9"
	add("a deal by its owner with another credential", holds, s, another)
	s.Then(s.Deal(id, 0, 1))
	add("a child by the parent's owner", holds, s, s.Commit("t", spec.ChildOf(id, 2, 3)))
	add("a child by another", "owner", s, spec.Of("dealer-2", s.Commit("t", spec.ChildOf(id, 2, 3))))
	for i, outcome := range []string{"completed", "ended_early"} {
		add(outcome+" by another", "owner", s, spec.Of("dealer-2", s.Close(id, uint8(i+1))))
		add(outcome+" by the daemon", "owner", s, spec.Of("daemon", s.Close(id, uint8(i+1))))
	}
	add("void by another", "owner", s, spec.Of("dealer-2", s.Close(id, 4, spec.Void(6))))
	add("void by the operator", "owner", s, spec.Of("operator", s.Close(id, 4, spec.Void(6))))
	add("void by its owner", holds, s, s.Close(id, 4, spec.Void(6)))
	for _, who := range []string{"daemon", "operator", "admin-1", "dealer-2"} {
		add("tape_lost by "+who, holds, s, spec.Of(who, s.Close(id, 4, spec.TapeLost)))
	}
	late := func(e spec.Entry) spec.Entry { e.Time = s.Entries[id].Commit.CloseBy; return e }
	add("expired by the daemon", holds, s, late(spec.Of("daemon", s.Close(id, 5))))
	add("expired by the operator", holds, s, late(spec.Of("operator", s.Close(id, 5))))
	add("expired by its owner", holds, s, late(s.Close(id, 5)))
	add("expired by another", "owner", s, late(spec.Of("dealer-2", s.Close(id, 5))))
	s.Then(s.Commit("t", spec.ChildOf(id, 2, 3)))
	add("continued by another", "owner", s, spec.Of("dealer-2", s.Close(id, 3)))
	add("continued by the daemon", "owner", s, spec.Of("daemon", s.Close(id, 3)))
	s.Then(s.Close(id, 3))
	add("a deal of the child by another", "owner", s, spec.Of("dealer-2", s.Deal(id+3, 0, 1)))

	q := spec.NewStory()
	q.Then(q.Commit("t"))
	id = q.Then(spec.Of("dealer-2", q.Commit("t")))
	overdue := func(e spec.Entry) spec.Entry { e.Time = q.Now + 60_000; return e }
	c.add("deadline", "two rules: a deal of another's shuffle, late", "deadline", q, overdue(q.Deal(id, 0, 1)))
	c.add("owner", "two rules: a deal of another's shuffle, out of turn", "owner", q, q.Deal(id, 0, 1))
	c.add("owner", "two rules: a close of another's shuffle, late", "owner", q, overdue(q.Close(id, 1)))
	c.add("parent", "two rules: a child of another's shuffle, at a wrong position", "parent", q,
		q.Commit("t", spec.ChildOf(id, 0, 9)))
}

func (c legalityCases) takeovers() {
	s, id := dealt()
	add := func(name, rule string, next spec.Entry) { c.add("owner", "takeover: "+name, rule, s, next) }
	add("to close, by another", holds, s.Takeover(id, "dealer-2", 1))
	add("to play, by another", holds, s.Takeover(id, "dealer-2", 2))
	add("to close, by its owner", "owner", s.Takeover(id, "dealer-1", 1))
	add("to play, by its owner", "owner", s.Takeover(id, "dealer-1", 2))
	add("by the daemon", "owner", s.Takeover(id, "daemon", 1))
	add("by the operator", "owner", s.Takeover(id, "operator", 2))
	c.add("not_open", "a takeover of no shuffle", "not_open", s, s.Takeover(1, "dealer-2", 1))
	c.add("not_open", "a takeover of a later index", "not_open", s, s.Takeover(9, "daemon", 1))
	past := s.Takeover(id, "dealer-2", 1)
	past.Time = s.Entries[id].Commit.CloseBy + 1
	add("after close-by", holds, past)

	s.Then(s.Takeover(id, "dealer-2", 1))
	add("a deal by the earlier owner", "owner", s.Deal(id, 1, 1))
	add("a close by the earlier owner", "owner", s.Close(id, 2))
	add("a deal by an owner that may only close", "owner", spec.Of("dealer-2", s.Deal(id, 1, 1)))
	add("a child by an owner that may only close", "owner", spec.Of("dealer-2", s.Commit("t", spec.ChildOf(id, 1, 2))))
	add("a close by an owner that may only close", holds, spec.Of("dealer-2", s.Close(id, 2)))
	add("void by an owner that may only close", holds, spec.Of("dealer-2", s.Close(id, 4, spec.Void(6))))
	add("to close, again", "owner", s.Takeover(id, "dealer-2", 1))
	add("to play, by the owner that may only close", holds, s.Takeover(id, "dealer-2", 2))
	add("to close, back by the first owner", holds, s.Takeover(id, "dealer-1", 1))
	s.Then(s.Takeover(id, "dealer-2", 2))
	add("a deal by the owner that now plays", holds, spec.Of("dealer-2", s.Deal(id, 1, 1)))
	add("a child by the owner that now plays", holds, spec.Of("dealer-2", s.Commit("t", spec.ChildOf(id, 1, 2))))
	add("to close, by the owner that plays", "owner", s.Takeover(id, "dealer-2", 1))
	for n := 2; n < 15; n++ {
		s.Then(s.Takeover(id, fmt.Sprint("dealer-", 1+n%2), 2))
	}
	add("the 16th", holds, s.Takeover(id, "dealer-3", 1))
	s.Then(s.Takeover(id, "dealer-3", 1))
	add("the 17th", "owner", s.Takeover(id, "dealer-1", 1))
	add("the 17th, by the owner that may only close", "owner", s.Takeover(id, "dealer-3", 2))
	add("a close after 16", holds, spec.Of("dealer-3", s.Close(id, 2)))
	s.Then(spec.Of("dealer-3", s.Close(id, 2)))
	c.add("not_open", "a takeover after the close", "not_open", s, s.Takeover(id, "dealer-2", 1))

	q, id := dealt()
	q.Then(q.Deal(id, 1, 1, spec.Final))
	c.add("pair", "after a final deal a takeover", "pair", q, q.Takeover(id, "dealer-2", 1))
	c.add("pair", "after a final deal an entry that is passed over", "pair", q, spec.Entry{Opaque: &spec.Opaque{Type: 200, Body: nil}})
	c.add("pair", "after a final deal an event that is passed over", "pair", q, spec.Entry{Event: &spec.Event{Kind: 200}})
	q.Then(q.Close(id, 1))
	c.add("pair", "anywhere else an entry that is passed over", holds, q, spec.Entry{Opaque: &spec.Opaque{Type: 200, Body: nil}})
	earlier := spec.Entry{Time: 1, Opaque: &spec.Opaque{Type: 200, Body: nil}}
	c.add("time", "an entry that is passed over, a day earlier", "time", q, earlier)
}

// credentials are about who may write what.
func (c legalityCases) credentials() {
	add := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("credential", name, rule, s, next) }
	s := spec.NewStory()
	add("a sandbox without credentials: anybody", holds, s, spec.Of("dealer-7", s.Commit("t")))
	s.Then(s.Revokable("auditor-1", 2))
	add("a sandbox with a credential: a stranger", "credential", s, spec.Of("dealer-7", s.Commit("t")))
	s.Then(s.Revoke("auditor-1"))
	add("a sandbox whose one credential was revoked: a stranger", "credential", s, spec.Of("dealer-7", s.Commit("t")))

	p := spec.NewStory(spec.Production)
	add("production without credentials: a stranger", "credential", p, p.Commit("t"))
	add("production without credentials: the daemon", holds, p, p.Start())
	add("production without credentials: the operator", holds, p, spec.Operator(spec.Event{Kind: 2, Table: "t"}))

	s = spec.NewStory()
	for i, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1"} {
		s.Then(s.Credential(who, uint8(i+1)))
	}
	id := s.Then(s.Commit("t"))
	key := s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("2")})
	s.Then(s.Credential("other", 1))
	roles := []struct {
		name string
		e    spec.Entry
		by   string // who may write it
	}{
		{"a commit", s.Commit("u"), "dealer-1"}, {"a deal", s.Deal(id, 0, 1), "dealer-1"},
		{"a close", s.Close(id, 2), "dealer-1"},
		{"tape_lost", s.Close(id, 4, spec.TapeLost), "admin-1"}, {"a key", key, "admin-1"},
		{"a table that opens", spec.Operator(spec.Event{Kind: 2, Table: "x"}), "admin-1"},
		{"a table that closes", spec.Operator(spec.Event{Kind: 3, Table: "t"}), "admin-1"},
		{"a switch", spec.KillSwitch(true, 1, "", nil), "admin-1"}, {"a credential", s.Credential("dealer-9", 1),
			"admin-1"}, {"an event that is passed over", spec.Entry{Event: &spec.Event{Kind: 200}}, "admin-1"},
		{"an entry that is passed over", spec.Entry{Opaque: &spec.Opaque{Type: 200, Body: nil}}, "dealer-1"},
	}
	for _, r := range roles {
		for _, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1"} {
			rule := map[bool]string{true: holds, false: "credential"}[who == r.by]
			add(r.name+" by "+who, rule, s, spec.Of(who, r.e))
		}
	}
	stolen := s.Commit("u")
	stolen.Identity, stolen.Credential = "dealer-1", "other"
	add("another identity's credential", "credential", s, stolen)
	unknown := s.Commit("u")
	unknown.Identity, unknown.Credential = "dealer-1", "token-9"
	add("a credential that nobody created", "credential", s, unknown)
	s.Then(s.Revoke("token-1"))
	add("a commit by a revoked credential", "credential", s, s.Commit("u"))
	add("a deal by a revoked credential", "credential", s, s.Deal(id, 0, 1))
	s.Then(s.Credential("dealer-1", 1, func(h *spec.Holder) { h.ID = "token-9" }))
	again := s.Deal(id, 0, 1)
	again.Identity, again.Credential = "dealer-1", "token-9"
	add("a deal by the identity's next credential", holds, s, again)
	s.Then(spec.Operator(spec.Event{Kind: 10, Size: 3, Root: spec.BytesOf("root", 32), LostSize: 9,
		LostRoot: spec.BytesOf("lost", 32), Reason: "restored"}))
	add("after an adopted head", "credential", s, again)
	add("after an adopted head: the operator makes a new one", holds, s,
		s.Credential("dealer-1", 1, func(h *spec.Holder) { h.ID = "token-10" }))

	l := spec.NewStory()
	l.Then(l.Credential("dealer-1", 1, func(h *spec.Holder) { h.Tables, h.Expires = []string{"t", "u"}, l.Now+1000 }))
	l.Then(l.Credential("admin-1", 3, func(h *spec.Holder) { h.Tables = []string{"t"} }))
	id = l.Then(l.Commit("t"))
	l.Then(l.Credential("dealer-2", 1))
	other := l.Then(spec.Of("dealer-2", l.Commit("v")))
	at := func(ms uint64, e spec.Entry) spec.Entry { e.Time = l.Now + ms; return e }
	add("a commit at one of its tables", holds, l, l.Commit("u"))
	add("a commit at another table", "credential", l, l.Commit("v"))
	add("a takeover at another table", "credential", l, l.Takeover(other, "dealer-1", 1))
	add("a takeover at its table", "credential", l, spec.Of("dealer-3", l.Takeover(id, "dealer-3", 1)))
	add("a deal a millisecond before it expires", holds, l, at(999, l.Deal(id, 0, 1)))
	add("a deal when it expires", "credential", l, at(1000, l.Deal(id, 0, 1)))
	add("a table closed by its administrator", holds, l,
		spec.Of("admin-1", spec.Entry{Event: &spec.Event{Kind: 3, Table: "t"}}))
	add("a table opened by the administrator of another", "credential", l,
		spec.Of("admin-1", spec.Entry{Event: &spec.Event{Kind: 2, Table: "u"}}))
	add("a switch for a table by its administrator", holds, l, spec.Of("admin-1", spec.KillSwitch(true, 2, "t", nil)))
	add("a switch for a table by the administrator of another", "credential", l,
		spec.Of("admin-1", spec.KillSwitch(true, 2, "u", nil)))
	c.add("not_open", "two rules: a deal of no shuffle by a credential for some tables", "not_open", l,
		l.Deal(99, 0, 1))
	c.add("credential", "two rules: a stranger's deal of another's shuffle", "credential", l,
		spec.Of("dealer-9", l.Deal(id, 0, 1)))
	c.add("time", "two rules: a stranger, earlier", "time", l, at(^uint64(0), spec.Of("dealer-9", l.Deal(id, 0, 1))))
}

// holders are about the entries that create and revoke credentials.
func (c legalityCases) holders() {
	s := spec.NewStory()
	add := func(name, rule string, next spec.Entry) { c.add("credential", "entry: "+name, rule, s, next) }
	add("created", holds, s.Credential("dealer-1", 1))
	add("revoked before it was created", "credential", s.Revoke("token-1"))
	add("of the identity daemon", "credential",
		s.Credential("dealer-1", 1, func(h *spec.Holder) { h.Identity = "daemon" }))
	add("of the identity operator", "credential",
		s.Credential("dealer-1", 3, func(h *spec.Holder) { h.Identity = "operator" }))
	add("with the id daemon", "credential", s.Credential("dealer-1", 1, func(h *spec.Holder) { h.ID = "daemon" }))
	add("that expired long ago", holds, s.Credential("dealer-1", 1, func(h *spec.Holder) { h.Expires = 1 }))
	s.Then(s.Credential("dealer-1", 1))
	add("created again", "credential", s.Credential("dealer-1", 1))
	add("created again, for another identity", "credential",
		s.Credential("dealer-1", 1, func(h *spec.Holder) { h.Identity = "dealer-2" }))
	add("a second one of the identity", holds, s.Credential("dealer-1", 1, func(h *spec.Holder) { h.ID = "token-2" }))
	add("revoked", holds, s.Revoke("token-1"))
	s.Then(s.Revoke("token-1"))
	add("revoked twice", "credential", s.Revoke("token-1"))
	add("created after it was revoked", "credential", s.Credential("dealer-1", 1))
	s.Then(s.Credential("dealer-2", 1))
	s.Then(spec.Operator(spec.Event{Kind: 10, Size: 3, Root: spec.BytesOf("root", 32), LostRoot: make(spec.Hexed, 32),
		Reason: "restored"}))
	add("revoked after an adopted head revoked it", "credential", s.Revoke("token-2"))
}

// acts are about the act's own entry.
func (c legalityCases) acts() {
	s := spec.NewStory(spec.WithTwo(1, 5, 6, 7, 8, 10))
	policy := s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"})
	next := func(change func(a *spec.Act), names ...string) spec.Entry {
		a := spec.Act{Act: 1, Digest: spec.Approved(policy)}
		change(&a)
		return s.Signed(a, names...)
	}
	as := func(act uint8) func(a *spec.Act) { return func(a *spec.Act) { a.Act = act } }
	same := func(*spec.Act) {}
	add := func(name, rule string, e spec.Entry) { c.add("act", name, rule, s, e) }
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
	expires := func(ms uint64) func(a *spec.Act) { return func(a *spec.Act) { a.Expires = s.Now + ms } }
	add("that expires in a millisecond", holds, next(expires(1), "alice", "bob"))
	add("that expires now", "act", next(func(a *spec.Act) { a.Expires = s.Now }, "alice", "bob"))
	add("that expired", "act", next(func(a *spec.Act) { a.Expires = 1 }, "alice", "bob"))
	add("that expires in 24 hours", holds, next(expires(86_400_000), "alice", "bob"))
	add("that expires a millisecond later", "act", next(expires(86_400_001), "alice", "bob"))
	head := func(n uint64) func(a *spec.Act) {
		return func(a *spec.Act) { a.HeadSize, a.HeadRoot = n, spec.BytesOf("head", 32) }
	}
	add("on a head of no entries", "act", next(head(0), "alice", "bob"))
	add("on a head of all entries below", holds, next(head(2), "alice", "bob"))
	add("on a head that is larger", "act", next(head(3), "alice", "bob"))
	add("with a previous act where there is none", "act", next(func(a *spec.Act) { a.Previous = 1 }, "alice", "bob"))
	flip := next(same, "alice", "bob")
	flip.Act.Signatures[1].Signature[40] ^= 1
	add("with a bit of the second signature changed", "act", flip)
	swapped := next(same, "alice", "bob")
	swapped.Act.Signatures[0].Signature, swapped.Act.Signatures[1].Signature = swapped.Act.Signatures[1].Signature,
		swapped.Act.Signatures[0].Signature
	add("with the two signatures exchanged", "act", swapped)
	changed := next(same, "alice", "bob")
	changed.Act.Digest = spec.Approved(s.Key(spec.Key{Subject: 4, Policy: spec.WitnessPolicy("w1")}))
	add("with another digest than was signed", "act", changed)
	elsewhere := spec.NewStory(spec.WithTwo(1), func(g *spec.Genesis) { g.Origin = "casino.example/other" })
	add("signed for another ledger", "act", elsewhere.Act(1, policy, "alice", "bob"))
	small := next(same, "alice", "bob")
	copy(small.Act.Signatures[0].Signature, append(spec.Hexed{1}, make(spec.Hexed, 63)...))
	add("with an R of small order", "act", small)
	add("a cancel of nothing", "act", next(func(a *spec.Act) { a.Act = 12 }, "alice"))

	s.Approved(1, policy)
	add("the second: the first is its previous", holds, next(same, "alice", "bob"))
	add("the second, with none for its previous", "act",
		s.SignedRaw(spec.Act{Act: 1, Digest: spec.Approved(policy), HeadRoot: make(spec.Hexed, 32), Expires: s.Now +
			9}, "alice",
			"bob"))
	replayed := s.Entries[2]
	add("the first again", "act", replayed)
	s.Approved(8, s.Administrator(1, "carol", "carol"))
	add("of an administrator who came", holds, next(same, "alice", "carol"))
	s.Approved(8, s.Administrator(2, "bob", ""))
	add("of an administrator who went", "act", next(same, "alice", "bob"))
	s.Then(s.Act(8, s.Administrator(3, "alice", "alice 2"), "alice", "carol"))
	s.Then(s.Administrator(3, "alice", "alice 2"))
	add("by an administrator's old key", "act", next(same, "alice", "carol"))
	delayless := spec.NewStory(spec.WithTwo(5, 6), func(g *spec.Genesis) { g.Delay = 0 })
	c.add("act", "of one, for adopt_head where there is no delay", "act", delayless, delayless.Act(5, policy, "alice"))
	c.add("act", "of one, for latch_clear without a delay, that expires in 24 hours", holds, delayless,
		delayless.Signed(latchAct(delayless, 86_400_000), "alice"))
	c.add("act", "of one, for latch_clear without a delay, that expires a millisecond later", "act", delayless,
		delayless.Signed(latchAct(delayless, 86_400_001), "alice"))
	d := spec.NewStory(spec.WithTwo(6)) // a delay of 10 s
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
		c.add("act", e.name, e.rule, d, d.Signed(latchAct(d, e.life), e.by...))
	}
	f := spec.NewStory(spec.WithTwo(1))
	c.add("act", "of one, where one suffices, that expires in 24 hours", holds, f,
		f.Signed(latchAct(f, 86_400_000), "alice"))
	c.add("act", "of one, where one suffices, that expires a millisecond later", "act", f,
		f.Signed(latchAct(f, 86_400_001), "alice"))
	c.add("act", "of one, for latch_clear without a delay", holds, delayless, delayless.Act(6, policy, "alice"))
	none := spec.NewStory()
	c.add("act", "where there are no administrators", "act", none, none.Act(1, policy, "alice"))
	h := spec.NewStory(spec.WithTwo(10))
	for i, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1"} {
		h.Then(h.Credential(who, uint8(i+1)))
	}
	for i, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1"} {
		rule := []string{holds, "credential"}[i%2]
		c.add("credential", "an act by "+who, rule, h,
			spec.Of(who, h.Act(10, h.Takeover(9, "dealer-1", 2), "alice", "bob")))
	}
	c.add("credential", "an act that is none for a takeover, by dealer-1", "credential", h,
		spec.Of("dealer-1", h.Signed(latchAct(h, 9), "alice")))
	c.add("credential", "an act that is none for a takeover, by admin-1", holds, h,
		spec.Of("admin-1", h.Signed(latchAct(h, 9), "alice")))
}

// latchAct is an act to clear the latch that lives for some milliseconds.
func latchAct(s *spec.Story, life uint64) spec.Act {
	return spec.Act{Act: 6, Digest: spec.Approved(s.Dated(spec.Operator(spec.Event{Kind: 7, Reason: "replaced"}))),
		Expires: s.Now + life}
}

// approvals are about the entry that an act approves.
func (c legalityCases) approvals() {
	s := spec.NewStory(spec.WithTwo(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), spec.WithAuditors("1", "2"))
	id := s.Then(s.Commit("t"))
	s.Then(spec.Entry{Event: &spec.Event{Kind: 6, Cause: 1, Instance: 1}})
	s.Then(spec.KillSwitch(true, 1, "", nil))
	adopted := spec.Operator(spec.Event{Kind: 10, Size: 3, Root: spec.BytesOf("root", 32), LostRoot: make(spec.Hexed,
		32), Reason: "restored"})
	all := []struct {
		act  uint8
		name string
		e    spec.Entry
	}{
		{1, "policy", s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"})}, {2, "auditor", s.Auditor("3")},
		{3, "signing", s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("2")})},
		{4, "retirement", s.Retire(3, spec.AuditorKey("1"))},
		{5, "adopt_head", adopted}, {6, "latch_clear", spec.Operator(spec.Event{Kind: 7, Reason: "r"})},
		{7, "kill_clear", spec.KillSwitch(false, 1, "", nil)},
		{8, "administrator", s.Administrator(1, "carol", "carol")}, {9, "admin_credential", s.Credential("admin-1", 3)},
		{10, "takeover", s.Takeover(id, "dealer-2", 2)}, {11, "two_persons", s.TwoPersons(9, 8)},
	}
	for i, a := range all {
		c.add("two_persons", a.name+" without an act", "two_persons", s, a.e)
		t := spec.NewStory(spec.WithTwo(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), spec.WithAuditors("1", "2"))
		t.Then(t.Commit("t"))
		for _, e := range s.Entries[3:] {
			t.Then(e)
		}
		t.Then(t.Act(a.act, a.e, "alice", "bob"))
		c.add("two_persons", a.name+" after its act", holds, t, a.e)
		other := all[(i+1)%len(all)]
		c.add("pair", other.name+" after an act for "+a.name, "pair", t, other.e)
		c.add("pair", "a commit after an act for "+a.name, "pair", t, t.Commit("u"))
		// One signature suffices for no act here, but the digest says what it likes.
		if a.act != 1 {
			u := spec.NewStory(spec.WithTwo(uint16(a.act)), spec.WithAuditors("1", "2"))
			u.Then(u.Commit("t"))
			for _, e := range s.Entries[3:] {
				u.Then(e)
			}
			lesser := uint8(1)
			u.Then(u.Act(lesser, a.e, "alice"))
			c.add("pair", a.name+" after an act of one for a policy, with its digest", "pair", u, a.e)
		}
	}
	for _, e := range []struct {
		name string
		e    spec.Entry
	}{
		{"a disclosure key", s.Disclosure("1", "1", "2")}, {"a dealer's credential", s.Credential("dealer-1", 1)},
		{"a takeover to close", s.Takeover(id, "dealer-2", 1)},
		{"a switch that is set", spec.KillSwitch(true, 2, "t", nil)},
	} {
		c.add("two_persons", e.name+" needs no act", holds, s, e.e)
	}
	t := spec.NewStory(spec.WithTwo(10))
	id = t.Then(t.Commit("t"))
	play := t.Takeover(id, "dealer-2", 2)
	t.Then(t.Act(10, play, "alice", "bob"))
	c.add("pair", "an approved takeover by another identity", "pair", t, t.Takeover(id, "dealer-3", 2))
	other := play
	other.Credential = "token-9"
	c.add("pair", "an approved takeover with another credential", holds, t, other)
	limited := t.Takeover(id, "dealer-2", 1)
	c.add("pair", "a takeover to close after the act for one to play", "pair", t, limited)
	t.Then(play)
	c.add("two_persons", "an approved takeover a second time", "two_persons", t, play)
	free := spec.NewStory(spec.WithTwo(10))
	policy := free.Key(spec.Key{Subject: 4, Policy: "quorum none\n"})
	c.add("two_persons", "what is not listed needs no act", holds, free, policy)
	free.Then(free.Act(1, policy, "alice"))
	c.add("pair", "what is not listed, after an act of one", holds, free, policy)
	c.add("pair", "another entry after an act of one", "pair", free, free.Commit("t"))
	c.add("pair", "an act after an act of one", "pair", free, free.Act(1, policy, "alice"))
}

// waiting are about acts of one administrator, where two are asked for.
func (c legalityCases) waiting() {
	s := spec.NewStory(spec.WithTwo(5, 6, 7, 10)) // a delay of 10 s
	set := spec.Entry{Event: &spec.Event{Kind: 6, Cause: 1, Instance: 1}}
	clear := spec.Operator(spec.Event{Kind: 7, Reason: "replaced"})
	id := s.Then(s.Commit("t"))
	s.Then(set)
	s.Then(s.Act(6, clear, "alice"))
	at := func(ms uint64, e spec.Entry) spec.Entry { e.Time = s.Now + ms; return e }
	add := func(name, rule string, e spec.Entry) { c.add("two_persons", "waiting: "+name, rule, s, e) }
	add("at once", "two_persons", clear)
	add("a millisecond before the delay is over", "two_persons", at(9_999, clear))
	add("when the delay is over", holds, at(10_000, clear))
	add("a millisecond before it expires", holds, at(59_999, clear))
	add("when it expires", "two_persons", at(60_000, clear))
	add("long after", "two_persons", at(1_000_000, clear))
	c.add("act", "cancel of an act that expires", "act", s,
		at(60_000, s.Signed(spec.Act{Act: 12, Digest: spec.Approved(s.Dated(clear)), Expires: s.Now + 90_000}, "bob")))
	add("another entry of the kind", "two_persons", at(10_000, spec.Operator(spec.Event{Kind: 7, Reason: "another"})))
	add("by another identity", "two_persons", at(10_000, spec.Of("daemon", clear)))
	add("the play goes on", holds, s.Deal(id, 0, 1))
	play := s.Takeover(id, "dealer-2", 2)
	c.add("act", "cancel of an act that waits, by one", holds, s,
		s.Signed(spec.Act{Act: 12, Digest: spec.Approved(s.Dated(clear))}, "bob"))
	c.add("act", "cancel of an act that waits, by two", holds, s,
		s.Signed(spec.Act{Act: 12, Digest: spec.Approved(s.Dated(clear))}, "alice", "bob"))
	c.add("act", "cancel of another act than waits", "act", s,
		s.Signed(spec.Act{Act: 12, Digest: spec.Approved(play)}, "bob"))
	s.Then(s.Act(7, play, "alice"))
	add("a takeover after an act of one for kill_clear, with its digest", "two_persons", at(10_000, play))
	s.Then(s.Act(6, clear, "bob"))
	cancel := s.Signed(spec.Act{Act: 12, Digest: spec.Approved(s.Dated(clear))}, "bob")
	s.Then(cancel)
	add("the first of two was cancelled, the second waits", holds, at(10_000, clear))
	s.Then(s.Signed(spec.Act{Act: 12, Digest: spec.Approved(s.Dated(clear))}, "bob"))
	add("both were cancelled", "two_persons", at(10_000, clear))
	c.add("pair", "after a cancel anything else", holds, s, s.Deal(id, 0, 1))
	s.Then(s.Act(6, clear, "bob"))
	s.Then(at(10_000, clear))
	s.Then(set)
	add("an act approves one entry", "two_persons", at(10_000, clear))
	s.Then(s.Act(6, clear, "bob"))
	add("of a latch that was set before", holds, at(10_000, clear))
	s.Then(set)
	add("a latch that stands, and is set again, ends none", holds, at(10_000, clear))
	s.Approved(6, clear)
	s.Then(set)
	add("a latch that is set ends those that wait to clear it", "two_persons", at(10_000, clear))
	stop := spec.Operator(spec.Event{Kind: 5, Scope: 1, Reason: "over"})
	s.Then(s.Act(7, stop, "alice"))
	s.Then(s.Act(6, clear, "bob"))
	s.Then(spec.KillSwitch(true, 1, "", nil))
	add("a switch that is set ends those that wait to clear one", "two_persons", at(10_000, stop))
	add("a switch that is set ends none that waits to clear the latch", holds, at(10_000, clear))
	s.Then(s.Act(7, stop, "alice"))
	add("of a switch that was set before", holds, at(10_000, stop))
	s.Then(set)
	add("a latch that is set ends none that waits to clear a switch", holds, at(10_000, stop))
	s.Then(s.Act(6, clear, "bob"))
	s.Approved(5, spec.Operator(spec.Event{Kind: 10, Size: 3, Root: spec.BytesOf("root", 32),
		LostRoot: make(spec.Hexed, 32), Reason: "restored"}))
	add("an adopted head ends those that wait", "two_persons", at(10_000, clear))
	s.Then(s.Act(6, clear, "alice"))
	s.Then(s.TwoPersons(60, 6))
	add("the delay was made longer", "two_persons", at(10_000, clear))
	add("the longer delay is over when it expires", "two_persons", at(60_000, clear))
	s.Then(s.TwoPersons(59, 6))
	add("another delay is over before it expires", holds, at(59_000, clear))
	s.Then(s.Act(6, clear, "alice", "bob"))
	add("an act of two in between", holds, clear)
	s.Then(clear)
	c.add("latch", "an act of two cleared it, and spent none that waits", "latch", s, at(59_000, clear))
	s.Then(set)
	s.Then(s.TwoPersons(59))
	add("two are asked for no more", holds, clear)

	s = spec.NewStory(spec.WithTwo(6))
	s.Then(set)
	s.Then(s.Signed(latchAct(s, 12_000), "alice"))
	s.Then(at(5_000, s.Signed(latchAct(s, 30_000), "bob")))
	add("the first of two is in force", holds, at(6_999, clear))
	add("the first of two expired, and the second takes no effect yet", "two_persons", at(7_000, clear))
	add("the first of two expired, and the second is in force", holds, at(10_000, clear))
}

func (c legalityCases) administrators() {
	add := func(name, rule string, s *spec.Story, e spec.Entry) { c.add("administrators", name, rule, s, e) }
	empty := &spec.Story{Now: spec.SampleTime}
	genesis := func(name, rule string, changes ...func(*spec.Genesis)) {
		add("genesis: "+name, rule, empty, spec.NewStory(changes...).Entries[0])
	}
	genesis("a sandbox without any", holds)
	genesis("a sandbox with one, and no act for two", holds, func(g *spec.Genesis) { g.Admins = spec.Admins("alice") })
	genesis("a sandbox with one, and an act for two", "administrators",
		func(g *spec.Genesis) { g.Admins, g.TwoPersons = spec.Admins("alice"), []uint16{1} })
	genesis("production with two", holds, spec.Production)
	genesis("production with one", "administrators", spec.Production,
		func(g *spec.Genesis) { g.Admins = spec.Admins("alice") })
	genesis("production without any", "administrators", func(g *spec.Genesis) { g.Production = true })
	genesis("production without an act for two", "administrators", spec.Production,
		func(g *spec.Genesis) { g.TwoPersons = nil })
	for i, act := range []uint16{8, 9, 10, 11, 13} {
		genesis(fmt.Sprint("production without act ", act), "administrators", spec.Production, func(g *spec.Genesis) {
			g.TwoPersons = slices.Delete([]uint16{8, 9, 10, 11, 13}, i, i+1)
		})
	}
	weak := append(spec.Hexed{1, 1}, make(spec.Hexed, 31)...)
	c.add("key", "genesis: an administrator's key of small order", "key", empty,
		spec.NewStory(func(g *spec.Genesis) { g.Admins = []spec.Admin{{Name: "a", Key: weak}} }).Entries[0])
	c.add("key", "genesis: an administrator has the signing key", "key", empty, spec.NewStory(func(g *spec.Genesis) {
		g.Admins = []spec.Admin{{Name: "a", Key: spec.SigningKey("1")}}
	}).Entries[0])
	c.add("key", "two rules: genesis: a policy that cannot be read, and one administrator in production", "key", empty,
		spec.NewStory(spec.Production, func(g *spec.Genesis) {
			g.Admins, g.Policy = spec.Admins("alice"), "two of three\n"
		}).Entries[0])

	s := spec.NewStory(func(g *spec.Genesis) { g.Admins = spec.Admins("alice", "bob") })
	add("a third comes", holds, s, s.Administrator(1, "carol", "carol"))
	add("one comes again", "administrators", s, s.Administrator(1, "alice", "alice 2"))
	add("one comes with the key of another", "administrators", s, s.Administrator(1, "carol", "bob"))
	add("one goes", holds, s, s.Administrator(2, "bob", ""))
	add("a stranger goes", "administrators", s, s.Administrator(2, "carol", ""))
	add("one has another key", holds, s, s.Administrator(3, "bob", "bob 2"))
	add("one has the same key", "administrators", s, s.Administrator(3, "bob", "bob"))
	add("one has the key of another", "administrators", s, s.Administrator(3, "bob", "alice"))
	add("a stranger has another key", "administrators", s, s.Administrator(3, "carol", "carol"))
	low := s.Administrator(1, "carol", "carol")
	low.Key.Public = weak
	c.add("key", "one comes with a key of small order", "key", s, low)
	low = s.Administrator(3, "carol", "carol")
	low.Key.Public = weak
	c.add("key", "two rules: a stranger has a key of small order", "key", s, low)
	signs := s.Administrator(1, "carol", "")
	signs.Key.Public = spec.SigningKey("1")
	c.add("key", "one comes with the key that signs checkpoints", "key", s, signs)
	signs = s.Administrator(3, "bob", "")
	signs.Key.Public = spec.SigningKey("1")
	c.add("key", "one has the key that signs checkpoints", "key", s, signs)
	c.add("key", "the key of an administrator signs checkpoints", "key", s,
		s.Key(spec.Key{Subject: 1, Public: spec.AdminKey("bob")}))
	t := spec.NewStory(func(g *spec.Genesis) { g.Admins = spec.Admins("alice", "bob") })
	t.Then(t.Key(spec.Key{Subject: 1, Public: spec.SigningKey("2")}))
	c.add("key", "one has the key that signed checkpoints before", "key", t, signs)
	t.Then(t.Administrator(3, "bob", "bob 2"))
	t.Then(t.Administrator(2, "alice", ""))
	c.add("key", "the key that was an administrator's signs checkpoints", "key", t,
		t.Key(spec.Key{Subject: 1, Public: spec.AdminKey("bob")}))
	c.add("key", "the key of an administrator who went signs checkpoints", "key", t,
		t.Key(spec.Key{Subject: 1, Public: spec.AdminKey("alice")}))
	add("two for an act", holds, s, s.TwoPersons(0, 1, 2))
	s.Then(s.Administrator(2, "bob", ""))
	add("who went comes back", "administrators", s, s.Administrator(1, "bob", "bob 2"))
	add("the key of who went comes back", "administrators", s, s.Administrator(1, "carol", "bob"))
	add("who went has another key", "administrators", s, s.Administrator(3, "bob", "bob 2"))
	add("two for an act, where there is one", "administrators", s, s.TwoPersons(0, 1))
	add("two for no act, where there is one", holds, s, s.TwoPersons(0))
	s.Then(s.Administrator(3, "alice", "alice 2"))
	add("a replaced key comes back", "administrators", s, s.Administrator(3, "alice", "alice"))
	add("the last goes", holds, s, s.Administrator(2, "alice", ""))

	p := spec.NewStory(spec.Production)
	approved := func(act uint8, e spec.Entry, names ...string) *spec.Story {
		p := spec.NewStory(spec.Production)
		p.Then(p.Act(act, e, names...))
		return p
	}
	for _, e := range []struct {
		name, rule string
		act        uint8
		e          spec.Entry
	}{
		{"production: one of two goes", "administrators", 8, p.Administrator(2, "bob", "")},
		{"production: one of two has another key", holds, 8, p.Administrator(3, "bob", "bob 2")},
		{"production: a third comes", holds, 8, p.Administrator(1, "carol", "carol")},
		{"production: two for no act", "administrators", 11, p.TwoPersons(0)},
		{"production: two for 8 to 10", "administrators", 11, p.TwoPersons(0, 8, 9, 10)},
		{"production: two for 8 to 11", "administrators", 11, p.TwoPersons(0, 8, 9, 10, 11)},
		{"production: two for 8 to 11, 13 and policies", holds, 11, p.TwoPersons(0, 1, 8, 9, 10, 11, 13)},
	} {
		add(e.name, e.rule, approved(e.act, e.e, "alice", "bob"), e.e)
	}
	many := spec.NewStory(func(g *spec.Genesis) {
		for i := range 15 {
			g.Admins = append(g.Admins, spec.Admins(fmt.Sprintf("admin-%02d", i))...)
		}
	})
	add("the 16th", holds, many, many.Administrator(1, "alice", "alice"))
	many.Then(many.Administrator(1, "alice", "alice"))
	add("the 17th", "administrators", many, many.Administrator(1, "bob", "bob"))
	add("another key of one of 16", holds, many, many.Administrator(3, "alice", "alice 2"))
	many.Then(many.Administrator(2, "admin-03", ""))
	add("a 16th after one went", holds, many, many.Administrator(1, "bob", "bob"))
}
