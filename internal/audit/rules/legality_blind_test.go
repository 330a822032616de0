package rules

import (
	"slices"
	"strings"

	"shuffled/internal/audit/spec"
)

// Cases of co-dealers: of the pin, of shuffles that name one, and of orders for another ledger.

func (c legalityCases) coDealers() {
	c.pins()
	c.blindCommits()
	c.ordersForLedgers()
	c.blindDeals()
	c.blindDraws()
	c.orderDeals()
	c.blindCloses()
	c.orderCloses()
	c.blindReveals()
	c.blindRoles()
}

// allSources declares co-dealers among the sources of mixes.
func allSources(g *spec.Genesis) { g.MixModes = 15 }

func every(k *spec.Key) { k.Every = true }

func unpinned(k *spec.Key) { *k = spec.Key{Subject: 8} }

// coDealt puts a co-dealer in front of the plan.
func coDealt(c *spec.Context) {
	c.Plan = slices.Concat([]spec.Source{{Source: 4, Origin: "lab.example/orders", Commit: &spec.ForeignOf}}, c.Plan)
}

// forLedger makes a context an order of four positions for another ledger.
func forLedger(c *spec.Context) {
	c.ForLedger, c.DeckHash = "house.example/tables", refPositionsDeck(int(c.Cards))
}

// asking is a commit with an ask key.
func asking(e spec.Entry) spec.Entry {
	e.Commit.AskKey = spec.SigningKey("ask")[1:]
	return e
}

// given is what a co-dealer gave for a deal.
func given(values ...uint32) func(*spec.Deal) {
	return func(d *spec.Deal) {
		d.Blind = &spec.Blind{Deal: spec.ForeignDeal, Head: spec.ForeignHead, Values: values}
	}
}

// askedFor is what another ledger's house asked for.
func askedFor(d *spec.Deal) {
	d.Asked = &spec.Asked{Commit: spec.ForeignOf, After: spec.BytesOf("before", 32), Head: spec.ForeignHead,
		State: make(spec.Hexed, 32), Ask: spec.BytesOf("ask", 64)}
}

func seats(cards uint64) spec.Run { return spec.Run{Cards: cards, Purpose: 1, Recipient: "seat-1"} }

// pinned is a story whose commits may name a co-dealer.
func pinned(changes ...func(*spec.Genesis)) *spec.Story {
	s := spec.NewStory(append([]func(*spec.Genesis){allSources}, changes...)...)
	s.Then(s.Pin())
	return s
}

// blindHand is a story with a shuffle of six cards that has a co-dealer.
func blindHand() (*spec.Story, uint64) {
	s := pinned()
	return s, s.Then(asking(s.Commit("t", sixOfSix, coDealt)))
}

// orderHand is a story with an order of six positions for another ledger.
func orderHand() (*spec.Story, uint64) {
	s := spec.NewStory()
	return s, s.Then(s.Commit("t", sixOfSix, forLedger))
}

func sixOfSix(c *spec.Context) { c.Cards, c.Take = 6, 6 }

func (c legalityCases) add8(s *spec.Story, about string) func(name, rule string, next spec.Entry) {
	return func(name, rule string, next spec.Entry) { c.add(about, name, rule, s, next) }
}

func (c legalityCases) pins() {
	s := spec.NewStory(allSources)
	add := c.add8(s, "co_dealer")
	text := func(policy string) func(*spec.Key) { return func(k *spec.Key) { k.Policy = policy } }
	public := func(key spec.Hexed) func(*spec.Key) { return func(k *spec.Key) { k.Public = key } }
	here := func(k *spec.Key) { k.Origin = spec.SampleOrigin }
	apart := strings.ReplaceAll(spec.WitnessPolicy("w1", "w2"), "quorum any-of-them", "quorum none")
	add("pin: another ledger", holds, s.Pin())
	add("pin: another ledger for every commit", holds, s.Pin(every))
	add("pin: no ledger", holds, s.Pin(unpinned))
	add("pin: this ledger", "co_dealer", s.Pin(here))
	add("pin: a name that this ledger's begins with", holds, s.Pin(func(k *spec.Key) { k.Origin = spec.SampleOrigin[:6] }))
	add("pin: the signing key in force", "co_dealer", s.Pin(public(spec.SigningKey("1"))))
	add("pin: a policy that is none", "co_dealer", s.Pin(text("two of three\n")))
	add("pin: an empty policy", "co_dealer", s.Pin(text("")))
	add("pin: a policy that asks for no witness", holds, s.Pin(text(apart)))
	add("pin: two quorums that share no witness", holds, s.Pin())
	own := func(name, key string) func(*spec.Key) {
		return text("witness own " + spec.WitnessKey(name, spec.Signer(key)) + "\n" + spec.WitnessPolicy("w1"))
	}
	add("pin: a witness has the ledger's name", "co_dealer", s.Pin(own(spec.SampleOrigin, "w3")))
	add("pin: a witness has the ledger's key", "co_dealer", s.Pin(own("w3.example", "1")))
	add("pin: a witness has a key of nobody", holds, s.Pin(own("w3.example", "w3")))
	add("pin: a log line has the ledger's key", "co_dealer",
		s.Pin(text("log "+spec.VKey("lab.example/orders", spec.Signer("1"))+"\n"+spec.WitnessPolicy("w1"))))
	c.add("key", "pin: a weak signing key", "key", s, s.Pin(public(append(spec.Hexed{1, 1}, make(spec.Hexed, 31)...))))
	c.add("key", "two rules: pin of this ledger with a weak signing key", "key", s,
		s.Pin(here, public(append(spec.Hexed{1, 1}, make(spec.Hexed, 31)...))))
	s.Then(s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("2")}))
	add("pin: a signing key that was replaced", "co_dealer", s.Pin(public(spec.SigningKey("1"))))
	add("pin: the next signing key", "co_dealer", s.Pin(public(spec.SigningKey("2"))))
	s.Then(s.Pin())
	add("pin: the same ledger again", holds, s.Pin())
	c.add("co_dealer", "the co-dealer's key as the next signing key", "co_dealer", s,
		s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("lab")}))
	c.add("co_dealer", "the key of a co-dealer's witness as the next signing key", "co_dealer", s,
		s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("w1")}))
	c.add("co_dealer", "a next signing key that is nobody's", holds, s,
		s.Key(spec.Key{Subject: 1, Public: spec.SigningKey("3")}))
	add("pin: a third ledger", holds, s.Pin(func(k *spec.Key) { k.Origin = "third.example/orders" }))

	p := spec.NewStory(allSources, spec.Production)
	pin := func(name, rule string, changes ...func(*spec.Key)) {
		q := spec.NewStory(allSources, spec.Production)
		k := q.Pin(changes...)
		q.Then(q.Act(13, k, "alice", "bob"))
		c.add("co_dealer", "pin in production: "+name, rule, q, k)
	}
	c.add("two_persons", "pin in production: without an act", "two_persons", p, p.Pin(unpinned))
	shared := strings.ReplaceAll(spec.WitnessPolicy("w1", "w2"), "any-of-them any", "any-of-them all")
	pin("two quorums that share no witness", "co_dealer")
	pin("no quorum", "co_dealer", text(apart))
	pin("two quorums that share a witness", holds, text(shared))
	pin("no ledger", holds, unpinned)

	two := spec.NewStory(allSources, spec.WithTwo(13))
	for _, k := range []struct {
		name string
		e    spec.Entry
	}{{"a ledger", two.Pin()}, {"no ledger", two.Pin(unpinned)}} {
		c.add("two_persons", "pin of "+k.name+" without an act", "two_persons", two, k.e)
		c.add("act", "an act of two for a pin of "+k.name, holds, two, two.Act(13, k.e, "alice", "bob"))
		c.add("act", "an act of one for a pin of "+k.name, "act", two, two.Act(13, k.e, "alice"))
	}
	two.Then(two.Act(13, two.Pin(), "alice", "bob"))
	c.add("pair", "an approved pin", holds, two, two.Pin())
	c.add("pair", "an approved pin, for every commit", "pair", two, two.Pin(every))
	c.add("pair", "an approved pin, of no ledger", "pair", two, two.Pin(unpinned))
}

func (c legalityCases) blindCommits() {
	blind := func(s *spec.Story, changes ...func(*spec.Context)) spec.Entry {
		return asking(s.Commit("t", append(changes, coDealt)...))
	}
	bare := spec.NewStory(allSources)
	c.add("co_dealer", "pin: a co-dealer where none was named", "co_dealer", bare, blind(bare))
	few := spec.NewStory(func(g *spec.Genesis) { g.MixModes = 7 })
	few.Then(few.Pin())
	c.add("mix_modes", "a co-dealer where all others are declared", "mix_modes", few, blind(few))
	only := spec.NewStory(func(g *spec.Genesis) { g.MixModes = 8 })
	only.Then(only.Pin())
	c.add("mix_modes", "a co-dealer where only they are declared", holds, only, blind(only))

	s := pinned()
	add := c.add8(s, "co_dealer")
	_, slot := spec.StorySlot("t", 0)
	add("a co-dealer", holds, blind(s))
	add("a co-dealer, a slot, a beacon and a cut", holds, blind(s, spec.Planned(slot, spec.Beacon(7), spec.Source{Source: 3})))
	add("a commit without a co-dealer", holds, s.Commit("t"))
	another := blind(s)
	another.Commit.Context.Plan[0].Origin = "third.example/orders"
	add("pin: a co-dealer that is not the ledger's", "co_dealer", another)
	add("an ask key without a co-dealer", "co_dealer", asking(s.Commit("t")))
	add("an ask key with a slot alone", "co_dealer", asking(s.Commit("t", spec.Planned(slot))))
	add("a co-dealer without an ask key", "co_dealer", s.Commit("t", coDealt))
	weak := blind(s)
	weak.Commit.AskKey = append(spec.Hexed{1}, make(spec.Hexed, 31)...)
	add("an ask key of small order", "co_dealer", weak)
	off := blind(s)
	off.Commit.AskKey = append(spec.Hexed{2}, make(spec.Hexed, 31)...)
	add("an ask key that is no point", "co_dealer", off)
	add("a co-dealer, and not all cards are taken", "co_dealer", blind(s, func(c *spec.Context) { c.Take = 3 }))
	add("a co-dealer of a draw list", holds, blind(s, spec.Draws(6, 37)))
	add("a co-dealer of numbers", holds, blind(s, spec.NumbersOf(80, 20)))
	add("a co-dealer and an end_at", holds, blind(s, func(c *spec.Context) { c.EndAt = spec.EndAt{Form: 1, Place: 3} }))
	id := s.Then(s.Commit("t"))
	add("a co-dealer of a child", "co_dealer", blind(s, spec.ChildOf(id, 0, 1, 2, 3)))
	c.add("co_dealer", "two rules: a co-dealer without an ask key, of a commit by the daemon", "co_dealer", s,
		spec.Of("daemon", s.Commit("u", coDealt)))

	s.Then(s.Pin(unpinned))
	add("pin: a co-dealer after none is named", "co_dealer", blind(s))
	add("pin: a commit after none is named", holds, s.Commit("t"))
	s.Then(s.Pin(every))
	add("pin: a co-dealer where every commit names one", holds, blind(s))
	add("pin: a commit without one where every commit names one", "co_dealer", s.Commit("t"))
	add("pin: a child where every commit names one", "co_dealer", s.Commit("t", spec.ChildOf(id, 0, 1)))
	add("pin: an order for another ledger where every commit names one", holds, s.Commit("u", forLedger))
	add("a deal of a shuffle from before, where every commit names one", holds, s.Deal(id, 0, 1))
	s.Then(s.Pin())
	add("pin: a commit without one after every commit named one", holds, s.Commit("t"))

	b, hand := blindHand()
	c.add("parent", "a child of a shuffle with a co-dealer", "parent", b, b.Commit("t", spec.ChildOf(hand, 0, 1)))
	o, order := orderHand()
	c.add("parent", "a child of an order for another ledger", "parent", o, o.Commit("t", spec.ChildOf(order, 0, 1),
		func(c *spec.Context) { c.DeckHash = refPositionsDeck(6) }))
}

func (c legalityCases) ordersForLedgers() {
	s := pinned()
	add := func(name, rule string, next spec.Entry) { c.add("co_dealer", "an order "+name, rule, s, next) }
	order := func(changes ...func(*spec.Context)) spec.Entry {
		return s.Commit("u", append([]func(*spec.Context){forLedger}, changes...)...)
	}
	_, slot := spec.StorySlot("u", 0)
	add("of four positions", holds, order())
	add("of a draw list", holds, s.Commit("u", spec.Draws(6, 37),
		func(c *spec.Context) { c.ForLedger = "house.example" }))
	add("of numbers", "co_dealer",
		s.Commit("u", spec.NumbersOf(80, 20), func(c *spec.Context) { c.ForLedger = "house.example" }))
	add("for this ledger", "co_dealer", order(func(c *spec.Context) { c.ForLedger = spec.SampleOrigin }))
	add("with a slot", "co_dealer", order(spec.Planned(slot)))
	add("with a co-dealer of its own", "co_dealer", asking(order(coDealt)))
	add("with an ask key", "co_dealer", asking(order()))
	add("with an end_at", "co_dealer", order(func(c *spec.Context) { c.EndAt = spec.EndAt{Form: 1, Place: 3} }))
	add("with a drawn end_at", "co_dealer", order(func(c *spec.Context) {
		c.EndAt = spec.EndAt{Form: 2, Lo: 1, Hi: 3}
	}))
	add("with terms", "co_dealer", order(func(c *spec.Context) {
		c.Terms = &spec.Terms{Kind: 2, Hash: spec.BytesOf("pays", 32)}
	}))
	add("of another deck", "co_dealer", order(func(c *spec.Context) { c.DeckHash = spec.BytesOf("deck", 32) }))
	add("of five positions, and four cards", "co_dealer",
		order(func(c *spec.Context) { c.DeckHash = refPositionsDeck(5) }))
	add("of three of four positions", "co_dealer", order(func(c *spec.Context) { c.Take = 3 }))
	id := s.Then(order())
	c.add("parent", "an order that is a child of one", "parent", s, order(spec.ChildOf(id, 0, 1, 2, 3)))
	plain := s.Then(s.Commit("t", func(c *spec.Context) { c.DeckHash = refPositionsDeck(4) }))
	add("that is a child", "co_dealer", s.Commit("t", spec.ChildOf(plain, 0, 1, 2, 3), forLedger))
}

func (c legalityCases) blindDeals() {
	s, id := blindHand()
	add := c.add8(s, "co_dealer")
	two, burn := spec.Runs(seats(2)), spec.Run{Cards: 1, Purpose: 3}
	deal := func(first uint64, changes ...func(*spec.Deal)) spec.Entry { return s.Deal(id, first, 1, changes...) }
	add("a deal of two places", holds, deal(0, two, given(5, 0)))
	add("a deal without what the co-dealer gave", "co_dealer", deal(0, two))
	at := func(index, size uint64) func(*spec.Deal) {
		return func(d *spec.Deal) { d.Blind.Deal.Index, d.Blind.Head.Index = index, size }
	}
	add("the co-dealer's deal is its commit", "co_dealer", deal(0, two, given(5, 0), at(7, 9)))
	add("the co-dealer's deal stands below its commit", "co_dealer", deal(0, two, given(5, 0), at(6, 9)))
	add("a checkpoint that does not cover the co-dealer's deal", "co_dealer", deal(0, two, given(5, 0), at(8, 8)))
	add("a deal with what was asked for alone", "co_dealer", deal(0, two, askedFor))
	add("a deal with what was asked for, too", "co_dealer", deal(0, two, given(5, 0), askedFor))
	add("a value too few", "co_dealer", deal(0, two, given(5)))
	add("a value too many", "co_dealer", deal(0, two, given(5, 0, 1)))
	add("position m", "co_dealer", deal(0, two, given(5, 6)))
	add("a position twice in a deal", "co_dealer", deal(0, two, given(3, 3)))
	add("a burn, which has no value", holds, deal(0, given()))
	add("a burn with a value", "co_dealer", deal(0, given(1)))
	add("a discard, which has no value", holds, deal(0, spec.Runs(spec.Run{Cards: 1, Purpose: 4}), given()))
	add("a public burn, which has one", holds, deal(0, spec.Runs(spec.Run{Cards: 1, Purpose: 3, Public: true}),
		given(1)))
	add("a public burn without one", "co_dealer", deal(0, spec.Runs(spec.Run{Cards: 1, Purpose: 3, Public: true}),
		given()))
	add("a burn between two seats", holds, deal(0, spec.Runs(seats(1), burn, seats(1)), given(1, 2)))
	add("a seat without a recipient", "co_dealer", deal(0, spec.Runs(spec.Run{Cards: 1, Purpose: 1}), given(1)))
	add("a public seat without a recipient", "co_dealer",
		deal(0, spec.Runs(spec.Run{Cards: 1, Purpose: 1, Public: true}), given(1)))
	add("a hidden board without a recipient", "co_dealer", deal(0, spec.Runs(spec.Run{Cards: 1, Purpose: 2}), given(1)))
	add("a board, which is public", holds, deal(0, spec.Runs(spec.Run{Cards: 1, Purpose: 2, Public: true}), given(1)))
	add("the second run a seat without a recipient", "co_dealer",
		deal(0, spec.Runs(seats(1), spec.Run{Cards: 1, Purpose: 1}), given(1, 2)))
	add("the whole rest as an order", "co_dealer", deal(0, spec.Runs(spec.Run{Cards: 6, Purpose: 6}), given(0, 1, 2, 3,
		4, 5)))
	add("the whole rest to a seat", holds, deal(0, spec.Runs(seats(6)), given(5, 4, 3, 2, 1, 0)))
	add("the whole rest, final", holds, deal(0, spec.Runs(seats(6)), given(5, 4, 3, 2, 1, 0), spec.Final))
	c.add("place", "two rules: a deal with a co-dealer that leaves out a place, and no values", "place", s, deal(1, two))
	add("two rules: no values, under a checkpoint that does not cover the commit", "co_dealer", deal(0, two, spec.Under(id)))
	s.Then(deal(0, two, given(5, 0)))
	add("a position of the deal before", "co_dealer", deal(2, two, given(1, 5)))
	add("the other position of the deal before", "co_dealer", deal(2, two, given(0, 1)))
	add("the next two places", holds, deal(2, two, given(1, 4)))
	c.add("place", "with a co-dealer, the places of the deal before again", "place", s, deal(0, two, given(5, 0)))
	s.Then(deal(2, given()))
	add("a position of the deal before the last, behind a burn", "co_dealer", deal(3, two, given(5, 1)))
	add("the places behind a burn", holds, deal(3, two, given(1, 2)))

	q, other := blindHand()
	third := q.Then(asking(q.Commit("u", sixOfSix, coDealt)))
	q.Then(q.Deal(other, 0, 1, two, given(5, 0)))
	c.add("co_dealer", "positions that another shuffle had", holds, q, q.Deal(third, 0, 1, two, given(5, 0)))
	plain := q.Then(q.Commit("v"))
	c.add("co_dealer", "what a co-dealer gave, of a shuffle without one", "co_dealer", q, q.Deal(plain, 0, 1, given()))
	c.add("co_dealer", "what was asked for, of a shuffle without an order", "co_dealer", q, q.Deal(plain, 0, 1, askedFor))
	c.add("co_dealer", "an order without a co-dealer", holds, q,
		q.Deal(plain, 0, 0, spec.Runs(spec.Run{Cards: 4, Purpose: 6})))

	m := pinned()
	slot, plan := spec.StorySlot("t", 0)
	id = m.Then(asking(m.Commit("t", spec.Planned(plan), coDealt)))
	c.add("mix", "a deal with a co-dealer in front of the mix", "mix", m, m.Deal(id, 0, 1, given()))
	c.add("mix", "a mix without a value of the co-dealer", holds, m, m.Mix(id, slot))
	c.add("mix", "a mix with a value more than slots", "mix", m, m.Mix(id, slot, slot))
	m.Then(m.Mix(id, slot))
	c.add("co_dealer", "a deal behind the mix", holds, m, m.Deal(id, 0, 1, spec.Runs(seats(1)), given(3)))
	s, id = blindHand()
	c.add("mix", "a mix where the co-dealer is the whole plan", "mix", s, s.Mix(id, slot))
	c.most()
}

// most is about 64 places.
func (c legalityCases) most() {
	values := make([]uint32, 64)
	for i := range values {
		values[i] = uint32(i)
	}
	large := func(c *spec.Context) { c.Cards, c.Take = 70, 70 }
	s := pinned()
	id := s.Then(asking(s.Commit("t", large, coDealt)))
	burn := spec.Run{Cards: 1, Purpose: 3}
	c.add("co_dealer", "64 places with a co-dealer", holds, s, s.Deal(id, 0, 0, spec.Runs(seats(64)), given(values...)))
	c.add("co_dealer", "65 places with a co-dealer", "co_dealer", s,
		s.Deal(id, 0, 0, spec.Runs(seats(64), burn), given(values...)))
	o := spec.NewStory()
	id = o.Then(o.Commit("t", large, forLedger))
	c.add("co_dealer", "64 places of an order", holds, o, o.Deal(id, 0, 0, spec.Runs(seats(64)), askedFor))
	c.add("co_dealer", "65 places of an order", "co_dealer", o, o.Deal(id, 0, 0, spec.Runs(seats(65)), askedFor))
	p := spec.NewStory()
	id = p.Then(p.Commit("t", large))
	c.add("co_dealer", "65 places without a co-dealer", holds, p, p.Deal(id, 0, 65))
}

func (c legalityCases) blindDraws() {
	s := pinned()
	add := c.add8(s, "co_dealer")
	wheel := s.Then(asking(s.Commit("w", spec.Draws(6, 37, 6), coDealt)))
	both := spec.Runs(spec.Run{Cards: 2, Purpose: 2, Public: true})
	deal := func(id uint64, values ...uint32) spec.Entry { return s.Deal(id, 0, 0, both, given(values...)) }
	add("draws: the largest values", holds, deal(wheel, 6, 37))
	add("draws: the smallest values", holds, deal(wheel, 1, 1))
	add("draws: 0", "co_dealer", deal(wheel, 0, 1))
	add("draws: a value above the first range", "co_dealer", deal(wheel, 7, 1))
	add("draws: a value above the second range", "co_dealer", deal(wheel, 6, 38))
	add("draws: a value twice", holds, deal(wheel, 3, 3))
	add("draws: behind a burn the range is that of the place", holds, s.Deal(wheel, 0, 0,
		spec.Runs(spec.Run{Cards: 1, Purpose: 3}, spec.Run{Cards: 1, Purpose: 2, Public: true}), given(37)))
	add("draws: a value too few", "co_dealer", deal(wheel, 6))
	bingo := s.Then(asking(s.Commit("n", spec.NumbersOf(80, 3), coDealt)))
	add("numbers: the largest values", holds, deal(bingo, 80, 79))
	add("numbers: a value above the range of its place", "co_dealer", deal(bingo, 80, 80))
	s.Then(deal(wheel, 6, 37))
	next := func(first uint64, v uint32) spec.Entry {
		return s.Deal(wheel, first, 0, spec.Runs(spec.Run{Cards: 1, Purpose: 2, Public: true}), given(v))
	}
	add("draws: a value of the deal before", holds, next(2, 6))
	add("draws: a value above the range of the next place", "co_dealer", next(2, 7))
}

func (c legalityCases) orderDeals() {
	s, id := orderHand()
	add := func(name, rule string, next spec.Entry) { c.add("co_dealer", "of an order: "+name, rule, s, next) }
	deal := func(first uint64, changes ...func(*spec.Deal)) spec.Entry { return s.Deal(id, first, 2, changes...) }
	two := spec.Runs(seats(2))
	add("a deal that was asked for", holds, deal(0, two, askedFor))
	add("a deal that nobody asked for", "co_dealer", deal(0, two))
	size := func(n uint64) func(*spec.Deal) { return func(d *spec.Deal) { d.Asked.Head.Index = n } }
	add("a checkpoint that covers the commit of the house", holds, deal(0, two, askedFor, size(8)))
	add("a checkpoint that does not cover the commit of the house", "co_dealer", deal(0, two, askedFor, size(7)))
	add("a deal with what a co-dealer gave", "co_dealer", deal(0, two, given(0, 1)))
	add("a deal with both", "co_dealer", deal(0, two, askedFor, given(0, 1)))
	add("a final deal", "co_dealer", deal(0, two, askedFor, spec.Final))
	add("a seat without a recipient", "co_dealer", deal(0, spec.Runs(spec.Run{Cards: 2, Purpose: 1}), askedFor))
	add("the whole rest as an order", "co_dealer", deal(0, spec.Runs(spec.Run{Cards: 6, Purpose: 6}), askedFor))
	add("the whole rest", holds, deal(0, spec.Runs(seats(6)), askedFor))
	add("a burn", holds, deal(0, askedFor))
	c.add("place", "of an order: a place left out", "place", s, deal(1, two, askedFor))
	s.Then(deal(0, two, askedFor))
	add("the next places", holds, deal(2, two, askedFor))
	c.add("place", "of an order: the same places again", "place", s, deal(0, two, askedFor))
}

func (c legalityCases) blindCloses() {
	s, id := blindHand()
	add := c.add8(s, "co_dealer")
	unplayed := func(c *spec.Close) {
		c.Blind = &spec.Blind{Deal: spec.ForeignDeal, Head: spec.ForeignHead, Values: []uint32{1}}
	}
	follows := func(c *spec.Close) { c.Follows = &spec.Follows{Foreign: spec.ForeignOf, Places: 0} }
	late := func(s *spec.Story, id uint64, e spec.Entry) spec.Entry {
		e.Time = s.Entries[id].Commit.CloseBy
		return e
	}
	add("void for co_dealer", holds, s.Close(id, 4, spec.Void(11)))
	add("void for co_dealer, with what was not played", holds, s.Close(id, 4, spec.Void(11), unplayed))
	add("void for another reason, with what was not played", holds, s.Close(id, 4, spec.Void(1), unplayed))
	add("tape_lost, with what was not played", holds, s.Close(id, 4, spec.TapeLost, unplayed))
	add("expired, with what was not played", holds, late(s, id, s.Close(id, 5, unplayed)))
	add("completed, with what was not played", "co_dealer", s.Close(id, 1, unplayed))
	add("ended_early, with what was not played", "co_dealer", s.Close(id, 2, unplayed))
	add("completed", holds, s.Close(id, 1))
	without := func(c *spec.Close) { c.Blind = nil }
	at := func(deal, size uint64) func(*spec.Close) {
		return func(c *spec.Close) { c.Blind.Deal.Index, c.Blind.Head.Index = deal, size }
	}
	values := func(values ...uint32) func(*spec.Close) { return func(c *spec.Close) { c.Blind.Values = values } }
	add("completed, without a checkpoint of the co-dealer", "co_dealer", s.Close(id, 1, without))
	add("void, without a checkpoint of the co-dealer", "co_dealer", s.Close(id, 4, spec.Void(11), without))
	add("expired, without a checkpoint of the co-dealer", "co_dealer", late(s, id, s.Close(id, 5, without)))
	add("tape_lost, without a checkpoint of the co-dealer", holds, s.Close(id, 4, spec.TapeLost, without))
	add("a checkpoint of the co-dealer that covers its commit", holds, s.Close(id, 1, at(0, 8)))
	add("a checkpoint of the co-dealer that does not cover its commit", "co_dealer", s.Close(id, 1, at(0, 7)))
	add("what was not played, under a checkpoint that does not cover it", "co_dealer",
		s.Close(id, 4, spec.Void(11), unplayed, at(8, 8)))
	add("what was not played is the commit", "co_dealer", s.Close(id, 4, spec.Void(11), unplayed, at(7, 9)))
	add("what was not played, without values", holds, s.Close(id, 4, spec.Void(11), unplayed, values()))
	add("what was not played, a value for each place", holds, s.Close(id, 4, spec.Void(11), unplayed, values(0, 1, 2, 3, 4, 5)))
	add("what was not played, a value too many", "co_dealer",
		s.Close(id, 4, spec.Void(11), unplayed, values(0, 1, 2, 3, 4, 5, 6)))
	add("what was not played, out of range", "co_dealer", s.Close(id, 4, spec.Void(11), unplayed, values(6)))
	add("what was not played, one position twice", "co_dealer", s.Close(id, 4, spec.Void(11), unplayed, values(1, 1)))
	add("a close with a co-dealer that follows another", "co_dealer", s.Close(id, 1, follows))
	c.add("deadline", "two rules: expired in time, with what was not played, and follows", "deadline", s,
		s.Close(id, 5, unplayed, follows))
	c.add("co_dealer", "two rules: completed with what was not played, and another tape", "co_dealer", s,
		s.Close(id, 1, unplayed, func(c *spec.Close) { c.Tape = c.Tape[1:] }))
	s.Then(s.Deal(id, 0, 0, spec.Runs(seats(6)), given(5, 4, 3, 2, 1, 0), spec.Final))
	add("void for co_dealer behind a final deal", holds, s.Close(id, 4, spec.Void(11)))

	p, plain := dealt()
	c.add("co_dealer", "void for co_dealer where there is none", "co_dealer", p, p.Close(plain, 4, spec.Void(11)))
	c.add("co_dealer", "void with what was not played, where there is no co-dealer", "co_dealer", p,
		p.Close(plain, 4, spec.Void(1), unplayed))
	c.add("co_dealer", "expired with what was not played, where there is no co-dealer", "co_dealer", p,
		late(p, plain, p.Close(plain, 5, unplayed)))
	c.add("co_dealer", "a close that follows another, of no order", "co_dealer", p, p.Close(plain, 1, follows))
	c.add("co_dealer", "a checkpoint of a co-dealer, where there is none", "co_dealer", p, p.Close(plain, 1,
		func(c *spec.Close) { c.Blind = &spec.Blind{Deal: spec.NoDeal, Head: spec.ForeignHead, Values: nil} }))
	p.Then(p.Commit("t", spec.ChildOf(plain, 3, 2)))
	c.add("co_dealer", "continued, with what was not played", "co_dealer", p, p.Close(plain, 3, unplayed))
}

func (c legalityCases) orderCloses() {
	s, id := orderHand()
	late := func(e spec.Entry) spec.Entry { e.Time = s.Entries[id].Commit.CloseBy; return e }
	for i, state := range []string{"an order, undealt: ", "an order that was dealt from: "} {
		names := func(places int) func(*spec.Close) {
			return func(c *spec.Close) { c.Follows = &spec.Follows{Foreign: spec.ForeignOf, Places: uint16(places)} }
		}
		follows := names(2 * i)
		add := func(name, rule string, next spec.Entry) { c.add("co_dealer", state+name, rule, s, next) }
		add("completed, behind the shuffle", holds, s.Close(id, 1, follows))
		add("ended_early, behind the shuffle", holds, s.Close(id, 2, follows))
		add("void, behind the shuffle", holds, s.Close(id, 4, spec.Void(4), follows))
		add("completed, a place more than were dealt", "co_dealer", s.Close(id, 1, names(2*i+1)))
		add("expired, another number of places than were dealt", "co_dealer", late(s.Close(id, 5, names(2*(1-i)))))
		add("completed, behind nothing", "co_dealer", s.Close(id, 1))
		add("ended_early, behind nothing", "co_dealer", s.Close(id, 2))
		add("void, behind nothing", []string{holds, "co_dealer"}[i], s.Close(id, 4, spec.Void(4)))
		add("expired, behind nothing", holds, late(s.Close(id, 5)))
		add("expired, behind the shuffle", holds, late(s.Close(id, 5, follows)))
		add("tape_lost, behind nothing", holds, s.Close(id, 4, spec.TapeLost))
		add("void for co_dealer", "co_dealer", s.Close(id, 4, spec.Void(11), follows))
		add("void, with what was not played", "co_dealer", s.Close(id, 4, spec.Void(4), follows, func(c *spec.Close) {
			c.Blind = &spec.Blind{Deal: spec.ForeignDeal, Head: spec.ForeignHead, Values: []uint32{1}}
		}))
		s.Then(s.Deal(id, 0, 0, spec.Runs(seats(2)), askedFor))
	}
}

func (c legalityCases) blindReveals() {
	s, id := blindHand()
	burn := spec.Run{Cards: 1, Purpose: 3}
	s.Then(s.Deal(id, 0, 0, spec.Runs(seats(2), burn, spec.Run{Cards: 1, Purpose: 4}), given(5, 0)))
	add := func(name, rule string, next spec.Entry) { c.add("reveal", "with a co-dealer "+name, rule, s, next) }
	add("a card of a seat", holds, s.Reveal(id, []uint64{1}))
	add("a card of a seat, in front of the close", holds, s.Reveal(id, []uint64{1}, spec.FinalReveal))
	for i, what := range []string{"a burn", "a discard"} {
		p := []uint64{uint64(2 + i)}
		add(what+" as exposed", "reveal", s.Reveal(id, p, spec.Exposed))
		add(what+" in front of the close", "reveal", s.Reveal(id, p, spec.FinalReveal))
	}
	o, order := orderHand()
	o.Then(o.Deal(order, 0, 0, spec.Runs(seats(2)), askedFor))
	c.add("reveal", "a place of an order", "reveal", o, o.Reveal(order, []uint64{1}))
	c.add("reveal", "a place of an order, as exposed", "reveal", o, o.Reveal(order, []uint64{1}, spec.Exposed))
	c.add("reveal", "a place of an order, in front of the close", "reveal", o, o.Reveal(order, []uint64{1}, spec.FinalReveal))
}

// blindRoles are about who may write what of an order for another ledger.
func (c legalityCases) blindRoles() {
	s := pinned()
	for i, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1", "blind-1"} {
		s.Then(s.Credential(who, uint8(i+1)))
	}
	by := func(name string, e spec.Entry, who ...string) {
		for _, w := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1", "blind-1"} {
			rule := map[bool]string{true: holds, false: "credential"}[slices.Contains(who, w)]
			c.add("credential", name+" by "+w, rule, s, spec.Of(w, e))
		}
	}
	by("an order", s.Commit("u", forLedger), "blind-1")
	by("a commit with a co-dealer", asking(s.Commit("u", coDealt)), "dealer-1")
	by("a commit, where orders are made", s.Commit("u"), "dealer-1")
	by("a pin", s.Pin(), "admin-1")
	id := s.Then(spec.Of("blind-1", s.Commit("t", forLedger)))
	by("a deal of an order", s.Deal(id, 0, 1, askedFor), "blind-1")
	by("tape_lost of an order", s.Close(id, 4, spec.TapeLost), "admin-1")
	c.add("credential", "a close of an order by its owner", holds, s, spec.Of("blind-1", s.Close(id, 4, spec.Void(4))))
	c.add("owner", "a close of an order by a dealer", "owner", s, s.Close(id, 4, spec.Void(4)))
	c.add("credential", "a reveal of an order by its owner", "credential", s,
		spec.Of("blind-1", s.Reveal(id, []uint64{0})))
	c.add("credential", "a takeover of an order by its owner", "credential", s, s.Takeover(id, "blind-1", 1))
	c.add("credential", "a table closed by the house of another ledger", "credential", s,
		spec.Of("blind-1", spec.Operator(spec.Event{Kind: 3, Table: "t"})))
	c.add("credential", "two rules: a deal of an order that nobody asked for, by its owner", "credential", s,
		spec.Of("blind-1", s.Deal(id, 0, 1)))
	s.Then(s.Takeover(id, "dealer-1", 1))
	c.add("credential", "a close of an order by a dealer who took it over", holds, s, s.Close(id, 4, spec.Void(4)))
	c.add("credential", "an order without any credential in the ledger", holds, spec.NewStory(), spec.NewStory().Commit("t", forLedger))
}
