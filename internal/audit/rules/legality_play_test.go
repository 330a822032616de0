package rules

import "shuffled/internal/audit/spec"

// Cases of mixes, deals and closes.

func (c legalityCases) openAndInTime() {
	s, id := dealt()
	closeBy := s.Entries[id].Commit.CloseBy
	at := func(time uint64, e spec.Entry) spec.Entry { e.Time = time; return e }
	slot, plan := spec.StorySlot("t", 0)
	m := spec.NewStory()
	mixed := m.Then(m.Commit("t", spec.Planned(plan)))
	c.add("deadline", "a deal a millisecond before close-by", holds, s, at(closeBy-1, s.Deal(id, 1, 1)))
	c.add("deadline", "a deal at close-by", "deadline", s, at(closeBy, s.Deal(id, 1, 1)))
	c.add("deadline", "a mix a millisecond before close-by", holds, m, at(closeBy-1, m.Mix(mixed, slot)))
	c.add("deadline", "a mix at close-by", "deadline", m, at(closeBy, m.Mix(mixed, slot)))
	c.add("deadline", "completed a millisecond before close-by", holds, s, at(closeBy-1, s.Close(id, 1)))
	c.add("deadline", "completed at close-by", "deadline", s, at(closeBy, s.Close(id, 1)))
	c.add("deadline", "void at close-by", "deadline", s, at(closeBy, s.Close(id, 4, spec.Void(1))))
	c.add("deadline", "expired a millisecond before close-by", "deadline", s, at(closeBy-1, s.Close(id, 5)))
	c.add("deadline", "expired at close-by", holds, s, at(closeBy, s.Close(id, 5)))
	c.add("deadline", "expired long after close-by", holds, s, at(closeBy+1_000_000, s.Close(id, 5)))
	c.add("deadline", "expired before anything was dealt", holds, m, at(closeBy, m.Close(mixed, 5)))
	c.add("deadline", "tape_lost before close-by", holds, s, at(closeBy-1, s.Close(id, 4, spec.TapeLost)))
	c.add("deadline", "tape_lost after close-by: without its tape nothing expires", holds, s,
		at(closeBy+1, s.Close(id, 4, spec.TapeLost)))

	for wrong, name := range []string{0: "the genesis", 1: "an event", 3: "a deal", 4: "the next index",
		9: "a later index"} {
		if name != "" {
			c.add("not_open", "a deal of "+name, "not_open", s, s.Deal(uint64(wrong), 0, 1))
			c.add("not_open", "a mix of "+name, "not_open", s, s.Mix(uint64(wrong), slot))
			c.add("not_open", "a close of "+name, "not_open", s, s.Close(uint64(wrong), 1))
		}
	}
	s.Then(s.Close(id, 1))
	c.add("not_open", "a deal after the close", "not_open", s, s.Deal(id, 1, 1))
	c.add("not_open", "a mix after the close", "not_open", s, s.Mix(id, slot))
	c.add("not_open", "a second close", "not_open", s, s.Close(id, 1))
	c.add("not_open", "a second close as void", "not_open", s, s.Close(id, 4, spec.TapeLost))
	c.add("not_open", "expired after the close", "not_open", s, at(closeBy, s.Close(id, 5)))
	c.add("not_open", "a close of an undealt shuffle", holds, m, m.Close(mixed, 2))
}

func (c legalityCases) earlierSerial() {
	s := spec.NewStory()
	slot, plan := spec.StorySlot("t", 0)
	one, two := s.Then(s.Commit("t")), s.Then(s.Commit("t", spec.Planned(plan)))
	other, three := s.Then(s.Commit("u")), s.Then(s.Commit("t"))
	add := func(name, rule string, next spec.Entry) { c.add("earlier_serial", name, rule, s, next) }
	add("the first serial", holds, s.Deal(one, 0, 1))
	add("a deal of the second", "earlier_serial", s.Deal(three, 0, 1))
	add("a mix of the second", "earlier_serial", s.Mix(two, slot))
	add("another table is another count", holds, s.Deal(other, 0, 1))
	add("a close needs no turn", holds, s.Close(three, 2))
	s.Then(s.Deal(one, 0, 1))
	add("the second after a deal of the first", holds, s.Mix(two, slot))
	add("the third after a deal of the first", "earlier_serial", s.Deal(three, 0, 1))
	s.Then(s.Mix(two, slot))
	add("the third after a mix of the second", "earlier_serial", s.Deal(three, 0, 1))
	s.Then(s.Close(two, 4, spec.Void(8)))
	add("the third after a close in the middle", holds, s.Deal(three, 0, 1))
	s.Then(s.Deal(three, 0, 1))
	add("the first goes on after the third began", holds, s.Deal(one, 1, 1))
}

// closedOver is a story with shuffles that a close of their table set aside, undealt and mixed, and with one of each
// kind that it did not: one that was dealt from, an undealt child, an order. The tables are open again.
func closedOver() (s *spec.Story, undealt, mixed, begun, kid, order uint64) {
	s = spec.NewStory()
	slot, plan := spec.StorySlot("u", 0)
	root := s.Then(s.Commit("t"))
	s.Then(s.Deal(root, 0, 1))
	kid = s.Continued(root, 2, 1)
	begun, order = s.Then(s.Commit("u")), s.Then(s.Commit("o", forLedger))
	s.Then(s.Deal(begun, 0, 1))
	mixed = s.Then(s.Commit("u", spec.Planned(plan)))
	s.Then(s.Mix(mixed, slot))
	undealt = s.Then(s.Commit("u", spec.Planned(plan)))
	for _, table := range []string{"t", "u", "o"} {
		s.Then(spec.Operator(spec.Event{Kind: 3, Table: table}))
		s.Then(spec.Operator(spec.Event{Kind: 2, Table: table}))
	}
	return s, undealt, mixed, begun, kid, order
}

func (c legalityCases) setAside() {
	s, undealt, mixed, begun, kid, order := closedOver()
	slot, _ := spec.StorySlot("u", 0)
	add := func(name, rule string, next spec.Entry) { c.add("set_aside", name, rule, s, next) }
	add("a mix of what was set aside", "set_aside", s.Mix(undealt, slot))
	add("a deal of a mixed one that was set aside", "set_aside", s.Deal(mixed, 0, 1))
	add("two rules: a deal before its mix", "set_aside", s.Deal(undealt, 0, 1))
	add("a takeover of what was set aside", holds, s.Takeover(undealt, "dealer-2", 2))
	add("what was set aside ends as void", holds, s.Close(mixed, 4, spec.Void(8)))
	expired := spec.Of("daemon", s.Close(undealt, 5))
	expired.Time = s.Entries[undealt].Commit.CloseBy
	add("what was set aside expires", holds, expired)
	add("one that was dealt from goes on", holds, s.Deal(begun, 1, 1))
	add("a child that was not dealt from begins", holds, s.Deal(kid, 0, 1))
	add("an order that was not dealt from begins", holds, s.Deal(order, 0, 1, askedFor))
	c.add("parent", "a child of what was set aside", "parent", s, s.Commit("u", spec.ChildOf(mixed, 0, 1)))
	c.add("parent", "a child of one that was dealt from before the close", holds, s, s.Commit("u", spec.ChildOf(begun, 0, 1)))
	next := s.Then(s.Commit("o"))
	c.add("earlier_serial", "an order that was not set aside holds up others", "earlier_serial", s, s.Deal(next, 0, 1))
	next = s.Then(s.Commit("u"))
	c.add("earlier_serial", "what was set aside holds up nothing", holds, s, s.Deal(next, 0, 1))
	s.Then(spec.Operator(spec.Event{Kind: 3, Table: "u"}))
	add("the next close sets aside what came since", "set_aside", s.Deal(next, 0, 1))
}

func (c legalityCases) mixes() {
	s := spec.NewStory()
	v0, p0 := spec.StorySlot("t", 0)
	v1, p1 := spec.StorySlot("t", 1)
	light, cut := spec.Value{Source: 2, Value: spec.BytesOf("beacon", 48)},
		func(n uint64) spec.Value { return spec.Value{Source: 3, Cut: n} }
	id := s.Then(s.Commit("t", spec.Planned(p0, p1, spec.Beacon(7), spec.Source{Source: 3})))
	add := func(name, rule string, next spec.Entry) { c.add("mix", name, rule, s, next) }
	add("every value in order", holds, s.Mix(id, v0, v1, light, cut(0)))
	add("a cut at place m − 1", holds, s.Mix(id, v0, v1, light, cut(3)))
	add("a cut at place m", "mix", s.Mix(id, v0, v1, light, cut(4)))
	add("slots in the other order", "mix", s.Mix(id, v1, v0, light, cut(0)))
	add("a slot twice", "mix", s.Mix(id, v0, v0, light, cut(0)))
	add("another slot's bytes", "mix", s.Mix(id, v0, spec.Value{Source: 1, Value: spec.BytesOf("x", 32)}, light,
		cut(0)))
	add("the slot hash in place of the bytes", "mix", s.Mix(id, spec.Value{Source: 1, Value: p0.Slot}, v1, light,
		cut(0)))
	add("no cut", "mix", s.Mix(id, v0, v1, light))
	add("no beacon", "mix", s.Mix(id, v0, v1, cut(0)))
	add("a slot less", "mix", s.Mix(id, v0, light, cut(0)))
	add("a value more", "mix", s.Mix(id, v0, v1, light, cut(0), cut(1)))
	add("sources in another order", "mix", s.Mix(id, v0, v1, cut(0), light))
	add("a deal before the mix", "mix", s.Deal(id, 0, 1))
	add("a close before the mix", holds, s.Close(id, 4, spec.Void(8)))
	s.Then(s.Mix(id, v0, v1, light, cut(1)))
	add("a second mix", "mix", s.Mix(id, v0, v1, light, cut(1)))
	add("a deal after the mix", holds, s.Deal(id, 0, 4))
	s.Then(s.Deal(id, 0, 1))
	add("a second mix after a deal", "mix", s.Mix(id, v0, v1, light, cut(1)))
	plain := s.Then(s.Commit("t"))
	add("a mix without a plan", "mix", s.Mix(plain, cut(0)))
	wheel := s.Then(s.Commit("w", spec.Draws(6, 37), spec.Planned(spec.Beacon(7))))
	add("a draw list", holds, s.Mix(wheel, light))
	u, pu := spec.StorySlot("u", 0)
	elsewhere := s.Then(s.Commit("u", spec.Planned(pu)))
	add("a slot of the table", holds, s.Mix(elsewhere, u))
	wrong := s.Then(s.Commit("v", spec.Planned(p0)))
	add("a slot of another table", "mix", s.Mix(wrong, v0))
}

func (c legalityCases) places() {
	s, id := dealt()
	c.add("place", "the next place", holds, s, s.Deal(id, 1, 1))
	c.add("place", "a place again", "place", s, s.Deal(id, 0, 1))
	c.add("place", "a place left out", "place", s, s.Deal(id, 2, 1))
	fresh := spec.NewStory()
	first := fresh.Then(fresh.Commit("t", func(c *spec.Context) { c.Take = 3 }))
	c.add("place", "the first deal starts at 0", holds, fresh, fresh.Deal(first, 0, 1))
	c.add("place", "the first deal starts at 1", "place", fresh, fresh.Deal(first, 1, 1))
	c.add("places", "all that were taken", holds, fresh, fresh.Deal(first, 0, 3))
	c.add("places", "one more than were taken", "places", fresh, fresh.Deal(first, 0, 4))
	order := func(count uint64, after ...spec.Run) func(*spec.Deal) {
		return func(d *spec.Deal) { d.Runs = append(append(d.Runs, spec.Run{Cards: count, Purpose: 6}), after...) }
	}
	c.add("places", "an order of the rest", holds, fresh, fresh.Deal(first, 0, 1, order(2)))
	c.add("places", "an order that leaves a place", "places", fresh, fresh.Deal(first, 0, 1, order(1)))
	c.add("places", "an order in front of another run", "places", fresh,
		fresh.Deal(first, 0, 1, order(1, spec.Run{Cards: 1, Purpose: 3})))
	c.add("places", "two runs that end past the last place", "places", fresh,
		fresh.Deal(first, 0, 2, func(d *spec.Deal) { d.Runs = append(d.Runs, d.Runs[0]) }))
	fresh.Then(fresh.Deal(first, 0, 3))
	c.add("places", "a deal when all are dealt", "places", fresh, fresh.Deal(first, 3, 1))
	wheel := fresh.Then(fresh.Commit("w", spec.Draws(6, 6, 37)))
	c.add("places", "all draws of a list", holds, fresh, fresh.Deal(wheel, 0, 3))
	c.add("places", "one more than a list has", "places", fresh, fresh.Deal(wheel, 0, 4))
	shoe := fresh.Then(fresh.Commit("t", func(c *spec.Context) { c.EndAt = spec.EndAt{Form: 1, Place: 2} }))
	c.add("places", "past the cut card: it forbids nothing", holds, fresh, fresh.Deal(shoe, 0, 4))
}

// rounds: a run has the round of the run before it, or the next one. 0 stands before the first.
func (c legalityCases) rounds() {
	of := func(numbers ...uint64) func(*spec.Deal) {
		return func(d *spec.Deal) {
			d.Runs = nil
			for _, n := range numbers {
				d.Runs = append(d.Runs, spec.Run{Cards: 1, Purpose: 3, Round: n})
			}
		}
	}
	s := spec.NewStory()
	id := s.Then(s.Commit("t"))
	add := func(name, want string, next spec.Entry) { c.add("round", name, want, s, next) }
	add("a first run of round 1", holds, s.Deal(id, 0, 0, of(1)))
	add("a first run of round 2", "round", s.Deal(id, 0, 0, of(2)))
	add("a run of none behind round 1", "round", s.Deal(id, 0, 0, of(1, 0)))
	s.Then(s.Deal(id, 0, 0, of(1, 2)))
	add("the round goes on in the next deal", holds, s.Deal(id, 2, 0, of(2)))
	add("a round left out between deals", "round", s.Deal(id, 2, 0, of(4)))
	kid := s.Continued(id, 2, 0)
	last := s.Continued(kid, 1, 0)
	add("a child's child goes on with the round", holds, s.Deal(last, 0, 0, of(2, 3)))
	add("a child's child begins anew", "round", s.Deal(last, 0, 0, of(1)))
}

// checkpoints: the rule is the same whichever checkpoint the genesis asks for.
func (c legalityCases) checkpoints() {
	slot, plan := spec.StorySlot("u", 0)
	for _, s := range []*spec.Story{spec.NewStory(), spec.NewStory(cosignedDeals)} {
		add := func(name, want string, e spec.Entry) {
			of := []string{"", "signed: ", "cosigned: "}[s.Genesis().Deals]
			c.add("checkpoint", of+name, want, s, e)
		}
		id := s.Then(s.Commit("t"))                        // entry 2
		mixed := s.Then(s.Commit("u", spec.Planned(plan))) // entry 3
		add("a deal names none", "checkpoint", s.Deal(id, 0, 1, spec.Under(0)))
		add("a size that ends at the commit", "checkpoint", s.Deal(id, 0, 1, spec.Under(id)))
		add("a size that covers the commit", holds, s.Deal(id, 0, 1, spec.Under(id+1)))
		add("a size of all entries below", holds, s.Deal(id, 0, 1, spec.Under(4)))
		add("a size above all entries below", "checkpoint", s.Deal(id, 0, 1, spec.Under(5)))
		s.Then(s.Deal(id, 0, 1, spec.Under(3)))
		add("every deal needs one", "checkpoint", s.Deal(id, 1, 1, spec.Under(0)))
		add("an older one than the deal before", holds, s.Deal(id, 1, 1, spec.Under(3)))
		mix := func(size uint64) spec.Entry { e := s.Mix(mixed, slot); e.Mix.Checkpoint = size; return e }
		add("a mix names none", "checkpoint", mix(0))
		add("a mix names a size that ends at the commit", "checkpoint", mix(mixed))
		add("a mix names a size that covers the commit", holds, mix(mixed+1))
		add("a mix names all entries below", holds, mix(5))
		add("a mix names more", "checkpoint", mix(6))
	}
}

func (c legalityCases) outcomes() {
	s, id := dealt()
	c.add("outcome", "completed", holds, s, s.Close(id, 1))
	c.add("outcome", "ended_early", holds, s, s.Close(id, 2))
	c.add("outcome", "void", holds, s, s.Close(id, 4, spec.Void(7)))
	c.add("outcome", "continued without a child", "outcome", s, s.Close(id, 3))
	s.Then(s.Commit("t", spec.ChildOf(id, 1, 2)))
	s.Then(s.Close(id, 3))
	kid := uint64(len(s.Entries) - 2)
	c.add("outcome", "continued for the child, whose own child there is none", "outcome", s, s.Close(kid, 3))
}

// entries: a close counts the entries of its shuffle, and no others.
func (c legalityCases) entries() {
	slot, plan := spec.StorySlot("t", 0)
	s := spec.NewStory(spec.WithTwo())
	id := s.Then(s.Commit("t", spec.Planned(plan)))
	other := s.Then(s.Commit("u"))
	count := func(n uint16) func(*spec.Close) { return func(c *spec.Close) { c.Entries = n } }
	add := func(name string, want uint16) {
		c.add("entries", name, holds, s, s.Close(id, 4, spec.Void(1), count(want)))
		if want > 1 { // a story counts where it says 0
			c.add("entries", name+", one less", "entries", s, s.Close(id, 4, spec.Void(1), count(want-1)))
		}
		c.add("entries", name+", one more", "entries", s, s.Close(id, 4, spec.Void(1), count(want+1)))
	}
	add("a commit", 1)
	s.Then(s.Mix(id, slot))
	add("a mix", 2)
	s.Then(s.Deal(id, 0, 2))
	s.Then(s.Deal(other, 0, 1))
	add("a deal, and one of another", 3)
	s.Then(s.Reveal(id, []uint64{1}, spec.Exposed))
	add("a reveal", 4)
	s.Then(s.Takeover(id, "dealer-2", 1))
	c.add("entries", "a takeover", holds, s, spec.Of("dealer-2", s.Close(id, 4, spec.Void(1), count(5))))
	c.add("entries", "a lost tape", "entries", s, spec.Of("dealer-2", s.Close(id, 4, spec.TapeLost, count(4))))
	s, id = dealt()
	s.Then(s.Commit("t", spec.ChildOf(id, 1, 2)))
	c.add("entries", "continued, and the child's commit not counted", holds, s, s.Close(id, 3, count(2)))
	c.add("entries", "continued, and the child's commit counted", "entries", s, s.Close(id, 3, count(3)))
	s.Then(s.Close(id, 3))
	s.Then(s.Close(uint64(len(s.Entries)-2), 1))
	counted := func(n uint16) func(*spec.Disclose) { return func(d *spec.Disclose) { d.Entries = n } }
	c.add("entries", "a disclosure behind its close", holds, s, s.Disclose(id, counted(3)))
	c.add("entries", "a disclosure without its close", "entries", s, s.Disclose(id, counted(2)))
	c.add("entries", "a disclosure of a lost tape", "entries", s, s.Disclose(id, counted(2), lostTape))
}

func (c legalityCases) forms() {
	length := func(n int) func(*spec.Close) {
		return func(c *spec.Close) { c.Tape = spec.BytesOf("tape", len(c.Tape)+n) }
	}
	s, id := dealt()
	add := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("form", name, rule, s, next) }
	add("public: a tape of L bytes", holds, s, s.Close(id, 1))
	add("public: a byte short", "form", s, s.Close(id, 1, length(-1)))
	add("public: a byte long", "form", s, s.Close(id, 1, length(1)))
	add("public: sealed", "form", s, s.Close(id, 1, spec.Sealed(1)))
	add("public: a tape as long as a sealed one", "form", s, s.Close(id, 1, length(81)))
	add("public: tape_lost", holds, s, s.Close(id, 4, spec.TapeLost))
	add("public: another tape of L bytes is legal and fails at `tape`", holds, s, s.Close(id, 1, length(0)))

	shoe := spec.NewStory()
	drawn := func(c *spec.Context) { c.Cards, c.Take, c.EndAt = 90, 90, spec.EndAt{Form: 2, Lo: 3, Hi: 80} }
	fixed := func(c *spec.Context) { c.Cards, c.Take, c.EndAt = 90, 90, spec.EndAt{Form: 1, Place: 80} }
	id, fix := shoe.Then(shoe.Commit("t", drawn)), shoe.Then(shoe.Commit("t", fixed))
	add("drawn end_at: L counts its two bytes and half again", holds, shoe, shoe.Close(id, 1))
	add("drawn end_at: L of the cards alone", "form", shoe, shoe.Close(id, 1, length(-3)))
	add("fixed end_at: it takes no byte", holds, shoe, shoe.Close(fix, 1))
	add("fixed end_at: L of a drawn one", "form", shoe, shoe.Close(fix, 1, length(3)))
	taken := shoe.Then(shoe.Commit("t", func(c *spec.Context) { c.Take = 1 }))
	add("one of four cards: L of one draw", holds, shoe, shoe.Close(taken, 1))
	add("one of four cards: L of all four", "form", shoe, shoe.Close(taken, 1, length(3)))
	wheel := shoe.Then(shoe.Commit("w", spec.Draws(1, 6, 300)))
	add("a draw list: L of its ranges", holds, shoe, shoe.Close(wheel, 1))
	add("a draw list: a byte short", "form", shoe, shoe.Close(wheel, 1, length(-1)))

	a := spec.NewStory(spec.WithAuditors("1"))
	key := a.Then(a.Disclosure("1", "1"))
	id = a.Then(a.Commit("t", spec.ToAuditors))
	add("auditor: L + 81 bytes", holds, a, a.Close(id, 1, spec.Sealed(key)))
	add("auditor: a byte short", "form", a, a.Close(id, 1, spec.Sealed(key), length(-1)))
	add("auditor: a byte long", "form", a, a.Close(id, 1, spec.Sealed(key), length(1)))
	add("auditor: in the clear", "form", a, a.Close(id, 1))
	add("auditor: in the clear, as long as a sealed one", "form", a, a.Close(id, 1, length(81)))
	add("auditor: tape_lost", holds, a, a.Close(id, 4, spec.TapeLost))
	add("auditor: void", holds, a, a.Close(id, 4, spec.Void(9), spec.Sealed(key)))
}

// numbers: the rules of numbers without repeats.
func (c legalityCases) numbers() {
	s := spec.NewStory()
	keno := s.Then(s.Commit("k", spec.NumbersOf(80, 3)))
	all := func(rule string) func(name, want string, next spec.Entry) {
		return func(name, want string, next spec.Entry) { c.add(rule, "numbers: "+name, want, s, next) }
	}
	places, form := all("places"), all("form")
	more := func(purpose uint8, public bool) func(*spec.Deal) {
		return func(d *spec.Deal) { d.Runs = append(d.Runs, spec.Run{Cards: 2, Purpose: purpose, Public: public}) }
	}
	places("all, public", holds, s.Deal(keno, 0, 3, spec.InPublic))
	places("not public", "places", s.Deal(keno, 0, 3))
	places("a second run that is not public", "places", s.Deal(keno, 0, 1, spec.InPublic, more(1, false)))
	places("an order, public", holds, s.Deal(keno, 0, 1, spec.InPublic, more(6, true)))
	places("an order that is not public", "places", s.Deal(keno, 0, 1, spec.InPublic, more(6, false)))
	places("one more than were taken", "places", s.Deal(keno, 0, 4, spec.InPublic))
	form("L of their draws", holds, s.Close(keno, 1))
	form("a byte long", "form", s.Close(keno, 1, func(c *spec.Close) { c.Tape = spec.BytesOf("tape", len(c.Tape)+1) }))
	planned := s.Then(s.Commit("k2", spec.NumbersOf(80, 20), spec.Planned(spec.Beacon(7))))
	all("mix")("a beacon", holds, s.Mix(planned, spec.Value{Source: 2, Value: spec.BytesOf("beacon", 48)}))
	all("parent")("for a parent", "parent", s.Commit("k", spec.ChildOf(keno, 0, 1)))
	s.Then(spec.KillSwitch(true, 3, "", make(spec.Hexed, 32)))
	all("kill")("they have no deck hash, not even of zeros", holds, s.Commit("k3", spec.NumbersOf(80, 20)))
}

// Cases of reveals.

// handDealt is a story with one shuffle of six cards, of which five are dealt: a public
// one, two to a seat, a burn, a discard.
func handDealt() (*spec.Story, uint64) {
	s := spec.NewStory()
	id := s.Then(s.Commit("t", func(c *spec.Context) { c.Cards, c.Take = 6, 6 }))
	s.Then(s.Deal(id, 0, 0, spec.Runs(spec.Run{Cards: 1, Purpose: 2, Public: true},
		spec.Run{Cards: 2, Purpose: 1, Recipient: "seat-1"}, spec.Run{Cards: 1, Purpose: 3}, spec.Run{Cards: 1,
			Purpose: 4})))
	return s, id
}

func (c legalityCases) reveals() {
	s, id := handDealt()
	add := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("reveal", name, rule, s, next) }
	places := func(list ...uint64) []uint64 { return list }
	add("a card of a seat", holds, s, s.Reveal(id, places(1)))
	add("both cards of a seat", holds, s, s.Reveal(id, places(1, 2)))
	add("a place that was dealt public", "reveal", s, s.Reveal(id, places(0)))
	add("a place that was dealt public, as exposed", "reveal", s, s.Reveal(id, places(0), spec.Exposed))
	add("a place that was dealt public and one that was not", "reveal", s, s.Reveal(id, places(0, 1)))
	add("the next place, which was not dealt", "reveal", s, s.Reveal(id, places(5)))
	add("the next place, as exposed and final", "reveal", s, s.Reveal(id, places(5), spec.Exposed, spec.FinalReveal))
	add("the last place there can be", "reveal", s, s.Reveal(id, places(4095)))
	for i, what := range []string{"a burn", "a discard"} {
		p := uint64(3 + i)
		add(what+" during play", "reveal", s, s.Reveal(id, places(p)))
		add(what+" and a card of a seat during play", "reveal", s, s.Reveal(id, places(1, p)))
		add(what+" as exposed", holds, s, s.Reveal(id, places(p), spec.Exposed))
		add(what+" in front of the close", holds, s, s.Reveal(id, places(p), spec.FinalReveal))
	}
	add("a card of a seat as exposed", holds, s, s.Reveal(id, places(1), spec.Exposed))
	c.add("owner", "a reveal by another", "owner", s, spec.Of("dealer-2", s.Reveal(id, places(1))))
	c.add("owner", "a reveal by the daemon", "owner", s, spec.Of("daemon", s.Reveal(id, places(1))))
	c.add("owner", "two rules: a reveal by another of a place that was not dealt", "owner", s,
		spec.Of("dealer-2", s.Reveal(id, places(5))))
	late := func(by uint64) spec.Entry {
		e := s.Reveal(id, places(1))
		e.Time = s.Entries[id].Commit.CloseBy + by - 1
		return e
	}
	c.add("deadline", "a reveal a millisecond before close-by", holds, s, late(0))
	c.add("deadline", "a reveal at close-by", "deadline", s, late(1))
	c.add("not_open", "a reveal of an event", "not_open", s, s.Reveal(1, places(0)))
	c.add("not_open", "a reveal of a later index", "not_open", s, s.Reveal(9, places(0)))

	s.Then(s.Reveal(id, places(1)))
	add("a place again", "reveal", s, s.Reveal(id, places(1)))
	add("a place again, in front of the close", "reveal", s, s.Reveal(id, places(1, 2), spec.FinalReveal))
	add("another place", holds, s, s.Reveal(id, places(2)))
	s.Then(s.Deal(id, 5, 1))
	add("a place that was dealt after a reveal, a burn", "reveal", s, s.Reveal(id, places(5)))
	add("a place that was dealt after a reveal, as exposed", holds, s, s.Reveal(id, places(5), spec.Exposed))
	s.Then(s.Reveal(id, places(3, 5), spec.Exposed))
	add("a burn again", "reveal", s, s.Reveal(id, places(3), spec.Exposed))
	add("the discard as exposed, the burns being public", holds, s, s.Reveal(id, places(4), spec.Exposed))
	closed := s.Close(id, 1)
	c.add("pair", "a close after a reveal", holds, s, closed)
	s.Then(closed)
	c.add("not_open", "a reveal after the close", "not_open", s, s.Reveal(id, places(2)))

	s, id = handDealt()
	s.Then(s.Takeover(id, "dealer-2", 1))
	c.add("owner", "a reveal by an owner that may only close", "owner", s, spec.Of("dealer-2", s.Reveal(id, places(1))))
	c.add("owner", "a reveal by the earlier owner", "owner", s, s.Reveal(id, places(1)))
	s.Then(s.Takeover(id, "dealer-2", 2))
	c.add("owner", "a reveal by the owner that plays", holds, s, spec.Of("dealer-2", s.Reveal(id, places(1))))

	wheel := spec.NewStory()
	drawn := wheel.Then(wheel.Commit("w", spec.Draws(37, 6)))
	add("of a shuffle that was not dealt from", "reveal", wheel, wheel.Reveal(drawn, places(0)))
	wheel.Then(wheel.Deal(drawn, 0, 0, spec.Runs(spec.Run{Cards: 2, Purpose: 6})))
	add("a value of a draw list that was handed over as an order", holds, wheel, wheel.Reveal(drawn, places(1)))
	odd, id := handDealt()
	odd.Then(odd.Deal(id, 5, 0, spec.Runs(spec.Run{Cards: 1, Purpose: 200})))
	add("a place of a purpose that is passed over", holds, odd, odd.Reveal(id, places(5)))
	c.finalReveals()
	c.revealsOfAncestors()
}

func (c legalityCases) finalReveals() {
	s, id := handDealt()
	add := func(name, rule string, s *spec.Story, next spec.Entry) { c.add("pair", name, rule, s, next) }
	other := s.Then(s.Commit("u"))
	s.Then(s.Deal(other, 0, 0, spec.Runs(spec.Run{Cards: 1, Purpose: 1, Recipient: "seat-1"})))
	places := []uint64{1}
	q := *s
	q.Entries = q.Entries[:len(q.Entries):len(q.Entries)]
	s.Then(s.Deal(id, 5, 1, spec.Final))
	add("a final reveal after a final deal", holds, s, s.Reveal(id, places, spec.FinalReveal))
	add("a reveal that is not final after a final deal", "pair", s, s.Reveal(id, places))
	add("a reveal as exposed that is not final after a final deal", "pair", s, s.Reveal(id, places, spec.Exposed))
	add("a final reveal of another shuffle after a final deal", "pair", s, s.Reveal(other, []uint64{0}, spec.FinalReveal))
	c.add("owner", "a final reveal by another after a final deal", "owner", s,
		spec.Of("dealer-2", s.Reveal(id, places, spec.FinalReveal)))
	s.Then(s.Reveal(id, []uint64{1, 3, 5}, spec.FinalReveal))
	add("the close after a final deal and a final reveal", holds, s, s.Close(id, 1))
	add("void after a final deal and a final reveal", holds, s, s.Close(id, 4, spec.Void(1)))
	add("tape_lost after a final deal and a final reveal", holds, s, s.Close(id, 4, spec.TapeLost))
	add("a second final reveal", "pair", s, s.Reveal(id, []uint64{2}, spec.FinalReveal))
	add("another close after a final reveal", "pair", s, s.Close(other, 1))
	add("continued after a final reveal", "pair", s, s.Close(id, 3))

	q.Then(q.Reveal(id, places, spec.FinalReveal))
	add("the close after a final reveal", holds, &q, q.Close(id, 1))
	add("a deal after a final reveal", "pair", &q, q.Deal(id, 5, 1))
	add("a deal of another shuffle after a final reveal", "pair", &q, q.Deal(other, 1, 1))
	add("a commit after a final reveal", "pair", &q, q.Commit("v"))
	add("a takeover after a final reveal", "pair", &q, q.Takeover(id, "dealer-2", 1))

	p, id := handDealt()
	p.Then(p.Commit("t", spec.ChildOf(id, 5, 4)))
	add("a final reveal of the parent after a child's commit", "pair", p, p.Reveal(id, places, spec.FinalReveal))
	add("a final reveal of the child after its commit", "pair", p, p.Reveal(id+2, places, spec.FinalReveal))
}
