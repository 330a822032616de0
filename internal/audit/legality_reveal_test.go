package audit

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
