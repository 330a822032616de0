package audit

// The cases of testdata/legality.json. Each is a legal ledger and one entry more, with the rule that it breaks or "ok".
// About is the rule of docs/SPEC.md section 9 that the case is there for.

type legalityCases struct {
	add func(about, name, rule string, s *story, next refEntry)
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
	c.events()
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
func dealt() (*story, uint64) {
	s := newStory()
	id := s.then(s.commit("t"))
	s.then(s.deal(id, 0, 1))
	return s, id
}

func (c legalityCases) everyEntry() {
	empty := &story{now: sampleTime}
	c.add("genesis_first", "entry 0 is a genesis", holds, empty, newStory().entries[0])
	c.add("genesis_first", "entry 0 is another", "genesis_first", empty, newStory().start())
	s, id := dealt()
	c.add("genesis_first", "a second genesis", "genesis_first", s, refEntry{Genesis: s.genesis()})
	c.add("genesis_first", "a second genesis below in time, too", "genesis_first", s,
		refEntry{Time: 1, Genesis: s.genesis()})
	c.add("time", "at the same time", holds, s, s.deal(id, 1, 1))
	later := func(ms uint64, e refEntry) refEntry { e.Time = s.now + ms; return e }
	c.add("time", "a millisecond later", holds, s, later(1, s.deal(id, 1, 1)))
	c.add("time", "a millisecond earlier", "time", s, later(^uint64(0), s.deal(id, 1, 1)))
	c.add("time", "at time 1", "time", s, refEntry{Time: 1, Event: s.start().Event})
}

func (c legalityCases) pair() {
	s, id := dealt()
	s.then(s.deal(id, 1, 1, final))
	c.add("pair", "after a final deal its close", holds, s, s.close(id, 1))
	c.add("pair", "after a final deal its close as void", holds, s, s.close(id, 4, void(1)))
	c.add("pair", "after a final deal its close as continued", "pair", s, s.close(id, 3))
	c.add("pair", "after a final deal another deal", "pair", s, s.deal(id, 2, 1))
	c.add("pair", "after a final deal an event", "pair", s, s.start())
	c.add("pair", "after a final deal a commit", "pair", s, s.commit("t"))
	two := newStory()
	other := two.then(two.commit("u"))
	id = two.then(two.commit("t"))
	two.then(two.deal(id, 0, 4, final))
	c.add("pair", "after a final deal the close of another shuffle", "pair", two, two.close(other, 1))
	two.then(two.close(id, 1))
	c.add("pair", "after the pair anything else", holds, two, two.deal(other, 0, 1))

	s, id = dealt()
	s.then(s.commit("t", child(id, 3, 2)))
	c.add("pair", "after a child's commit its parent's close, continued", holds, s, s.close(id, 3))
	c.add("pair", "after a child's commit its parent's close, completed", "pair", s, s.close(id, 1))
	c.add("pair", "after a child's commit its parent's close, void", "pair", s, s.close(id, 4, void(6)))
	c.add("pair", "after a child's commit a deal of the parent", "pair", s, s.deal(id, 1, 1))
	c.add("pair", "after a child's commit the child's close", "pair", s, s.close(id+2, 3))
	c.add("pair", "after a child's commit a key", "pair", s, s.auditor("1"))
	s.then(s.close(id, 3))
	c.add("pair", "after the parent's close the child is dealt", holds, s, s.deal(id+2, 0, 1))
}

func (c legalityCases) commitOfThisLedger() {
	s := newStory()
	c.add("origin", "the ledger's origin", holds, s, s.commit("t"))
	c.add("origin", "another origin", "origin", s,
		s.commit("t", func(c *refContext) { c.Origin = "casino.example/other" }))
	c.add("origin", "another genesis of this origin", "origin", s, s.commit("t", func(c *refContext) {
		other := newStory(func(g *refGenesis) { g.MaxCloseBy++ })
		c.Genesis = refSum(other.entries[0].bytes())
	}))
	c.add("origin", "no genesis", "origin", s, s.commit("t", func(c *refContext) { c.Genesis = make(hexed, 32) }))
	c.add("origin", "production in a sandbox", "origin", s, s.commit("t", func(c *refContext) { c.Production = true }))
	p := newStory(production)
	p.then(p.credential("dealer-1", 1))
	c.add("origin", "production in production", holds, p, p.commit("t"))
	c.add("origin", "sandbox in production", "origin", p, p.commit("t", func(c *refContext) { c.Production = false }))

	instance := func(n uint64) refEntry { e := s.commit("t"); e.Commit.Instance = n; return e }
	c.add("instance", "a commit names the genesis", "instance", s, instance(0))
	c.add("instance", "a commit names itself", "instance", s, instance(2))
	c.add("instance", "a commit names a later index", "instance", s, instance(9))
	s.then(operator(refEvent{Kind: 2, Table: "t"}))
	c.add("instance", "a commit names another event", "instance", s, instance(2))
	s.then(s.start())
	c.add("instance", "a commit names the second of two daemons", holds, s, instance(3))
	c.add("instance", "a commit names the first of two daemons", holds, s, instance(1))
	latch := func(n uint64) refEntry { return refEntry{Event: &refEvent{Kind: 6, Cause: 1, Instance: n}} }
	c.add("instance", "latch_set by a daemon", holds, s, latch(3))
	c.add("instance", "latch_set by another event", "instance", s, latch(2))
	c.add("instance", "latch_set by a later index", "instance", s, latch(4))

	s = newStory()
	id := s.then(s.commit("t"))
	cleared := operator(refEvent{Kind: 7, Reason: "source replaced"})
	c.add("latch", "latch_clear without latch_set", "latch", s, cleared)
	s.then(latch(1))
	c.add("latch", "a commit under the latch", "latch", s, s.commit("t"))
	c.add("latch", "a deal under the latch", holds, s, s.deal(id, 0, 1))
	c.add("latch", "latch_set again", holds, s, latch(1))
	c.add("latch", "latch_clear", holds, s, cleared)
	s.then(latch(1))
	s.then(cleared)
	c.add("latch", "one latch_clear for two latch_set", holds, s, s.commit("t"))
	c.add("latch", "latch_clear twice", "latch", s, cleared)
}

func (c legalityCases) commitInOrder() {
	deck, other := bytesOf("deck", 32), bytesOf("another deck", 32)
	for _, k := range []struct {
		name string
		set  func(on bool) refEntry
		off  func(*refContext) // a commit that the switch does not cover
	}{
		{"ledger", func(on bool) refEntry { return killSwitch(on, 1, "", nil) }, nil},
		{"table", func(on bool) refEntry { return killSwitch(on, 2, "t", nil) }, func(c *refContext) { c.Table = "u" }},
		{"deck", func(on bool) refEntry { return killSwitch(on, 3, "", deck) },
			func(c *refContext) { c.DeckHash = other }},
	} {
		s := newStory()
		open := s.then(s.commit("t"))
		c.add("kill", k.name+": cleared before it is set", "kill", s, k.set(false))
		c.add("kill", k.name+": set", holds, s, k.set(true))
		s.then(k.set(true))
		c.add("kill", k.name+": set twice", "kill", s, k.set(true))
		c.add("kill", k.name+": a commit", "kill", s, s.commit("t"))
		c.add("kill", k.name+": a deal of an open shuffle", holds, s, s.deal(open, 0, 1))
		if k.off != nil {
			c.add("kill", k.name+": a commit of another", holds, s, s.commit("t", k.off))
		} else {
			c.add("kill", k.name+": a draw list", "kill", s, s.commit("u", draws(6)))
		}
		c.add("kill", k.name+": cleared", holds, s, k.set(false))
		s.then(k.set(false))
		c.add("kill", k.name+": a commit after it is cleared", holds, s, s.commit("t"))
		c.add("kill", k.name+": set again", holds, s, k.set(true))
	}
	s := newStory()
	s.then(killSwitch(true, 2, "t", nil))
	c.add("kill", "two switches: the deck's alongside the table's", holds, s, killSwitch(true, 3, "", deck))
	s.then(killSwitch(true, 3, "", make(hexed, 32)))
	c.add("kill", "deck of zeros: a draw list has no deck hash", holds, s, s.commit("u", draws(6, 6)))

	s = newStory()
	open, closed := operator(refEvent{Kind: 2, Table: "t"}), operator(refEvent{Kind: 3, Table: "t"})
	c.add("table", "opened", holds, s, open)
	c.add("table", "closed before it is opened", "table", s, closed)
	s.then(open)
	c.add("table", "opened twice", "table", s, open)
	c.add("table", "serial 1 at an opened table", holds, s, s.commit("t"))
	s.then(closed)
	c.add("table", "closed twice", "table", s, closed)
	c.add("table", "serial 1 at a closed table", "table", s, s.commit("t"))
	c.add("table", "a commit at another table", holds, s, s.commit("u"))
	s = newStory()
	id := s.then(s.commit("t"))
	c.add("table", "opened after serial 1 opened it", "table", s, open)
	c.add("table", "closed after serial 1 opened it", holds, s, closed)
	s.then(closed)
	c.add("table", "serial 2 at a closed table", "table", s, s.commit("t"))
	c.add("set_aside", "a deal at a closed table", "set_aside", s, s.deal(id, 0, 1))
	s.then(open)
	c.add("table", "serial 2 after it is opened again", holds, s, s.commit("t"))

	s = newStory()
	serial := func(serial, previous uint64) refEntry {
		e := s.commit("t")
		e.Commit.Serial, e.Commit.Previous = serial, previous
		return e
	}
	c.add("serial", "1 at a new table", holds, s, serial(1, 0))
	c.add("serial", "2 at a new table", "serial", s, serial(2, 1))
	first := s.then(s.commit("t"))
	s.then(s.commit("u"))
	second := s.then(s.commit("t"))
	c.add("serial", "3 after 2", holds, s, serial(3, second))
	c.add("serial", "1 again", "serial", s, serial(1, 0))
	c.add("serial", "2 again", "serial", s, serial(2, first))
	c.add("serial", "4 after 2", "serial", s, serial(4, second))
	c.add("serial", "3 after the commit before the last", "serial", s, serial(3, first))
	c.add("serial", "3 after another table's commit", "serial", s, serial(3, second-1))
}

func (c legalityCases) commitOptions() {
	s := newStory()
	life := func(ms uint64) refEntry { e := s.commit("t"); e.Commit.CloseBy = s.now + ms; return e }
	c.add("close_by", "a millisecond after the commit", holds, s, life(1))
	c.add("close_by", "at the commit", "close_by", s, life(0))
	c.add("close_by", "before the commit", "close_by", s, life(^uint64(0)))
	c.add("close_by", "at the cap", holds, s, life(1000*storyCap))
	c.add("close_by", "a millisecond past the cap", "close_by", s, life(1000*storyCap+1))
	c.add("close_by", "as far away as an integer goes", "close_by", s, life(maxInteger-s.now))

	_, slot := storySlot("t", 0)
	for bit, src := range []refSource{slot, beacon(7), {Source: 3}} {
		name := []string{"slots", "beacon", "cut"}[bit]
		only := newStory(func(g *refGenesis) { g.MixModes = 1 << bit })
		c.add("mix_modes", name+" where only they are declared", holds, only, only.commit("t", planned(src)))
		but := newStory(func(g *refGenesis) { g.MixModes = 7 &^ (1 << bit) })
		c.add("mix_modes", name+" where all others are declared", "mix_modes", but, but.commit("t", planned(src)))
	}
	none := newStory(func(g *refGenesis) { g.MixModes = 0 })
	c.add("mix_modes", "no plan where nothing is declared", holds, none, none.commit("t"))
	two := newStory(func(g *refGenesis) { g.MixModes = 3 })
	c.add("mix_modes", "the last of three sources is not declared", "mix_modes",
		two, two.commit("t", planned(slot, beacon(7), refSource{Source: 3})))
}

func (c legalityCases) beacons() {
	at := func(now, round uint64) refEntry {
		s := newStory()
		e := s.commit("t", planned(refSource{Source: 2, Chain: hexed(Quicknet[:]), Round: round}))
		e.Time, e.Commit.CloseBy = now, now+1000
		return e
	}
	s := newStory()
	add := func(name, rule string, next refEntry) { c.add("beacon", name, rule, s, next) }
	// Round r comes out at 1692803367 + 3·(r − 1), in seconds.
	second := s.now/1000 + 5
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
	add("a round of a chain that is not known", holds, s.commit("t", planned(beacon(1))))
	add("behind two slots", "beacon", s.commit("t", planned(refSource{Source: 1, Slot: bytesOf("one", 32)},
		refSource{Source: 1, Slot: bytesOf("two", 32)}, refSource{Source: 2, Chain: hexed(Quicknet[:]), Round: 7},
		refSource{Source: 3})))
}

func (c legalityCases) terms() {
	s := newStory()
	add := func(name, rule string, next refEntry) { c.add("terms", name, rule, s, next) }
	named := func(kind uint8, hash string) func(*refContext) {
		return func(c *refContext) { c.Terms = &refTerms{Kind: kind, Hash: bytesOf(hash, 32)} }
	}
	tickets := func(count uint64) func(*refContext) {
		return func(c *refContext) { c.Terms = &refTerms{Kind: 3, Count: count, Hash: bytesOf("root", 32)} }
	}
	add("a wheel of one draw", holds, s.commit("w", draws(10_000), named(1, "wheel")))
	add("a wheel of three equal ranges", holds, s.commit("w", draws(6, 6, 6), named(1, "wheel")))
	add("a wheel, and the last range differs", "terms", s.commit("w", draws(6, 6, 7), named(1, "wheel")))
	add("a wheel, and the first range differs", "terms", s.commit("w", draws(7, 6, 6), named(1, "wheel")))
	add("a wheel with cards", "terms", s.commit("t", named(1, "wheel")))
	add("a pay table with cards", holds, s.commit("t", named(2, "pays")))
	add("a pay table with different ranges", holds, s.commit("w", draws(6, 37), named(2, "pays")))
	add("tickets with cards, one each", "terms", s.commit("t", tickets(4)))
	add("tickets with a draw list of as many", "terms", s.commit("w", draws(4), tickets(4)))
	add("tickets, each with its number", holds, s.commit("w", numbers(1_000_000, 3), tickets(1_000_000)))
	add("a ticket less than numbers", "terms", s.commit("w", numbers(1_000_000, 3), tickets(999_999)))
	add("a ticket more than numbers", "terms", s.commit("w", numbers(1_000_000, 3), tickets(1_000_001)))
	add("as many tickets as numbers are taken", "terms", s.commit("w", numbers(4, 3), tickets(3)))
	add("2^32 tickets more than numbers", "terms", s.commit("w", numbers(4, 3), tickets(1<<32+4)))
	add("a wheel with one number", "terms", s.commit("w", numbers(37, 1), named(1, "wheel")))
	add("a pay table with numbers", holds, s.commit("w", numbers(80, 20), named(2, "pays")))
	id := s.then(s.commit("t", named(2, "pays")))
	bare := s.then(s.commit("u"))
	add("a child with its parent's terms", holds, s.commit("t", child(id, 0, 1), named(2, "pays")))
	add("a child without its parent's terms", "terms", s.commit("t", child(id, 0, 1)))
	add("a child with another pay table", "terms", s.commit("t", child(id, 0, 1), named(2, "other pays")))
	add("a child with another kind of terms", "terms", s.commit("t", child(id, 0, 1), named(1, "pays")))
	add("a child with terms that its parent has not", "terms", s.commit("u", child(bare, 0, 1), named(2, "pays")))
	add("two rules: another pay table, of an owner who is not the parent's", "terms",
		of("dealer-2", s.commit("t", child(id, 0, 1))))
}

func (c legalityCases) parents() {
	s := newStory()
	wheel := s.then(s.commit("w", draws(6, 6)))
	id := s.then(s.commit("t", func(c *refContext) { c.Cards, c.Take = 6, 4 }))
	elsewhere := s.then(s.commit("u"))
	add := func(name, rule string, next refEntry) { c.add("parent", name, rule, s, next) }
	add("positions in any order", holds, s.commit("t", child(id, 3, 0)))
	add("position m − 1", holds, s.commit("t", child(id, 2, 3)))
	add("position m: it was not taken", "parent", s.commit("t", child(id, 2, 4)))
	add("a position that no shuffle has", "parent", s.commit("t", child(id, 65535, 0)))
	add("another deck hash", "parent", s.commit("t", child(id, 0, 1),
		func(c *refContext) { c.DeckHash = bytesOf("another deck", 32) }))
	add("at another table than the parent", "parent", s.commit("t", child(elsewhere, 0, 1)))
	add("a draw list for a parent", "parent", s.commit("w", child(wheel, 0, 1)))
	add("the genesis for a parent", "parent", s.commit("t", child(0, 0, 1)))
	add("itself for a parent", "parent", s.commit("t", child(uint64(len(s.entries)), 0, 1)))
	closeBy := s.entries[id].Commit.CloseBy
	at := func(time uint64, e refEntry) refEntry { e.Time, e.Commit.CloseBy = time, time+1; return e }
	add("a millisecond before the parent's close-by", holds, at(closeBy-1, s.commit("t", child(id, 0, 1))))
	add("at the parent's close-by: it can only expire", "parent", at(closeBy, s.commit("t", child(id, 0, 1))))
	s.then(s.deal(id, 0, 4))
	add("positions that were dealt: returned cards", holds, s.commit("t", child(id, 0, 1, 2, 3)))
	kid := s.then(s.commit("t", child(id, 0, 1, 2)))
	s.then(s.close(id, 3))
	add("a parent that was continued", "parent", s.commit("t", child(id, 0, 1)))
	add("a child of a child, with the root's deck hash", holds, s.commit("t", child(kid, 2, 0)))
	s.then(s.close(kid, 1))
	s.then(s.disclose(id))
	add("a parent that was completed", "parent", s.commit("t", child(kid, 0, 1)))
}
