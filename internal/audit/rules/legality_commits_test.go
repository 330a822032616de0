package rules

import (
	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// The cases of testdata/legality.json. Each is a legal ledger and one entry more, with the rule that it breaks or "ok".
// About is the rule of docs/SPEC.md section 9 that the case is there for.

type legalityCases struct {
	add func(about, name, rule string, s *spec.Story, next spec.Entry)
}

func (c legalityCases) all() {
	c.everyEntry()
	c.pair()
	c.commitOfThisLedger()
	c.commitInOrder()
	c.commitOptions()
	c.beacons()
	c.parents()
	c.terms()
	c.openAndInTime()
	c.setAside()
	c.earlierSerial()
	c.mixes()
	c.places()
	c.rounds()
	c.checkpoints()
	c.outcomes()
	c.entries()
	c.forms()
	c.numbers()
	c.disclosureKeys()
	c.keys()
	c.types()
	c.weakKeys()
	c.policies()
	c.retirements()
	c.add("time", "an alarm is always legal", holds, spec.NewStory(),
		spec.Operator(spec.Event{Kind: 129, Alarm: 132, Reason: "two of three did not answer"}))
	c.twoRules()
	c.owners()
	c.takeovers()
	c.credentials()
	c.holders()
	c.acts()
	c.approvals()
	c.waiting()
	c.administrators()
	c.reveals()
	c.chains()
	c.coDealers()
}

// dealt is a story with one shuffle of four cards of which one is dealt.
func dealt() (*spec.Story, uint64) {
	s := spec.NewStory()
	id := s.Then(s.Commit("t"))
	s.Then(s.Deal(id, 0, 1))
	return s, id
}

func (c legalityCases) everyEntry() {
	empty := &spec.Story{Now: spec.SampleTime}
	c.add("genesis_first", "entry 0 is a genesis", holds, empty, spec.NewStory().Entries[0])
	c.add("genesis_first", "entry 0 is another", "genesis_first", empty, spec.NewStory().Start())
	s, id := dealt()
	c.add("genesis_first", "a second genesis", "genesis_first", s, spec.Entry{Genesis: s.Genesis()})
	c.add("genesis_first", "a second genesis below in time, too", "genesis_first", s,
		spec.Entry{Time: 1, Genesis: s.Genesis()})
	c.add("time", "at the same time", holds, s, s.Deal(id, 1, 1))
	later := func(ms uint64, e spec.Entry) spec.Entry { e.Time = s.Now + ms; return e }
	c.add("time", "a millisecond later", holds, s, later(1, s.Deal(id, 1, 1)))
	c.add("time", "a millisecond earlier", "time", s, later(^uint64(0), s.Deal(id, 1, 1)))
	c.add("time", "at time 1", "time", s, spec.Entry{Time: 1, Event: s.Start().Event})
}

func (c legalityCases) pair() {
	s, id := dealt()
	s.Then(s.Deal(id, 1, 1, spec.Final))
	c.add("pair", "after a final deal its close", holds, s, s.Close(id, 1))
	c.add("pair", "after a final deal its close as void", holds, s, s.Close(id, 4, spec.Void(1)))
	c.add("pair", "after a final deal its close as continued", "pair", s, s.Close(id, 3))
	c.add("pair", "after a final deal another deal", "pair", s, s.Deal(id, 2, 1))
	c.add("pair", "after a final deal an event", "pair", s, s.Start())
	c.add("pair", "after a final deal a commit", "pair", s, s.Commit("t"))
	two := spec.NewStory()
	other := two.Then(two.Commit("u"))
	id = two.Then(two.Commit("t"))
	two.Then(two.Deal(id, 0, 4, spec.Final))
	c.add("pair", "after a final deal the close of another shuffle", "pair", two, two.Close(other, 1))
	two.Then(two.Close(id, 1))
	c.add("pair", "after the pair anything else", holds, two, two.Deal(other, 0, 1))

	s, id = dealt()
	s.Then(s.Commit("t", spec.ChildOf(id, 3, 2)))
	c.add("pair", "after a child's commit its parent's close, continued", holds, s, s.Close(id, 3))
	c.add("pair", "after a child's commit its parent's close, completed", "pair", s, s.Close(id, 1))
	c.add("pair", "after a child's commit its parent's close, void", "pair", s, s.Close(id, 4, spec.Void(6)))
	c.add("pair", "after a child's commit a deal of the parent", "pair", s, s.Deal(id, 1, 1))
	c.add("pair", "after a child's commit the child's close", "pair", s, s.Close(id+2, 3))
	c.add("pair", "after a child's commit a key", "pair", s, s.Auditor("1"))
	s.Then(s.Close(id, 3))
	c.add("pair", "after the parent's close the child is dealt", holds, s, s.Deal(id+2, 0, 1))
}

func (c legalityCases) commitOfThisLedger() {
	s := spec.NewStory()
	c.add("origin", "the ledger's origin", holds, s, s.Commit("t"))
	c.add("origin", "another origin", "origin", s,
		s.Commit("t", func(c *spec.Context) { c.Origin = "casino.example/other" }))
	c.add("origin", "another genesis of this origin", "origin", s, s.Commit("t", func(c *spec.Context) {
		other := spec.NewStory(func(g *spec.Genesis) { g.MaxCloseBy++ })
		c.Genesis = spec.Sum(other.Entries[0].Bytes())
	}))
	c.add("origin", "no genesis", "origin", s, s.Commit("t",
		func(c *spec.Context) { c.Genesis = make(spec.Hexed, 32) }))
	c.add("origin", "production in a sandbox", "origin", s,
		s.Commit("t", func(c *spec.Context) { c.Production = true }))
	p := spec.NewStory(spec.Production)
	p.Then(p.Credential("dealer-1", 1))
	c.add("origin", "production in production", holds, p, p.Commit("t"))
	c.add("origin", "sandbox in production", "origin", p, p.Commit("t", func(c *spec.Context) { c.Production = false }))

	instance := func(n uint64) spec.Entry { e := s.Commit("t"); e.Commit.Instance = n; return e }
	c.add("instance", "a commit names the genesis", "instance", s, instance(0))
	c.add("instance", "a commit names itself", "instance", s, instance(2))
	c.add("instance", "a commit names a later index", "instance", s, instance(9))
	s.Then(spec.Operator(spec.Event{Kind: 2, Table: "t"}))
	c.add("instance", "a commit names another event", "instance", s, instance(2))
	s.Then(s.Start())
	c.add("instance", "a commit names the second of two daemons", holds, s, instance(3))
	c.add("instance", "a commit names the first of two daemons", holds, s, instance(1))
	latch := func(n uint64) spec.Entry { return spec.Entry{Event: &spec.Event{Kind: 6, Cause: 1, Instance: n}} }
	c.add("instance", "latch_set by a daemon", holds, s, latch(3))
	c.add("instance", "latch_set by another event", "instance", s, latch(2))
	c.add("instance", "latch_set by a later index", "instance", s, latch(4))

	s = spec.NewStory()
	id := s.Then(s.Commit("t"))
	cleared := spec.Operator(spec.Event{Kind: 7, Reason: "source replaced"})
	c.add("latch", "latch_clear without latch_set", "latch", s, cleared)
	s.Then(latch(1))
	c.add("latch", "a commit under the latch", "latch", s, s.Commit("t"))
	c.add("latch", "a deal under the latch", holds, s, s.Deal(id, 0, 1))
	c.add("latch", "latch_set again", holds, s, latch(1))
	c.add("latch", "latch_clear", holds, s, cleared)
	s.Then(latch(1))
	s.Then(cleared)
	c.add("latch", "one latch_clear for two latch_set", holds, s, s.Commit("t"))
	c.add("latch", "latch_clear twice", "latch", s, cleared)
}

func (c legalityCases) commitInOrder() {
	deck, other := spec.BytesOf("deck", 32), spec.BytesOf("another deck", 32)
	for _, k := range []struct {
		name string
		set  func(on bool) spec.Entry
		off  func(*spec.Context) // a commit that the switch does not cover
	}{
		{"ledger", func(on bool) spec.Entry { return spec.KillSwitch(on, 1, "", nil) }, nil},
		{"table", func(on bool) spec.Entry { return spec.KillSwitch(on, 2, "t", nil) },
			func(c *spec.Context) { c.Table = "u" }},
		{"deck", func(on bool) spec.Entry { return spec.KillSwitch(on, 3, "", deck) },
			func(c *spec.Context) { c.DeckHash = other }},
	} {
		s := spec.NewStory()
		open := s.Then(s.Commit("t"))
		c.add("kill", k.name+": cleared before it is set", "kill", s, k.set(false))
		c.add("kill", k.name+": set", holds, s, k.set(true))
		s.Then(k.set(true))
		c.add("kill", k.name+": set twice", "kill", s, k.set(true))
		c.add("kill", k.name+": a commit", "kill", s, s.Commit("t"))
		c.add("kill", k.name+": a deal of an open shuffle", holds, s, s.Deal(open, 0, 1))
		if k.off != nil {
			c.add("kill", k.name+": a commit of another", holds, s, s.Commit("t", k.off))
		} else {
			c.add("kill", k.name+": a draw list", "kill", s, s.Commit("u", spec.Draws(6)))
		}
		c.add("kill", k.name+": cleared", holds, s, k.set(false))
		s.Then(k.set(false))
		c.add("kill", k.name+": a commit after it is cleared", holds, s, s.Commit("t"))
		c.add("kill", k.name+": set again", holds, s, k.set(true))
	}
	s := spec.NewStory()
	s.Then(spec.KillSwitch(true, 2, "t", nil))
	c.add("kill", "two switches: the deck's alongside the table's", holds, s, spec.KillSwitch(true, 3, "", deck))
	s.Then(spec.KillSwitch(true, 3, "", make(spec.Hexed, 32)))
	c.add("kill", "deck of zeros: a draw list has no deck hash", holds, s, s.Commit("u", spec.Draws(6, 6)))

	s = spec.NewStory()
	open, closed := spec.Operator(spec.Event{Kind: 2, Table: "t"}), spec.Operator(spec.Event{Kind: 3, Table: "t"})
	c.add("table", "opened", holds, s, open)
	c.add("table", "closed before it is opened", "table", s, closed)
	s.Then(open)
	c.add("table", "opened twice", "table", s, open)
	c.add("table", "serial 1 at an opened table", holds, s, s.Commit("t"))
	s.Then(closed)
	c.add("table", "closed twice", "table", s, closed)
	c.add("table", "serial 1 at a closed table", "table", s, s.Commit("t"))
	c.add("table", "a commit at another table", holds, s, s.Commit("u"))
	s = spec.NewStory()
	id := s.Then(s.Commit("t"))
	c.add("table", "opened after serial 1 opened it", "table", s, open)
	c.add("table", "closed after serial 1 opened it", holds, s, closed)
	s.Then(closed)
	c.add("table", "serial 2 at a closed table", "table", s, s.Commit("t"))
	c.add("set_aside", "a deal at a closed table", "set_aside", s, s.Deal(id, 0, 1))
	s.Then(open)
	c.add("table", "serial 2 after it is opened again", holds, s, s.Commit("t"))

	s = spec.NewStory()
	serial := func(serial, previous uint64) spec.Entry {
		e := s.Commit("t")
		e.Commit.Serial, e.Commit.Previous = serial, previous
		return e
	}
	c.add("serial", "1 at a new table", holds, s, serial(1, 0))
	c.add("serial", "2 at a new table", "serial", s, serial(2, 1))
	first := s.Then(s.Commit("t"))
	s.Then(s.Commit("u"))
	second := s.Then(s.Commit("t"))
	c.add("serial", "3 after 2", holds, s, serial(3, second))
	c.add("serial", "1 again", "serial", s, serial(1, 0))
	c.add("serial", "2 again", "serial", s, serial(2, first))
	c.add("serial", "4 after 2", "serial", s, serial(4, second))
	c.add("serial", "3 after the commit before the last", "serial", s, serial(3, first))
	c.add("serial", "3 after another table's commit", "serial", s, serial(3, second-1))
}

func (c legalityCases) commitOptions() {
	s := spec.NewStory()
	life := func(ms uint64) spec.Entry { e := s.Commit("t"); e.Commit.CloseBy = s.Now + ms; return e }
	c.add("close_by", "a millisecond after the commit", holds, s, life(1))
	c.add("close_by", "at the commit", "close_by", s, life(0))
	c.add("close_by", "before the commit", "close_by", s, life(^uint64(0)))
	c.add("close_by", "at the cap", holds, s, life(1000*spec.StoryCap))
	c.add("close_by", "a millisecond past the cap", "close_by", s, life(1000*spec.StoryCap+1))
	c.add("close_by", "as far away as an integer goes", "close_by", s, life(spec.MaxInteger-s.Now))

	_, slot := spec.StorySlot("t", 0)
	for bit, src := range []spec.Source{slot, spec.Beacon(7), {Source: 3}} {
		name := []string{"slots", "beacon", "cut"}[bit]
		only := spec.NewStory(func(g *spec.Genesis) { g.MixModes = 1 << bit })
		c.add("mix_modes", name+" where only they are declared", holds, only, only.Commit("t", spec.Planned(src)))
		but := spec.NewStory(func(g *spec.Genesis) { g.MixModes = 7 &^ (1 << bit) })
		c.add("mix_modes", name+" where all others are declared", "mix_modes", but, but.Commit("t", spec.Planned(src)))
	}
	none := spec.NewStory(func(g *spec.Genesis) { g.MixModes = 0 })
	c.add("mix_modes", "no plan where nothing is declared", holds, none, none.Commit("t"))
	two := spec.NewStory(func(g *spec.Genesis) { g.MixModes = 3 })
	c.add("mix_modes", "the last of three sources is not declared", "mix_modes",
		two, two.Commit("t", spec.Planned(slot, spec.Beacon(7), spec.Source{Source: 3})))
}

func (c legalityCases) beacons() {
	at := func(now, round uint64) spec.Entry {
		s := spec.NewStory()
		e := s.Commit("t", spec.Planned(spec.Source{Source: 2, Chain: spec.Hexed(audit.Quicknet[:]), Round: round}))
		e.Time, e.Commit.CloseBy = now, now+1000
		return e
	}
	s := spec.NewStory()
	add := func(name, rule string, next spec.Entry) { c.add("beacon", name, rule, s, next) }
	// Round r comes out at 1692803367 + 3·(r − 1), in seconds.
	second := s.Now/1000 + 5
	for (second-1692803367)%3 != 0 {
		second++
	}
	round := (second-1692803367)/3 + 1
	add("a round that comes out a millisecond later", holds, at(second*1000-1, round))
	add("a round that comes out at that millisecond", "beacon", at(second*1000, round))
	add("the round before", "beacon", at(second*1000-1, round-1))
	add("the next round", holds, at(second*1000, round+1))
	add("the first round there was", "beacon", at(second*1000, 1))
	add("the last round there can be", holds, at(second*1000, 1<<53-1))
	add("a round of a chain that is not known", holds, s.Commit("t", spec.Planned(spec.Beacon(1))))
	add("behind two slots", "beacon", s.Commit("t", spec.Planned(spec.Source{Source: 1, Slot: spec.BytesOf("one", 32)},
		spec.Source{Source: 1, Slot: spec.BytesOf("two", 32)},
		spec.Source{Source: 2, Chain: spec.Hexed(audit.Quicknet[:]), Round: 7}, spec.Source{Source: 3})))
}

func (c legalityCases) terms() {
	s := spec.NewStory()
	add := func(name, rule string, next spec.Entry) { c.add("terms", name, rule, s, next) }
	named := func(kind uint8, hash string) func(*spec.Context) {
		return func(c *spec.Context) { c.Terms = &spec.Terms{Kind: kind, Hash: spec.BytesOf(hash, 32)} }
	}
	tickets := func(count uint64) func(*spec.Context) {
		return func(c *spec.Context) { c.Terms = &spec.Terms{Kind: 3, Count: count, Hash: spec.BytesOf("root", 32)} }
	}
	add("a wheel of one draw", holds, s.Commit("w", spec.Draws(10_000), named(1, "wheel")))
	add("a wheel of three equal ranges", holds, s.Commit("w", spec.Draws(6, 6, 6), named(1, "wheel")))
	add("a wheel, and the last range differs", "terms", s.Commit("w", spec.Draws(6, 6, 7), named(1, "wheel")))
	add("a wheel, and the first range differs", "terms", s.Commit("w", spec.Draws(7, 6, 6), named(1, "wheel")))
	add("a wheel with cards", "terms", s.Commit("t", named(1, "wheel")))
	add("a pay table with cards", holds, s.Commit("t", named(2, "pays")))
	add("a pay table with different ranges", holds, s.Commit("w", spec.Draws(6, 37), named(2, "pays")))
	add("tickets with cards, one each", "terms", s.Commit("t", tickets(4)))
	add("tickets with a draw list of as many", "terms", s.Commit("w", spec.Draws(4), tickets(4)))
	add("tickets, each with its number", holds, s.Commit("w", spec.NumbersOf(1_000_000, 3), tickets(1_000_000)))
	add("a ticket less than numbers", "terms", s.Commit("w", spec.NumbersOf(1_000_000, 3), tickets(999_999)))
	add("a ticket more than numbers", "terms", s.Commit("w", spec.NumbersOf(1_000_000, 3), tickets(1_000_001)))
	add("as many tickets as numbers are taken", "terms", s.Commit("w", spec.NumbersOf(4, 3), tickets(3)))
	add("2^32 tickets more than numbers", "terms", s.Commit("w", spec.NumbersOf(4, 3), tickets(1<<32+4)))
	add("a wheel with one number", "terms", s.Commit("w", spec.NumbersOf(37, 1), named(1, "wheel")))
	add("a pay table with numbers", holds, s.Commit("w", spec.NumbersOf(80, 20), named(2, "pays")))
	id := s.Then(s.Commit("t", named(2, "pays")))
	bare := s.Then(s.Commit("u"))
	add("a child with its parent's terms", holds, s.Commit("t", spec.ChildOf(id, 0, 1), named(2, "pays")))
	add("a child without its parent's terms", "terms", s.Commit("t", spec.ChildOf(id, 0, 1)))
	add("a child with another pay table", "terms", s.Commit("t", spec.ChildOf(id, 0, 1), named(2, "other pays")))
	add("a child with another kind of terms", "terms", s.Commit("t", spec.ChildOf(id, 0, 1), named(1, "pays")))
	add("a child with terms that its parent has not", "terms", s.Commit("u", spec.ChildOf(bare, 0, 1), named(2, "pays")))
	add("two rules: another pay table, of an owner who is not the parent's", "terms",
		spec.Of("dealer-2", s.Commit("t", spec.ChildOf(id, 0, 1))))
}

func (c legalityCases) parents() {
	s := spec.NewStory()
	wheel := s.Then(s.Commit("w", spec.Draws(6, 6)))
	id := s.Then(s.Commit("t", func(c *spec.Context) { c.Cards, c.Take = 6, 4 }))
	elsewhere := s.Then(s.Commit("u"))
	add := func(name, rule string, next spec.Entry) { c.add("parent", name, rule, s, next) }
	add("positions in any order", holds, s.Commit("t", spec.ChildOf(id, 3, 0)))
	add("position m − 1", holds, s.Commit("t", spec.ChildOf(id, 2, 3)))
	add("position m: it was not taken", "parent", s.Commit("t", spec.ChildOf(id, 2, 4)))
	add("a position that no shuffle has", "parent", s.Commit("t", spec.ChildOf(id, 65535, 0)))
	add("another deck hash", "parent", s.Commit("t", spec.ChildOf(id, 0, 1),
		func(c *spec.Context) { c.DeckHash = spec.BytesOf("another deck", 32) }))
	add("at another table than the parent", "parent", s.Commit("t", spec.ChildOf(elsewhere, 0, 1)))
	add("a draw list for a parent", "parent", s.Commit("w", spec.ChildOf(wheel, 0, 1)))
	add("the genesis for a parent", "parent", s.Commit("t", spec.ChildOf(0, 0, 1)))
	add("itself for a parent", "parent", s.Commit("t", spec.ChildOf(uint64(len(s.Entries)), 0, 1)))
	closeBy := s.Entries[id].Commit.CloseBy
	at := func(time uint64, e spec.Entry) spec.Entry { e.Time, e.Commit.CloseBy = time, time+1; return e }
	add("a millisecond before the parent's close-by", holds, at(closeBy-1, s.Commit("t", spec.ChildOf(id, 0, 1))))
	add("at the parent's close-by: it can only expire", "parent", at(closeBy, s.Commit("t", spec.ChildOf(id, 0, 1))))
	s.Then(s.Deal(id, 0, 4))
	add("positions that were dealt: returned cards", holds, s.Commit("t", spec.ChildOf(id, 0, 1, 2, 3)))
	kid := s.Then(s.Commit("t", spec.ChildOf(id, 0, 1, 2)))
	s.Then(s.Close(id, 3))
	add("a parent that was continued", "parent", s.Commit("t", spec.ChildOf(id, 0, 1)))
	add("a child of a child, with the root's deck hash", holds, s.Commit("t", spec.ChildOf(kid, 2, 0)))
	s.Then(s.Close(kid, 1))
	s.Then(s.Disclose(id))
	add("a parent that was completed", "parent", s.Commit("t", spec.ChildOf(kid, 0, 1)))
}
