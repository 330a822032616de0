package audit

import (
	"slices"
	"strings"
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
func allSources(g *refGenesis) { g.MixModes = 15 }

func every(k *refKey) { k.Every = true }

func unpinned(k *refKey) { *k = refKey{Subject: 8} }

// coDealt puts a co-dealer in front of the plan.
func coDealt(c *refContext) {
	c.Plan = slices.Concat([]refSource{{Source: 4, Origin: "lab.example/orders", Commit: &foreign}}, c.Plan)
}

// forLedger makes a context an order of four positions for another ledger.
func forLedger(c *refContext) {
	c.ForLedger, c.DeckHash = "house.example/tables", refPositionsDeck(int(c.Cards))
}

// asking is a commit with an ask key.
func asking(e refEntry) refEntry {
	e.Commit.AskKey = signingKey("ask")[1:]
	return e
}

// given is what a co-dealer gave for a deal.
func given(values ...uint32) func(*refDeal) {
	return func(d *refDeal) { d.Blind = &refBlind{foreignDeal, foreignHead, values} }
}

// askedFor is what another ledger's house asked for.
func askedFor(d *refDeal) {
	d.Asked = &refAsked{foreign, bytesOf("before", 32), foreignHead, make(hexed, 32), bytesOf("ask", 64)}
}

func seats(cards uint64) refRun { return refRun{Cards: cards, Purpose: 1, Recipient: "seat-1"} }

// pinned is a story whose commits may name a co-dealer.
func pinned(changes ...func(*refGenesis)) *story {
	s := newStory(append([]func(*refGenesis){allSources}, changes...)...)
	s.then(s.pin())
	return s
}

// blindHand is a story with a shuffle of six cards that has a co-dealer.
func blindHand() (*story, uint64) {
	s := pinned()
	return s, s.then(asking(s.commit("t", sixOfSix, coDealt)))
}

// orderHand is a story with an order of six positions for another ledger.
func orderHand() (*story, uint64) {
	s := newStory()
	return s, s.then(s.commit("t", sixOfSix, forLedger))
}

func sixOfSix(c *refContext) { c.Cards, c.Take = 6, 6 }

func (c legalityCases) add8(s *story, about string) func(name, rule string, next refEntry) {
	return func(name, rule string, next refEntry) { c.add(about, name, rule, s, next) }
}

func (c legalityCases) pins() {
	s := newStory(allSources)
	add := c.add8(s, "co_dealer")
	text := func(policy string) func(*refKey) { return func(k *refKey) { k.Policy = policy } }
	public := func(key hexed) func(*refKey) { return func(k *refKey) { k.Public = key } }
	here := func(k *refKey) { k.Origin = sampleOrigin }
	apart := strings.ReplaceAll(witnessPolicy("w1", "w2"), "quorum any-of-them", "quorum none")
	add("pin: another ledger", holds, s.pin())
	add("pin: another ledger for every commit", holds, s.pin(every))
	add("pin: no ledger", holds, s.pin(unpinned))
	add("pin: this ledger", "co_dealer", s.pin(here))
	add("pin: a name that this ledger's begins with", holds, s.pin(func(k *refKey) { k.Origin = sampleOrigin[:6] }))
	add("pin: the signing key in force", "co_dealer", s.pin(public(signingKey("1"))))
	add("pin: a policy that is none", "co_dealer", s.pin(text("two of three\n")))
	add("pin: an empty policy", "co_dealer", s.pin(text("")))
	add("pin: a policy that asks for no witness", holds, s.pin(text(apart)))
	add("pin: two quorums that share no witness", holds, s.pin())
	own := func(name, key string) func(*refKey) {
		return text("witness own " + refWitnessKey(name, signer(key)) + "\n" + witnessPolicy("w1"))
	}
	add("pin: a witness has the ledger's name", "co_dealer", s.pin(own(sampleOrigin, "w3")))
	add("pin: a witness has the ledger's key", "co_dealer", s.pin(own("w3.example", "1")))
	add("pin: a witness has a key of nobody", holds, s.pin(own("w3.example", "w3")))
	add("pin: a log line has the ledger's key", "co_dealer",
		s.pin(text("log "+refVKey("lab.example/orders", signer("1"))+"\n"+witnessPolicy("w1"))))
	c.add("key", "pin: a weak signing key", "key", s, s.pin(public(append(hexed{1, 1}, make(hexed, 31)...))))
	c.add("key", "two rules: pin of this ledger with a weak signing key", "key", s,
		s.pin(here, public(append(hexed{1, 1}, make(hexed, 31)...))))
	s.then(s.key(refKey{Subject: 1, Public: signingKey("2")}))
	add("pin: a signing key that was replaced", "co_dealer", s.pin(public(signingKey("1"))))
	add("pin: the next signing key", "co_dealer", s.pin(public(signingKey("2"))))
	s.then(s.pin())
	add("pin: the same ledger again", holds, s.pin())
	c.add("co_dealer", "the co-dealer's key as the next signing key", "co_dealer", s,
		s.key(refKey{Subject: 1, Public: signingKey("lab")}))
	c.add("co_dealer", "the key of a co-dealer's witness as the next signing key", "co_dealer", s,
		s.key(refKey{Subject: 1, Public: signingKey("w1")}))
	c.add("co_dealer", "a next signing key that is nobody's", holds, s,
		s.key(refKey{Subject: 1, Public: signingKey("3")}))
	add("pin: a third ledger", holds, s.pin(func(k *refKey) { k.Origin = "third.example/orders" }))

	p := newStory(allSources, production)
	pin := func(name, rule string, changes ...func(*refKey)) {
		q := newStory(allSources, production)
		k := q.pin(changes...)
		q.then(q.act(13, k, "alice", "bob"))
		c.add("co_dealer", "pin in production: "+name, rule, q, k)
	}
	c.add("two_persons", "pin in production: without an act", "two_persons", p, p.pin(unpinned))
	shared := strings.ReplaceAll(witnessPolicy("w1", "w2"), "any-of-them any", "any-of-them all")
	pin("two quorums that share no witness", "co_dealer")
	pin("no quorum", "co_dealer", text(apart))
	pin("two quorums that share a witness", holds, text(shared))
	pin("no ledger", holds, unpinned)

	two := newStory(allSources, withTwo(13))
	for _, k := range []struct {
		name string
		e    refEntry
	}{{"a ledger", two.pin()}, {"no ledger", two.pin(unpinned)}} {
		c.add("two_persons", "pin of "+k.name+" without an act", "two_persons", two, k.e)
		c.add("act", "an act of two for a pin of "+k.name, holds, two, two.act(13, k.e, "alice", "bob"))
		c.add("act", "an act of one for a pin of "+k.name, "act", two, two.act(13, k.e, "alice"))
	}
	two.then(two.act(13, two.pin(), "alice", "bob"))
	c.add("pair", "an approved pin", holds, two, two.pin())
	c.add("pair", "an approved pin, for every commit", "pair", two, two.pin(every))
	c.add("pair", "an approved pin, of no ledger", "pair", two, two.pin(unpinned))
}

func (c legalityCases) blindCommits() {
	blind := func(s *story, changes ...func(*refContext)) refEntry {
		return asking(s.commit("t", append(changes, coDealt)...))
	}
	bare := newStory(allSources)
	c.add("co_dealer", "pin: a co-dealer where none was named", "co_dealer", bare, blind(bare))
	few := newStory(func(g *refGenesis) { g.MixModes = 7 })
	few.then(few.pin())
	c.add("mix_modes", "a co-dealer where all others are declared", "mix_modes", few, blind(few))
	only := newStory(func(g *refGenesis) { g.MixModes = 8 })
	only.then(only.pin())
	c.add("mix_modes", "a co-dealer where only they are declared", holds, only, blind(only))

	s := pinned()
	add := c.add8(s, "co_dealer")
	_, slot := storySlot("t", 0)
	add("a co-dealer", holds, blind(s))
	add("a co-dealer, a slot, a beacon and a cut", holds, blind(s, planned(slot, beacon(7), refSource{Source: 3})))
	add("a commit without a co-dealer", holds, s.commit("t"))
	another := blind(s)
	another.Commit.Context.Plan[0].Origin = "third.example/orders"
	add("pin: a co-dealer that is not the ledger's", "co_dealer", another)
	add("an ask key without a co-dealer", "co_dealer", asking(s.commit("t")))
	add("an ask key with a slot alone", "co_dealer", asking(s.commit("t", planned(slot))))
	add("a co-dealer without an ask key", "co_dealer", s.commit("t", coDealt))
	weak := blind(s)
	weak.Commit.AskKey = append(hexed{1}, make(hexed, 31)...)
	add("an ask key of small order", "co_dealer", weak)
	off := blind(s)
	off.Commit.AskKey = append(hexed{2}, make(hexed, 31)...)
	add("an ask key that is no point", "co_dealer", off)
	add("a co-dealer, and not all cards are taken", "co_dealer", blind(s, func(c *refContext) { c.Take = 3 }))
	add("a co-dealer of a draw list", holds, blind(s, draws(6, 37)))
	add("a co-dealer of numbers", holds, blind(s, numbers(80, 20)))
	add("a co-dealer and an end_at", holds, blind(s, func(c *refContext) { c.EndAt = refEndAt{Form: 1, Place: 3} }))
	id := s.then(s.commit("t"))
	add("a co-dealer of a child", "co_dealer", blind(s, child(id, 0, 1, 2, 3)))
	c.add("co_dealer", "two rules: a co-dealer without an ask key, of a commit by the daemon", "co_dealer", s,
		of("daemon", s.commit("u", coDealt)))

	s.then(s.pin(unpinned))
	add("pin: a co-dealer after none is named", "co_dealer", blind(s))
	add("pin: a commit after none is named", holds, s.commit("t"))
	s.then(s.pin(every))
	add("pin: a co-dealer where every commit names one", holds, blind(s))
	add("pin: a commit without one where every commit names one", "co_dealer", s.commit("t"))
	add("pin: a child where every commit names one", "co_dealer", s.commit("t", child(id, 0, 1)))
	add("pin: an order for another ledger where every commit names one", holds, s.commit("u", forLedger))
	add("a deal of a shuffle from before, where every commit names one", holds, s.deal(id, 0, 1))
	s.then(s.pin())
	add("pin: a commit without one after every commit named one", holds, s.commit("t"))

	b, hand := blindHand()
	c.add("parent", "a child of a shuffle with a co-dealer", "parent", b, b.commit("t", child(hand, 0, 1)))
	o, order := orderHand()
	c.add("parent", "a child of an order for another ledger", "parent", o, o.commit("t", child(order, 0, 1),
		func(c *refContext) { c.DeckHash = refPositionsDeck(6) }))
}

func (c legalityCases) ordersForLedgers() {
	s := pinned()
	add := func(name, rule string, next refEntry) { c.add("co_dealer", "an order "+name, rule, s, next) }
	order := func(changes ...func(*refContext)) refEntry {
		return s.commit("u", append([]func(*refContext){forLedger}, changes...)...)
	}
	_, slot := storySlot("u", 0)
	add("of four positions", holds, order())
	add("of a draw list", holds, s.commit("u", draws(6, 37), func(c *refContext) { c.ForLedger = "house.example" }))
	add("of numbers", "co_dealer",
		s.commit("u", numbers(80, 20), func(c *refContext) { c.ForLedger = "house.example" }))
	add("for this ledger", "co_dealer", order(func(c *refContext) { c.ForLedger = sampleOrigin }))
	add("with a slot", "co_dealer", order(planned(slot)))
	add("with a co-dealer of its own", "co_dealer", asking(order(coDealt)))
	add("with an ask key", "co_dealer", asking(order()))
	add("with an end_at", "co_dealer", order(func(c *refContext) { c.EndAt = refEndAt{Form: 1, Place: 3} }))
	add("with a drawn end_at", "co_dealer", order(func(c *refContext) { c.EndAt = refEndAt{Form: 2, Lo: 1, Hi: 3} }))
	add("with terms", "co_dealer", order(func(c *refContext) {
		c.Terms = &refTerms{Kind: 2, Hash: bytesOf("pays", 32)}
	}))
	add("of another deck", "co_dealer", order(func(c *refContext) { c.DeckHash = bytesOf("deck", 32) }))
	add("of five positions, and four cards", "co_dealer",
		order(func(c *refContext) { c.DeckHash = refPositionsDeck(5) }))
	add("of three of four positions", "co_dealer", order(func(c *refContext) { c.Take = 3 }))
	id := s.then(order())
	c.add("parent", "an order that is a child of one", "parent", s, order(child(id, 0, 1, 2, 3)))
	plain := s.then(s.commit("t", func(c *refContext) { c.DeckHash = refPositionsDeck(4) }))
	add("that is a child", "co_dealer", s.commit("t", child(plain, 0, 1, 2, 3), forLedger))
}

func (c legalityCases) blindDeals() {
	s, id := blindHand()
	add := c.add8(s, "co_dealer")
	two, burn := runs(seats(2)), refRun{Cards: 1, Purpose: 3}
	deal := func(first uint64, changes ...func(*refDeal)) refEntry { return s.deal(id, first, 1, changes...) }
	add("a deal of two places", holds, deal(0, two, given(5, 0)))
	add("a deal without what the co-dealer gave", "co_dealer", deal(0, two))
	at := func(index, size uint64) func(*refDeal) {
		return func(d *refDeal) { d.Blind.Deal.Index, d.Blind.Head.Index = index, size }
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
	add("a discard, which has no value", holds, deal(0, runs(refRun{Cards: 1, Purpose: 4}), given()))
	add("a public burn, which has one", holds, deal(0, runs(refRun{Cards: 1, Purpose: 3, Public: true}), given(1)))
	add("a public burn without one", "co_dealer", deal(0, runs(refRun{Cards: 1, Purpose: 3, Public: true}), given()))
	add("a burn between two seats", holds, deal(0, runs(seats(1), burn, seats(1)), given(1, 2)))
	add("a seat without a recipient", "co_dealer", deal(0, runs(refRun{Cards: 1, Purpose: 1}), given(1)))
	add("a public seat without a recipient", "co_dealer",
		deal(0, runs(refRun{Cards: 1, Purpose: 1, Public: true}), given(1)))
	add("a hidden board without a recipient", "co_dealer", deal(0, runs(refRun{Cards: 1, Purpose: 2}), given(1)))
	add("a board, which is public", holds, deal(0, runs(refRun{Cards: 1, Purpose: 2, Public: true}), given(1)))
	add("the second run a seat without a recipient", "co_dealer",
		deal(0, runs(seats(1), refRun{Cards: 1, Purpose: 1}), given(1, 2)))
	add("the whole rest as an order", "co_dealer", deal(0, runs(refRun{Cards: 6, Purpose: 6}), given(0, 1, 2, 3, 4, 5)))
	add("the whole rest to a seat", holds, deal(0, runs(seats(6)), given(5, 4, 3, 2, 1, 0)))
	add("the whole rest, final", holds, deal(0, runs(seats(6)), given(5, 4, 3, 2, 1, 0), final))
	c.add("place", "two rules: a deal with a co-dealer that leaves out a place, and no values", "place", s, deal(1, two))
	add("two rules: no values, under a checkpoint that does not cover the commit", "co_dealer", deal(0, two, under(id)))
	s.then(deal(0, two, given(5, 0)))
	add("a position of the deal before", "co_dealer", deal(2, two, given(1, 5)))
	add("the other position of the deal before", "co_dealer", deal(2, two, given(0, 1)))
	add("the next two places", holds, deal(2, two, given(1, 4)))
	c.add("place", "with a co-dealer, the places of the deal before again", "place", s, deal(0, two, given(5, 0)))
	s.then(deal(2, given()))
	add("a position of the deal before the last, behind a burn", "co_dealer", deal(3, two, given(5, 1)))
	add("the places behind a burn", holds, deal(3, two, given(1, 2)))

	q, other := blindHand()
	third := q.then(asking(q.commit("u", sixOfSix, coDealt)))
	q.then(q.deal(other, 0, 1, two, given(5, 0)))
	c.add("co_dealer", "positions that another shuffle had", holds, q, q.deal(third, 0, 1, two, given(5, 0)))
	plain := q.then(q.commit("v"))
	c.add("co_dealer", "what a co-dealer gave, of a shuffle without one", "co_dealer", q, q.deal(plain, 0, 1, given()))
	c.add("co_dealer", "what was asked for, of a shuffle without an order", "co_dealer", q, q.deal(plain, 0, 1, askedFor))
	c.add("co_dealer", "an order without a co-dealer", holds, q,
		q.deal(plain, 0, 0, runs(refRun{Cards: 4, Purpose: 6})))

	m := pinned()
	slot, plan := storySlot("t", 0)
	id = m.then(asking(m.commit("t", planned(plan), coDealt)))
	c.add("mix", "a deal with a co-dealer in front of the mix", "mix", m, m.deal(id, 0, 1, given()))
	c.add("mix", "a mix without a value of the co-dealer", holds, m, m.mix(id, slot))
	c.add("mix", "a mix with a value more than slots", "mix", m, m.mix(id, slot, slot))
	m.then(m.mix(id, slot))
	c.add("co_dealer", "a deal behind the mix", holds, m, m.deal(id, 0, 1, runs(seats(1)), given(3)))
	s, id = blindHand()
	c.add("mix", "a mix where the co-dealer is the whole plan", "mix", s, s.mix(id, slot))
	c.most()
}

// most is about 64 places.
func (c legalityCases) most() {
	values := make([]uint32, 64)
	for i := range values {
		values[i] = uint32(i)
	}
	large := func(c *refContext) { c.Cards, c.Take = 70, 70 }
	s := pinned()
	id := s.then(asking(s.commit("t", large, coDealt)))
	burn := refRun{Cards: 1, Purpose: 3}
	c.add("co_dealer", "64 places with a co-dealer", holds, s, s.deal(id, 0, 0, runs(seats(64)), given(values...)))
	c.add("co_dealer", "65 places with a co-dealer", "co_dealer", s,
		s.deal(id, 0, 0, runs(seats(64), burn), given(values...)))
	o := newStory()
	id = o.then(o.commit("t", large, forLedger))
	c.add("co_dealer", "64 places of an order", holds, o, o.deal(id, 0, 0, runs(seats(64)), askedFor))
	c.add("co_dealer", "65 places of an order", "co_dealer", o, o.deal(id, 0, 0, runs(seats(65)), askedFor))
	p := newStory()
	id = p.then(p.commit("t", large))
	c.add("co_dealer", "65 places without a co-dealer", holds, p, p.deal(id, 0, 65))
}

func (c legalityCases) blindDraws() {
	s := pinned()
	add := c.add8(s, "co_dealer")
	wheel := s.then(asking(s.commit("w", draws(6, 37, 6), coDealt)))
	both := runs(refRun{Cards: 2, Purpose: 2, Public: true})
	deal := func(id uint64, values ...uint32) refEntry { return s.deal(id, 0, 0, both, given(values...)) }
	add("draws: the largest values", holds, deal(wheel, 6, 37))
	add("draws: the smallest values", holds, deal(wheel, 1, 1))
	add("draws: 0", "co_dealer", deal(wheel, 0, 1))
	add("draws: a value above the first range", "co_dealer", deal(wheel, 7, 1))
	add("draws: a value above the second range", "co_dealer", deal(wheel, 6, 38))
	add("draws: a value twice", holds, deal(wheel, 3, 3))
	add("draws: behind a burn the range is that of the place", holds, s.deal(wheel, 0, 0,
		runs(refRun{Cards: 1, Purpose: 3}, refRun{Cards: 1, Purpose: 2, Public: true}), given(37)))
	add("draws: a value too few", "co_dealer", deal(wheel, 6))
	bingo := s.then(asking(s.commit("n", numbers(80, 3), coDealt)))
	add("numbers: the largest values", holds, deal(bingo, 80, 79))
	add("numbers: a value above the range of its place", "co_dealer", deal(bingo, 80, 80))
	s.then(deal(wheel, 6, 37))
	next := func(first uint64, v uint32) refEntry {
		return s.deal(wheel, first, 0, runs(refRun{Cards: 1, Purpose: 2, Public: true}), given(v))
	}
	add("draws: a value of the deal before", holds, next(2, 6))
	add("draws: a value above the range of the next place", "co_dealer", next(2, 7))
}

func (c legalityCases) orderDeals() {
	s, id := orderHand()
	add := func(name, rule string, next refEntry) { c.add("co_dealer", "of an order: "+name, rule, s, next) }
	deal := func(first uint64, changes ...func(*refDeal)) refEntry { return s.deal(id, first, 2, changes...) }
	two := runs(seats(2))
	add("a deal that was asked for", holds, deal(0, two, askedFor))
	add("a deal that nobody asked for", "co_dealer", deal(0, two))
	size := func(n uint64) func(*refDeal) { return func(d *refDeal) { d.Asked.Head.Index = n } }
	add("a checkpoint that covers the commit of the house", holds, deal(0, two, askedFor, size(8)))
	add("a checkpoint that does not cover the commit of the house", "co_dealer", deal(0, two, askedFor, size(7)))
	add("a deal with what a co-dealer gave", "co_dealer", deal(0, two, given(0, 1)))
	add("a deal with both", "co_dealer", deal(0, two, askedFor, given(0, 1)))
	add("a final deal", "co_dealer", deal(0, two, askedFor, final))
	add("a seat without a recipient", "co_dealer", deal(0, runs(refRun{Cards: 2, Purpose: 1}), askedFor))
	add("the whole rest as an order", "co_dealer", deal(0, runs(refRun{Cards: 6, Purpose: 6}), askedFor))
	add("the whole rest", holds, deal(0, runs(seats(6)), askedFor))
	add("a burn", holds, deal(0, askedFor))
	c.add("place", "of an order: a place left out", "place", s, deal(1, two, askedFor))
	s.then(deal(0, two, askedFor))
	add("the next places", holds, deal(2, two, askedFor))
	c.add("place", "of an order: the same places again", "place", s, deal(0, two, askedFor))
}

func (c legalityCases) blindCloses() {
	s, id := blindHand()
	add := c.add8(s, "co_dealer")
	unplayed := func(c *refClose) { c.Blind = &refBlind{foreignDeal, foreignHead, []uint32{1}} }
	follows := func(c *refClose) { c.Follows = &refFollows{foreign, 0} }
	late := func(s *story, id uint64, e refEntry) refEntry { e.Time = s.entries[id].Commit.CloseBy; return e }
	add("void for co_dealer", holds, s.close(id, 4, void(11)))
	add("void for co_dealer, with what was not played", holds, s.close(id, 4, void(11), unplayed))
	add("void for another reason, with what was not played", holds, s.close(id, 4, void(1), unplayed))
	add("tape_lost, with what was not played", holds, s.close(id, 4, tapeLost, unplayed))
	add("expired, with what was not played", holds, late(s, id, s.close(id, 5, unplayed)))
	add("completed, with what was not played", "co_dealer", s.close(id, 1, unplayed))
	add("ended_early, with what was not played", "co_dealer", s.close(id, 2, unplayed))
	add("completed", holds, s.close(id, 1))
	without := func(c *refClose) { c.Blind = nil }
	at := func(deal, size uint64) func(*refClose) {
		return func(c *refClose) { c.Blind.Deal.Index, c.Blind.Head.Index = deal, size }
	}
	values := func(values ...uint32) func(*refClose) { return func(c *refClose) { c.Blind.Values = values } }
	add("completed, without a checkpoint of the co-dealer", "co_dealer", s.close(id, 1, without))
	add("void, without a checkpoint of the co-dealer", "co_dealer", s.close(id, 4, void(11), without))
	add("expired, without a checkpoint of the co-dealer", "co_dealer", late(s, id, s.close(id, 5, without)))
	add("tape_lost, without a checkpoint of the co-dealer", holds, s.close(id, 4, tapeLost, without))
	add("a checkpoint of the co-dealer that covers its commit", holds, s.close(id, 1, at(0, 8)))
	add("a checkpoint of the co-dealer that does not cover its commit", "co_dealer", s.close(id, 1, at(0, 7)))
	add("what was not played, under a checkpoint that does not cover it", "co_dealer",
		s.close(id, 4, void(11), unplayed, at(8, 8)))
	add("what was not played is the commit", "co_dealer", s.close(id, 4, void(11), unplayed, at(7, 9)))
	add("what was not played, without values", holds, s.close(id, 4, void(11), unplayed, values()))
	add("what was not played, a value for each place", holds, s.close(id, 4, void(11), unplayed, values(0, 1, 2, 3, 4, 5)))
	add("what was not played, a value too many", "co_dealer",
		s.close(id, 4, void(11), unplayed, values(0, 1, 2, 3, 4, 5, 6)))
	add("what was not played, out of range", "co_dealer", s.close(id, 4, void(11), unplayed, values(6)))
	add("what was not played, one position twice", "co_dealer", s.close(id, 4, void(11), unplayed, values(1, 1)))
	add("a close with a co-dealer that follows another", "co_dealer", s.close(id, 1, follows))
	c.add("deadline", "two rules: expired in time, with what was not played, and follows", "deadline", s,
		s.close(id, 5, unplayed, follows))
	c.add("co_dealer", "two rules: completed with what was not played, and another tape", "co_dealer", s,
		s.close(id, 1, unplayed, func(c *refClose) { c.Tape = c.Tape[1:] }))
	s.then(s.deal(id, 0, 0, runs(seats(6)), given(5, 4, 3, 2, 1, 0), final))
	add("void for co_dealer behind a final deal", holds, s.close(id, 4, void(11)))

	p, plain := dealt()
	c.add("co_dealer", "void for co_dealer where there is none", "co_dealer", p, p.close(plain, 4, void(11)))
	c.add("co_dealer", "void with what was not played, where there is no co-dealer", "co_dealer", p,
		p.close(plain, 4, void(1), unplayed))
	c.add("co_dealer", "expired with what was not played, where there is no co-dealer", "co_dealer", p,
		late(p, plain, p.close(plain, 5, unplayed)))
	c.add("co_dealer", "a close that follows another, of no order", "co_dealer", p, p.close(plain, 1, follows))
	c.add("co_dealer", "a checkpoint of a co-dealer, where there is none", "co_dealer", p, p.close(plain, 1,
		func(c *refClose) { c.Blind = &refBlind{noDeal, foreignHead, nil} }))
	p.then(p.commit("t", child(plain, 3, 2)))
	c.add("co_dealer", "continued, with what was not played", "co_dealer", p, p.close(plain, 3, unplayed))
}

func (c legalityCases) orderCloses() {
	s, id := orderHand()
	late := func(e refEntry) refEntry { e.Time = s.entries[id].Commit.CloseBy; return e }
	for i, state := range []string{"an order, undealt: ", "an order that was dealt from: "} {
		names := func(places int) func(*refClose) {
			return func(c *refClose) { c.Follows = &refFollows{foreign, uint16(places)} }
		}
		follows := names(2 * i)
		add := func(name, rule string, next refEntry) { c.add("co_dealer", state+name, rule, s, next) }
		add("completed, behind the shuffle", holds, s.close(id, 1, follows))
		add("ended_early, behind the shuffle", holds, s.close(id, 2, follows))
		add("void, behind the shuffle", holds, s.close(id, 4, void(4), follows))
		add("completed, a place more than were dealt", "co_dealer", s.close(id, 1, names(2*i+1)))
		add("expired, another number of places than were dealt", "co_dealer", late(s.close(id, 5, names(2*(1-i)))))
		add("completed, behind nothing", "co_dealer", s.close(id, 1))
		add("ended_early, behind nothing", "co_dealer", s.close(id, 2))
		add("void, behind nothing", []string{holds, "co_dealer"}[i], s.close(id, 4, void(4)))
		add("expired, behind nothing", holds, late(s.close(id, 5)))
		add("expired, behind the shuffle", holds, late(s.close(id, 5, follows)))
		add("tape_lost, behind nothing", holds, s.close(id, 4, tapeLost))
		add("void for co_dealer", "co_dealer", s.close(id, 4, void(11), follows))
		add("void, with what was not played", "co_dealer", s.close(id, 4, void(4), follows,
			func(c *refClose) { c.Blind = &refBlind{foreignDeal, foreignHead, []uint32{1}} }))
		s.then(s.deal(id, 0, 0, runs(seats(2)), askedFor))
	}
}

func (c legalityCases) blindReveals() {
	s, id := blindHand()
	burn := refRun{Cards: 1, Purpose: 3}
	s.then(s.deal(id, 0, 0, runs(seats(2), burn, refRun{Cards: 1, Purpose: 4}), given(5, 0)))
	add := func(name, rule string, next refEntry) { c.add("reveal", "with a co-dealer "+name, rule, s, next) }
	add("a card of a seat", holds, s.reveal(id, []uint64{1}))
	add("a card of a seat, in front of the close", holds, s.reveal(id, []uint64{1}, finalReveal))
	for i, what := range []string{"a burn", "a discard"} {
		p := []uint64{uint64(2 + i)}
		add(what+" as exposed", "reveal", s.reveal(id, p, exposed))
		add(what+" in front of the close", "reveal", s.reveal(id, p, finalReveal))
	}
	o, order := orderHand()
	o.then(o.deal(order, 0, 0, runs(seats(2)), askedFor))
	c.add("reveal", "a place of an order", "reveal", o, o.reveal(order, []uint64{1}))
	c.add("reveal", "a place of an order, as exposed", "reveal", o, o.reveal(order, []uint64{1}, exposed))
	c.add("reveal", "a place of an order, in front of the close", "reveal", o, o.reveal(order, []uint64{1}, finalReveal))
}

// blindRoles are about who may write what of an order for another ledger.
func (c legalityCases) blindRoles() {
	s := pinned()
	for i, who := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1", "blind-1"} {
		s.then(s.credential(who, uint8(i+1)))
	}
	by := func(name string, e refEntry, who ...string) {
		for _, w := range []string{"dealer-1", "auditor-1", "admin-1", "regulator-1", "blind-1"} {
			rule := map[bool]string{true: holds, false: "credential"}[slices.Contains(who, w)]
			c.add("credential", name+" by "+w, rule, s, of(w, e))
		}
	}
	by("an order", s.commit("u", forLedger), "blind-1")
	by("a commit with a co-dealer", asking(s.commit("u", coDealt)), "dealer-1")
	by("a commit, where orders are made", s.commit("u"), "dealer-1")
	by("a pin", s.pin(), "admin-1")
	id := s.then(of("blind-1", s.commit("t", forLedger)))
	by("a deal of an order", s.deal(id, 0, 1, askedFor), "blind-1")
	by("tape_lost of an order", s.close(id, 4, tapeLost), "admin-1")
	c.add("credential", "a close of an order by its owner", holds, s, of("blind-1", s.close(id, 4, void(4))))
	c.add("owner", "a close of an order by a dealer", "owner", s, s.close(id, 4, void(4)))
	c.add("credential", "a reveal of an order by its owner", "credential", s, of("blind-1", s.reveal(id, []uint64{0})))
	c.add("credential", "a takeover of an order by its owner", "credential", s, s.takeover(id, "blind-1", 1))
	c.add("credential", "a table closed by the house of another ledger", "credential", s,
		of("blind-1", operator(refEvent{Kind: 3, Table: "t"})))
	c.add("credential", "two rules: a deal of an order that nobody asked for, by its owner", "credential", s,
		of("blind-1", s.deal(id, 0, 1)))
	s.then(s.takeover(id, "dealer-1", 1))
	c.add("credential", "a close of an order by a dealer who took it over", holds, s, s.close(id, 4, void(4)))
	c.add("credential", "an order without any credential in the ledger", holds, newStory(), newStory().commit("t", forLedger))
}
