package audit

// addBlind has what ties shuffles of two ledgers together.
func (s *samples) addBlind() {
	foreign := refForeign{Index: 7, Leaf: bytesOf("leaf", 32)}
	head := refForeign{Index: maxInteger, Leaf: bytesOf("root", 32)}
	plan := []refSource{{Source: 4, Origin: "lab.example/orders", Commit: &foreign}}
	commit := func(name string, ctx refContext, askKey hexed) {
		c := sampleCommit(ctx)
		c.AskKey = askKey
		s.add("commit: "+name, refEntry{Commit: &c})
	}
	askKey := bytesOf("ask key", 32)
	commit("cards with a co-dealer", with(sampleContext(), func(c *refContext) { c.Plan = plan }), askKey)
	commit("cards with a co-dealer, a slot, a beacon and a cut", with(sampleContext(), func(c *refContext) {
		c.Plan = append(plan, refSource{Source: 1, Slot: bytesOf("slot", 32)},
			refSource{Source: 2, Chain: bytesOf("chain", 32), Round: 1}, refSource{Source: 3})
	}), askKey)
	commit("an order for another ledger", with(sampleContext(), func(c *refContext) {
		c.ForLedger = "house.example/tables"
	}), nil)
	asked := refAsked{Commit: foreign, After: bytesOf("before", 32), Head: head, State: make(hexed, 32),
		Ask: bytesOf("ask", 64)}
	runs := []refRun{{Cards: 2, Purpose: 1, Recipient: "seat-1"}, {Cards: 1, Purpose: 3}}
	s.add("deal: asked for by another ledger", refEntry{Deal: &refDeal{Shuffle: 2, Runs: runs, Asked: &asked}})
	s.add("deal: of a shuffle with a co-dealer", refEntry{Deal: &refDeal{Shuffle: 2, Runs: runs,
		Blind: &refBlind{Deal: foreign, Head: head, Values: []uint32{51, 0}}}})
	s.add("deal: blind, of nothing that is opened", refEntry{Deal: &refDeal{Shuffle: 2, Runs: runs[1:],
		Blind: &refBlind{Deal: foreign, Head: head, Values: []uint32{}}}})
	tape := bytesOf("tape", 129)
	s.add("close: void, the co-dealer did not answer", refEntry{Close: &refClose{Shuffle: 2, Outcome: 4, Reason: 11, Form: 1,
		Tape: tape, Blind: &refBlind{Deal: foreign, Head: head, Values: make([]uint32, 64)}}})
	s.add("close: with a co-dealer, and nothing that was not played", refEntry{Close: &refClose{Shuffle: 2, Outcome: 1,
		Form: 1, Tape: tape, Blind: &refBlind{Deal: noDeal, Head: head}}})
	s.add("close: of an order, behind the shuffle", refEntry{Close: &refClose{Shuffle: 2, Outcome: 1, Form: 1, Tape: tape,
		Follows: &refFollows{foreign, 4096}}})
	s.add("key: a co-dealer", refEntry{Key: &refKey{Subject: 8, Origin: "lab.example/orders", Public: keyLike(33),
		Policy: "quorum none\n"}})
	s.add("key: a co-dealer of every commit", refEntry{Key: &refKey{Subject: 8, Every: true,
		Origin: "lab.example/orders", Public: keyLike(33), Policy: "quorum none\n"}})
	s.add("key: no co-dealer", refEntry{Key: &refKey{Subject: 8}})
}
