package audit

// Cases of mixes, deals and closes.

func (c legalityCases) openAndInTime() {
	s, id := dealt()
	closeBy := s.entries[id].Commit.CloseBy
	at := func(time uint64, e refEntry) refEntry { e.Time = time; return e }
	slot, plan := storySlot("t", 0)
	m := newStory()
	mixed := m.then(m.commit("t", planned(plan)))
	c.add("deadline", "a deal a millisecond before close-by", holds, s, at(closeBy-1, s.deal(id, 1, 1)))
	c.add("deadline", "a deal at close-by", "deadline", s, at(closeBy, s.deal(id, 1, 1)))
	c.add("deadline", "a mix a millisecond before close-by", holds, m, at(closeBy-1, m.mix(mixed, slot)))
	c.add("deadline", "a mix at close-by", "deadline", m, at(closeBy, m.mix(mixed, slot)))
	c.add("deadline", "completed a millisecond before close-by", holds, s, at(closeBy-1, s.close(id, 1)))
	c.add("deadline", "completed at close-by", "deadline", s, at(closeBy, s.close(id, 1)))
	c.add("deadline", "void at close-by", "deadline", s, at(closeBy, s.close(id, 4, void(1))))
	c.add("deadline", "expired a millisecond before close-by", "deadline", s, at(closeBy-1, s.close(id, 5)))
	c.add("deadline", "expired at close-by", holds, s, at(closeBy, s.close(id, 5)))
	c.add("deadline", "expired long after close-by", holds, s, at(closeBy+1_000_000, s.close(id, 5)))
	c.add("deadline", "expired before anything was dealt", holds, m, at(closeBy, m.close(mixed, 5)))
	c.add("deadline", "tape_lost before close-by", holds, s, at(closeBy-1, s.close(id, 4, tapeLost)))
	c.add("deadline", "tape_lost after close-by: without its tape nothing expires", holds, s,
		at(closeBy+1, s.close(id, 4, tapeLost)))

	for wrong, name := range []string{0: "the genesis", 1: "an event", 3: "a deal", 4: "the next index",
		9: "a later index"} {
		if name != "" {
			c.add("not_open", "a deal of "+name, "not_open", s, s.deal(uint64(wrong), 0, 1))
			c.add("not_open", "a mix of "+name, "not_open", s, s.mix(uint64(wrong), slot))
			c.add("not_open", "a close of "+name, "not_open", s, s.close(uint64(wrong), 1))
		}
	}
	s.then(s.close(id, 1))
	c.add("not_open", "a deal after the close", "not_open", s, s.deal(id, 1, 1))
	c.add("not_open", "a mix after the close", "not_open", s, s.mix(id, slot))
	c.add("not_open", "a second close", "not_open", s, s.close(id, 1))
	c.add("not_open", "a second close as void", "not_open", s, s.close(id, 4, tapeLost))
	c.add("not_open", "expired after the close", "not_open", s, at(closeBy, s.close(id, 5)))
	c.add("not_open", "a close of an undealt shuffle", holds, m, m.close(mixed, 2))
}

func (c legalityCases) earlierSerial() {
	s := newStory()
	slot, plan := storySlot("t", 0)
	one, two := s.then(s.commit("t")), s.then(s.commit("t", planned(plan)))
	other, three := s.then(s.commit("u")), s.then(s.commit("t"))
	add := func(name, rule string, next refEntry) { c.add("earlier_serial", name, rule, s, next) }
	add("the first serial", holds, s.deal(one, 0, 1))
	add("a deal of the second", "earlier_serial", s.deal(three, 0, 1))
	add("a mix of the second", "earlier_serial", s.mix(two, slot))
	add("another table is another count", holds, s.deal(other, 0, 1))
	add("a close needs no turn", holds, s.close(three, 2))
	s.then(s.deal(one, 0, 1))
	add("the second after a deal of the first", holds, s.mix(two, slot))
	add("the third after a deal of the first", "earlier_serial", s.deal(three, 0, 1))
	s.then(s.mix(two, slot))
	add("the third after a mix of the second", "earlier_serial", s.deal(three, 0, 1))
	s.then(s.close(two, 4, void(8)))
	add("the third after a close in the middle", holds, s.deal(three, 0, 1))
	s.then(s.deal(three, 0, 1))
	add("the first goes on after the third began", holds, s.deal(one, 1, 1))
}

// closedOver is a story with shuffles that a close of their table set aside, undealt and mixed, and with one of each
// kind that it did not: one that was dealt from, an undealt child, an order. The tables are open again.
func closedOver() (s *story, undealt, mixed, begun, kid, order uint64) {
	s = newStory()
	slot, plan := storySlot("u", 0)
	root := s.then(s.commit("t"))
	s.then(s.deal(root, 0, 1))
	kid = s.continued(root, 2, 1)
	begun, order = s.then(s.commit("u")), s.then(s.commit("o", forLedger))
	s.then(s.deal(begun, 0, 1))
	mixed = s.then(s.commit("u", planned(plan)))
	s.then(s.mix(mixed, slot))
	undealt = s.then(s.commit("u", planned(plan)))
	for _, table := range []string{"t", "u", "o"} {
		s.then(operator(refEvent{Kind: 3, Table: table}))
		s.then(operator(refEvent{Kind: 2, Table: table}))
	}
	return s, undealt, mixed, begun, kid, order
}

func (c legalityCases) setAside() {
	s, undealt, mixed, begun, kid, order := closedOver()
	slot, _ := storySlot("u", 0)
	add := func(name, rule string, next refEntry) { c.add("set_aside", name, rule, s, next) }
	add("a mix of what was set aside", "set_aside", s.mix(undealt, slot))
	add("a deal of a mixed one that was set aside", "set_aside", s.deal(mixed, 0, 1))
	add("two rules: a deal before its mix", "set_aside", s.deal(undealt, 0, 1))
	add("a takeover of what was set aside", holds, s.takeover(undealt, "dealer-2", 2))
	add("what was set aside ends as void", holds, s.close(mixed, 4, void(8)))
	expired := of("daemon", s.close(undealt, 5))
	expired.Time = s.entries[undealt].Commit.CloseBy
	add("what was set aside expires", holds, expired)
	add("one that was dealt from goes on", holds, s.deal(begun, 1, 1))
	add("a child that was not dealt from begins", holds, s.deal(kid, 0, 1))
	add("an order that was not dealt from begins", holds, s.deal(order, 0, 1, askedFor))
	c.add("parent", "a child of what was set aside", "parent", s, s.commit("u", child(mixed, 0, 1)))
	c.add("parent", "a child of one that was dealt from before the close", holds, s, s.commit("u", child(begun, 0, 1)))
	next := s.then(s.commit("o"))
	c.add("earlier_serial", "an order that was not set aside holds up others", "earlier_serial", s, s.deal(next, 0, 1))
	next = s.then(s.commit("u"))
	c.add("earlier_serial", "what was set aside holds up nothing", holds, s, s.deal(next, 0, 1))
	s.then(operator(refEvent{Kind: 3, Table: "u"}))
	add("the next close sets aside what came since", "set_aside", s.deal(next, 0, 1))
}

func (c legalityCases) mixes() {
	s := newStory()
	v0, p0 := storySlot("t", 0)
	v1, p1 := storySlot("t", 1)
	light, cut := refValue{Source: 2, Value: bytesOf("beacon", 48)},
		func(n uint64) refValue { return refValue{Source: 3, Cut: n} }
	id := s.then(s.commit("t", planned(p0, p1, beacon(7), refSource{Source: 3})))
	add := func(name, rule string, next refEntry) { c.add("mix", name, rule, s, next) }
	add("every value in order", holds, s.mix(id, v0, v1, light, cut(0)))
	add("a cut at place m − 1", holds, s.mix(id, v0, v1, light, cut(3)))
	add("a cut at place m", "mix", s.mix(id, v0, v1, light, cut(4)))
	add("slots in the other order", "mix", s.mix(id, v1, v0, light, cut(0)))
	add("a slot twice", "mix", s.mix(id, v0, v0, light, cut(0)))
	add("another slot's bytes", "mix", s.mix(id, v0, refValue{Source: 1, Value: bytesOf("x", 32)}, light, cut(0)))
	add("the slot hash in place of the bytes", "mix", s.mix(id, refValue{Source: 1, Value: p0.Slot}, v1, light, cut(0)))
	add("no cut", "mix", s.mix(id, v0, v1, light))
	add("no beacon", "mix", s.mix(id, v0, v1, cut(0)))
	add("a slot less", "mix", s.mix(id, v0, light, cut(0)))
	add("a value more", "mix", s.mix(id, v0, v1, light, cut(0), cut(1)))
	add("sources in another order", "mix", s.mix(id, v0, v1, cut(0), light))
	add("a deal before the mix", "mix", s.deal(id, 0, 1))
	add("a close before the mix", holds, s.close(id, 4, void(8)))
	s.then(s.mix(id, v0, v1, light, cut(1)))
	add("a second mix", "mix", s.mix(id, v0, v1, light, cut(1)))
	add("a deal after the mix", holds, s.deal(id, 0, 4))
	s.then(s.deal(id, 0, 1))
	add("a second mix after a deal", "mix", s.mix(id, v0, v1, light, cut(1)))
	plain := s.then(s.commit("t"))
	add("a mix without a plan", "mix", s.mix(plain, cut(0)))
	wheel := s.then(s.commit("w", draws(6, 37), planned(beacon(7))))
	add("a draw list", holds, s.mix(wheel, light))
	u, pu := storySlot("u", 0)
	elsewhere := s.then(s.commit("u", planned(pu)))
	add("a slot of the table", holds, s.mix(elsewhere, u))
	wrong := s.then(s.commit("v", planned(p0)))
	add("a slot of another table", "mix", s.mix(wrong, v0))
}

func (c legalityCases) places() {
	s, id := dealt()
	c.add("place", "the next place", holds, s, s.deal(id, 1, 1))
	c.add("place", "a place again", "place", s, s.deal(id, 0, 1))
	c.add("place", "a place left out", "place", s, s.deal(id, 2, 1))
	fresh := newStory()
	first := fresh.then(fresh.commit("t", func(c *refContext) { c.Take = 3 }))
	c.add("place", "the first deal starts at 0", holds, fresh, fresh.deal(first, 0, 1))
	c.add("place", "the first deal starts at 1", "place", fresh, fresh.deal(first, 1, 1))
	c.add("places", "all that were taken", holds, fresh, fresh.deal(first, 0, 3))
	c.add("places", "one more than were taken", "places", fresh, fresh.deal(first, 0, 4))
	order := func(count uint64, after ...refRun) func(*refDeal) {
		return func(d *refDeal) { d.Runs = append(append(d.Runs, refRun{Cards: count, Purpose: 6}), after...) }
	}
	c.add("places", "an order of the rest", holds, fresh, fresh.deal(first, 0, 1, order(2)))
	c.add("places", "an order that leaves a place", "places", fresh, fresh.deal(first, 0, 1, order(1)))
	c.add("places", "an order in front of another run", "places", fresh,
		fresh.deal(first, 0, 1, order(1, refRun{Cards: 1, Purpose: 3})))
	c.add("places", "two runs that end past the last place", "places", fresh,
		fresh.deal(first, 0, 2, func(d *refDeal) { d.Runs = append(d.Runs, d.Runs[0]) }))
	fresh.then(fresh.deal(first, 0, 3))
	c.add("places", "a deal when all are dealt", "places", fresh, fresh.deal(first, 3, 1))
	wheel := fresh.then(fresh.commit("w", draws(6, 6, 37)))
	c.add("places", "all draws of a list", holds, fresh, fresh.deal(wheel, 0, 3))
	c.add("places", "one more than a list has", "places", fresh, fresh.deal(wheel, 0, 4))
	shoe := fresh.then(fresh.commit("t", func(c *refContext) { c.EndAt = refEndAt{Form: 1, Place: 2} }))
	c.add("places", "past the cut card: it forbids nothing", holds, fresh, fresh.deal(shoe, 0, 4))
}

// rounds: a run has the round of the run before it, or the next one. 0 stands before the first.
func (c legalityCases) rounds() {
	of := func(numbers ...uint64) func(*refDeal) {
		return func(d *refDeal) {
			d.Runs = nil
			for _, n := range numbers {
				d.Runs = append(d.Runs, refRun{Cards: 1, Purpose: 3, Round: n})
			}
		}
	}
	s := newStory()
	id := s.then(s.commit("t"))
	add := func(name, want string, next refEntry) { c.add("round", name, want, s, next) }
	add("a first run of round 1", holds, s.deal(id, 0, 0, of(1)))
	add("a first run of round 2", "round", s.deal(id, 0, 0, of(2)))
	add("a run of none behind round 1", "round", s.deal(id, 0, 0, of(1, 0)))
	s.then(s.deal(id, 0, 0, of(1, 2)))
	add("the round goes on in the next deal", holds, s.deal(id, 2, 0, of(2)))
	add("a round left out between deals", "round", s.deal(id, 2, 0, of(4)))
	kid := s.continued(id, 2, 0)
	last := s.continued(kid, 1, 0)
	add("a child's child goes on with the round", holds, s.deal(last, 0, 0, of(2, 3)))
	add("a child's child begins anew", "round", s.deal(last, 0, 0, of(1)))
}

// checkpoints: the rule is the same whichever checkpoint the genesis asks for.
func (c legalityCases) checkpoints() {
	slot, plan := storySlot("u", 0)
	for _, s := range []*story{newStory(), newStory(cosignedDeals)} {
		add := func(name, want string, e refEntry) {
			of := []string{"", "signed: ", "cosigned: "}[s.genesis().Deals]
			c.add("checkpoint", of+name, want, s, e)
		}
		id := s.then(s.commit("t"))                   // entry 2
		mixed := s.then(s.commit("u", planned(plan))) // entry 3
		add("a deal names none", "checkpoint", s.deal(id, 0, 1, under(0)))
		add("a size that ends at the commit", "checkpoint", s.deal(id, 0, 1, under(id)))
		add("a size that covers the commit", holds, s.deal(id, 0, 1, under(id+1)))
		add("a size of all entries below", holds, s.deal(id, 0, 1, under(4)))
		add("a size above all entries below", "checkpoint", s.deal(id, 0, 1, under(5)))
		s.then(s.deal(id, 0, 1, under(3)))
		add("every deal needs one", "checkpoint", s.deal(id, 1, 1, under(0)))
		add("an older one than the deal before", holds, s.deal(id, 1, 1, under(3)))
		mix := func(size uint64) refEntry { e := s.mix(mixed, slot); e.Mix.Checkpoint = size; return e }
		add("a mix names none", "checkpoint", mix(0))
		add("a mix names a size that ends at the commit", "checkpoint", mix(mixed))
		add("a mix names a size that covers the commit", holds, mix(mixed+1))
		add("a mix names all entries below", holds, mix(5))
		add("a mix names more", "checkpoint", mix(6))
	}
}

func (c legalityCases) outcomes() {
	s, id := dealt()
	c.add("outcome", "completed", holds, s, s.close(id, 1))
	c.add("outcome", "ended_early", holds, s, s.close(id, 2))
	c.add("outcome", "void", holds, s, s.close(id, 4, void(7)))
	c.add("outcome", "continued without a child", "outcome", s, s.close(id, 3))
	s.then(s.commit("t", child(id, 1, 2)))
	s.then(s.close(id, 3))
	kid := uint64(len(s.entries) - 2)
	c.add("outcome", "continued for the child, whose own child there is none", "outcome", s, s.close(kid, 3))
}

// entries: a close counts the entries of its shuffle, and no others.
func (c legalityCases) entries() {
	slot, plan := storySlot("t", 0)
	s := newStory(withTwo())
	id := s.then(s.commit("t", planned(plan)))
	other := s.then(s.commit("u"))
	count := func(n uint16) func(*refClose) { return func(c *refClose) { c.Entries = n } }
	add := func(name string, want uint16) {
		c.add("entries", name, holds, s, s.close(id, 4, void(1), count(want)))
		if want > 1 { // a story counts where it says 0
			c.add("entries", name+", one less", "entries", s, s.close(id, 4, void(1), count(want-1)))
		}
		c.add("entries", name+", one more", "entries", s, s.close(id, 4, void(1), count(want+1)))
	}
	add("a commit", 1)
	s.then(s.mix(id, slot))
	add("a mix", 2)
	s.then(s.deal(id, 0, 2))
	s.then(s.deal(other, 0, 1))
	add("a deal, and one of another", 3)
	s.then(s.reveal(id, []uint64{1}, exposed))
	add("a reveal", 4)
	s.then(s.takeover(id, "dealer-2", 1))
	c.add("entries", "a takeover", holds, s, of("dealer-2", s.close(id, 4, void(1), count(5))))
	c.add("entries", "a lost tape", "entries", s, of("dealer-2", s.close(id, 4, tapeLost, count(4))))
	s, id = dealt()
	s.then(s.commit("t", child(id, 1, 2)))
	c.add("entries", "continued, and the child's commit not counted", holds, s, s.close(id, 3, count(2)))
	c.add("entries", "continued, and the child's commit counted", "entries", s, s.close(id, 3, count(3)))
	s.then(s.close(id, 3))
	s.then(s.close(uint64(len(s.entries)-2), 1))
	counted := func(n uint16) func(*refDisclose) { return func(d *refDisclose) { d.Entries = n } }
	c.add("entries", "a disclosure behind its close", holds, s, s.disclose(id, counted(3)))
	c.add("entries", "a disclosure without its close", "entries", s, s.disclose(id, counted(2)))
	c.add("entries", "a disclosure of a lost tape", "entries", s, s.disclose(id, counted(2), lostTape))
}

func (c legalityCases) forms() {
	length := func(n int) func(*refClose) { return func(c *refClose) { c.Tape = bytesOf("tape", len(c.Tape)+n) } }
	s, id := dealt()
	add := func(name, rule string, s *story, next refEntry) { c.add("form", name, rule, s, next) }
	add("public: a tape of L bytes", holds, s, s.close(id, 1))
	add("public: a byte short", "form", s, s.close(id, 1, length(-1)))
	add("public: a byte long", "form", s, s.close(id, 1, length(1)))
	add("public: sealed", "form", s, s.close(id, 1, sealed(1)))
	add("public: a tape as long as a sealed one", "form", s, s.close(id, 1, length(81)))
	add("public: tape_lost", holds, s, s.close(id, 4, tapeLost))
	add("public: another tape of L bytes is legal and fails at `tape`", holds, s, s.close(id, 1, length(0)))

	shoe := newStory()
	drawn := func(c *refContext) { c.Cards, c.Take, c.EndAt = 90, 90, refEndAt{Form: 2, Lo: 3, Hi: 80} }
	fixed := func(c *refContext) { c.Cards, c.Take, c.EndAt = 90, 90, refEndAt{Form: 1, Place: 80} }
	id, fix := shoe.then(shoe.commit("t", drawn)), shoe.then(shoe.commit("t", fixed))
	add("drawn end_at: L counts its two bytes and half again", holds, shoe, shoe.close(id, 1))
	add("drawn end_at: L of the cards alone", "form", shoe, shoe.close(id, 1, length(-3)))
	add("fixed end_at: it takes no byte", holds, shoe, shoe.close(fix, 1))
	add("fixed end_at: L of a drawn one", "form", shoe, shoe.close(fix, 1, length(3)))
	taken := shoe.then(shoe.commit("t", func(c *refContext) { c.Take = 1 }))
	add("one of four cards: L of one draw", holds, shoe, shoe.close(taken, 1))
	add("one of four cards: L of all four", "form", shoe, shoe.close(taken, 1, length(3)))
	wheel := shoe.then(shoe.commit("w", draws(1, 6, 300)))
	add("a draw list: L of its ranges", holds, shoe, shoe.close(wheel, 1))
	add("a draw list: a byte short", "form", shoe, shoe.close(wheel, 1, length(-1)))

	a := newStory(withAuditors("1"))
	key := a.then(a.disclosure("1", "1"))
	id = a.then(a.commit("t", toAuditors))
	add("auditor: L + 81 bytes", holds, a, a.close(id, 1, sealed(key)))
	add("auditor: a byte short", "form", a, a.close(id, 1, sealed(key), length(-1)))
	add("auditor: a byte long", "form", a, a.close(id, 1, sealed(key), length(1)))
	add("auditor: in the clear", "form", a, a.close(id, 1))
	add("auditor: in the clear, as long as a sealed one", "form", a, a.close(id, 1, length(81)))
	add("auditor: tape_lost", holds, a, a.close(id, 4, tapeLost))
	add("auditor: void", holds, a, a.close(id, 4, void(9), sealed(key)))
}

// numbers: the rules of numbers without repeats.
func (c legalityCases) numbers() {
	s := newStory()
	keno := s.then(s.commit("k", numbers(80, 3)))
	all := func(rule string) func(name, want string, next refEntry) {
		return func(name, want string, next refEntry) { c.add(rule, "numbers: "+name, want, s, next) }
	}
	places, form := all("places"), all("form")
	more := func(purpose uint8, public bool) func(*refDeal) {
		return func(d *refDeal) { d.Runs = append(d.Runs, refRun{Cards: 2, Purpose: purpose, Public: public}) }
	}
	places("all, public", holds, s.deal(keno, 0, 3, inPublic))
	places("not public", "places", s.deal(keno, 0, 3))
	places("a second run that is not public", "places", s.deal(keno, 0, 1, inPublic, more(1, false)))
	places("an order, public", holds, s.deal(keno, 0, 1, inPublic, more(6, true)))
	places("an order that is not public", "places", s.deal(keno, 0, 1, inPublic, more(6, false)))
	places("one more than were taken", "places", s.deal(keno, 0, 4, inPublic))
	form("L of their draws", holds, s.close(keno, 1))
	form("a byte long", "form", s.close(keno, 1, func(c *refClose) { c.Tape = bytesOf("tape", len(c.Tape)+1) }))
	planned := s.then(s.commit("k2", numbers(80, 20), planned(beacon(7))))
	all("mix")("a beacon", holds, s.mix(planned, refValue{Source: 2, Value: bytesOf("beacon", 48)}))
	all("parent")("for a parent", "parent", s.commit("k", child(keno, 0, 1)))
	s.then(killSwitch(true, 3, "", make(hexed, 32)))
	all("kill")("they have no deck hash, not even of zeros", holds, s.commit("k3", numbers(80, 20)))
}

// Cases of reveals.

// handDealt is a story with one shuffle of six cards, of which five are dealt: a public
// one, two to a seat, a burn, a discard.
func handDealt() (*story, uint64) {
	s := newStory()
	id := s.then(s.commit("t", func(c *refContext) { c.Cards, c.Take = 6, 6 }))
	s.then(s.deal(id, 0, 0, runs(refRun{Cards: 1, Purpose: 2, Public: true},
		refRun{Cards: 2, Purpose: 1, Recipient: "seat-1"}, refRun{Cards: 1, Purpose: 3}, refRun{Cards: 1, Purpose: 4})))
	return s, id
}

func (c legalityCases) reveals() {
	s, id := handDealt()
	add := func(name, rule string, s *story, next refEntry) { c.add("reveal", name, rule, s, next) }
	places := func(list ...uint64) []uint64 { return list }
	add("a card of a seat", holds, s, s.reveal(id, places(1)))
	add("both cards of a seat", holds, s, s.reveal(id, places(1, 2)))
	add("a place that was dealt public", "reveal", s, s.reveal(id, places(0)))
	add("a place that was dealt public, as exposed", "reveal", s, s.reveal(id, places(0), exposed))
	add("a place that was dealt public and one that was not", "reveal", s, s.reveal(id, places(0, 1)))
	add("the next place, which was not dealt", "reveal", s, s.reveal(id, places(5)))
	add("the next place, as exposed and final", "reveal", s, s.reveal(id, places(5), exposed, finalReveal))
	add("the last place there can be", "reveal", s, s.reveal(id, places(4095)))
	for i, what := range []string{"a burn", "a discard"} {
		p := uint64(3 + i)
		add(what+" during play", "reveal", s, s.reveal(id, places(p)))
		add(what+" and a card of a seat during play", "reveal", s, s.reveal(id, places(1, p)))
		add(what+" as exposed", holds, s, s.reveal(id, places(p), exposed))
		add(what+" in front of the close", holds, s, s.reveal(id, places(p), finalReveal))
	}
	add("a card of a seat as exposed", holds, s, s.reveal(id, places(1), exposed))
	c.add("owner", "a reveal by another", "owner", s, of("dealer-2", s.reveal(id, places(1))))
	c.add("owner", "a reveal by the daemon", "owner", s, of("daemon", s.reveal(id, places(1))))
	c.add("owner", "two rules: a reveal by another of a place that was not dealt", "owner", s,
		of("dealer-2", s.reveal(id, places(5))))
	late := func(by uint64) refEntry {
		e := s.reveal(id, places(1))
		e.Time = s.entries[id].Commit.CloseBy + by - 1
		return e
	}
	c.add("deadline", "a reveal a millisecond before close-by", holds, s, late(0))
	c.add("deadline", "a reveal at close-by", "deadline", s, late(1))
	c.add("not_open", "a reveal of an event", "not_open", s, s.reveal(1, places(0)))
	c.add("not_open", "a reveal of a later index", "not_open", s, s.reveal(9, places(0)))

	s.then(s.reveal(id, places(1)))
	add("a place again", "reveal", s, s.reveal(id, places(1)))
	add("a place again, in front of the close", "reveal", s, s.reveal(id, places(1, 2), finalReveal))
	add("another place", holds, s, s.reveal(id, places(2)))
	s.then(s.deal(id, 5, 1))
	add("a place that was dealt after a reveal, a burn", "reveal", s, s.reveal(id, places(5)))
	add("a place that was dealt after a reveal, as exposed", holds, s, s.reveal(id, places(5), exposed))
	s.then(s.reveal(id, places(3, 5), exposed))
	add("a burn again", "reveal", s, s.reveal(id, places(3), exposed))
	add("the discard as exposed, the burns being public", holds, s, s.reveal(id, places(4), exposed))
	closed := s.close(id, 1)
	c.add("pair", "a close after a reveal", holds, s, closed)
	s.then(closed)
	c.add("not_open", "a reveal after the close", "not_open", s, s.reveal(id, places(2)))

	s, id = handDealt()
	s.then(s.takeover(id, "dealer-2", 1))
	c.add("owner", "a reveal by an owner that may only close", "owner", s, of("dealer-2", s.reveal(id, places(1))))
	c.add("owner", "a reveal by the earlier owner", "owner", s, s.reveal(id, places(1)))
	s.then(s.takeover(id, "dealer-2", 2))
	c.add("owner", "a reveal by the owner that plays", holds, s, of("dealer-2", s.reveal(id, places(1))))

	wheel := newStory()
	drawn := wheel.then(wheel.commit("w", draws(37, 6)))
	add("of a shuffle that was not dealt from", "reveal", wheel, wheel.reveal(drawn, places(0)))
	wheel.then(wheel.deal(drawn, 0, 0, runs(refRun{Cards: 2, Purpose: 6})))
	add("a value of a draw list that was handed over as an order", holds, wheel, wheel.reveal(drawn, places(1)))
	odd, id := handDealt()
	odd.then(odd.deal(id, 5, 0, runs(refRun{Cards: 1, Purpose: 200})))
	add("a place of a purpose that is passed over", holds, odd, odd.reveal(id, places(5)))
	c.finalReveals()
	c.revealsOfAncestors()
}

func (c legalityCases) finalReveals() {
	s, id := handDealt()
	add := func(name, rule string, s *story, next refEntry) { c.add("pair", name, rule, s, next) }
	other := s.then(s.commit("u"))
	s.then(s.deal(other, 0, 0, runs(refRun{Cards: 1, Purpose: 1, Recipient: "seat-1"})))
	places := []uint64{1}
	q := *s
	q.entries = q.entries[:len(q.entries):len(q.entries)]
	s.then(s.deal(id, 5, 1, final))
	add("a final reveal after a final deal", holds, s, s.reveal(id, places, finalReveal))
	add("a reveal that is not final after a final deal", "pair", s, s.reveal(id, places))
	add("a reveal as exposed that is not final after a final deal", "pair", s, s.reveal(id, places, exposed))
	add("a final reveal of another shuffle after a final deal", "pair", s, s.reveal(other, []uint64{0}, finalReveal))
	c.add("owner", "a final reveal by another after a final deal", "owner", s,
		of("dealer-2", s.reveal(id, places, finalReveal)))
	s.then(s.reveal(id, []uint64{1, 3, 5}, finalReveal))
	add("the close after a final deal and a final reveal", holds, s, s.close(id, 1))
	add("void after a final deal and a final reveal", holds, s, s.close(id, 4, void(1)))
	add("tape_lost after a final deal and a final reveal", holds, s, s.close(id, 4, tapeLost))
	add("a second final reveal", "pair", s, s.reveal(id, []uint64{2}, finalReveal))
	add("another close after a final reveal", "pair", s, s.close(other, 1))
	add("continued after a final reveal", "pair", s, s.close(id, 3))

	q.then(q.reveal(id, places, finalReveal))
	add("the close after a final reveal", holds, &q, q.close(id, 1))
	add("a deal after a final reveal", "pair", &q, q.deal(id, 5, 1))
	add("a deal of another shuffle after a final reveal", "pair", &q, q.deal(other, 1, 1))
	add("a commit after a final reveal", "pair", &q, q.commit("v"))
	add("a takeover after a final reveal", "pair", &q, q.takeover(id, "dealer-2", 1))

	p, id := handDealt()
	p.then(p.commit("t", child(id, 5, 4)))
	add("a final reveal of the parent after a child's commit", "pair", p, p.reveal(id, places, finalReveal))
	add("a final reveal of the child after its commit", "pair", p, p.reveal(id+2, places, finalReveal))
}
