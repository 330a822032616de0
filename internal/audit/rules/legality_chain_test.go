package audit

import "fmt"

// Cases of chains: a root, its child, its child's child.

// threeDeep is a story with a hand, of which five cards are dealt, its child and the child of that.
func threeDeep() (s *story, root, kid, last uint64) {
	s, root = handDealt()
	kid = s.continued(root, 5, 4, 3)
	last = s.continued(kid, 2, 0)
	return s, root, kid, last
}

func (c legalityCases) chains() {
	s, root, kid, last := threeDeep()
	other := s.then(s.commit("u"))
	for i, name := range []string{"the root", "a child"} {
		id := []uint64{root, kid}[i]
		add := func(what string, next refEntry) {
			c.add("not_open", what+" of "+name+" that was continued", "not_open", s, next)
		}
		add("a deal", s.deal(id, 0, 1))
		add("a close", s.close(id, 1))
		add("a close as void for tape_lost", s.close(id, 4, tapeLost))
		add("a takeover", s.takeover(id, "dealer-2", 2))
		add("a disclosure", s.disclose(id))
		c.add("parent", name+" again, which was continued", "parent", s, s.commit("t", child(id, 0, 1)))
	}
	c.add("not_open", "a disclosure of the shuffle that is open", "not_open", s, s.disclose(last))
	c.add("not_open", "a disclosure of a shuffle at another table", "not_open", s, s.disclose(other))
	c.add("not_open", "a disclosure of an event", "not_open", s, s.disclose(1))
	pair := func(name, rule string, next refEntry) { c.add("pair", name, rule, s, next) }
	pair("in front of the close of a chain, an event", holds, s.start())
	s.then(s.close(last, 1))
	pair("after the close of a chain the disclosure of its root", holds, s.disclose(root))
	pair("after the close of a chain the disclosure of a child, the root's due", "pair", s.disclose(kid))
	pair("after the close of a chain the disclosure of the last", "pair", s.disclose(last))
	pair("after the close of a chain a close of the genesis", "pair", s.close(0, 1))
	pair("after the close of a chain an event", "pair", s.start())
	pair("after the close of a chain a deal", "pair", s.deal(other, 0, 1))
	pair("after the close of a chain a reveal of the root", "pair", s.reveal(root, []uint64{1}))
	pair("after the close of a chain a disclosure by another", "pair", of("dealer-2", s.disclose(root)))
	pair("after the close of a chain a disclosure by the daemon", "pair", of("daemon", s.disclose(root)))
	pair("after the close of a chain a disclosure of a lost tape", holds, s.disclose(root, lostTape))
	c.add("form", "a disclosure of a byte less than the root's tape", "form", s, s.disclose(root, func(d *refDisclose) {
		d.Tape = d.Tape[1:]
	}))
	c.add("form", "a public disclosure, sealed", "form", s, s.disclose(root, sealedTo(1)))
	s.then(s.disclose(root))
	pair("after the disclosure of the root that of its child", holds, s.disclose(kid))
	pair("after the disclosure of the root, again", "pair", s.disclose(root))
	pair("after the disclosure of the root an event", "pair", s.start())
	s.then(s.disclose(kid))
	pair("after all disclosures an event", holds, s.start())
	c.add("not_open", "a disclosure of what is disclosed", "not_open", s, s.disclose(kid))
	c.endsOfChains()
	c.depths()
	c.closeBysOfChains()
	c.ownersOfChains()
	c.sealedChains()
}

func lostTape(d *refDisclose) { d.Form, d.Tape = 0, nil }

func sealedTo(key uint64) func(*refDisclose) {
	return func(d *refDisclose) { d.Form, d.Key, d.Tape = 2, key, bytesOf("sealed", len(d.Tape)+81) }
}

// endsOfChains: whatever the outcome of the last shuffle, its ancestors are disclosed.
func (c legalityCases) endsOfChains() {
	for _, end := range []struct {
		name    string
		outcome uint8
		change  func(*refClose)
	}{{"completed", 1, void(0)}, {"ended early", 2, void(0)}, {"void", 4, void(1)}, {"tape_lost", 4, tapeLost}} {
		s, root, _, last := threeDeep()
		s.then(s.close(last, end.outcome, end.change))
		c.add("pair", "a chain that ends as "+end.name+", disclosed", holds, s, s.disclose(root))
		c.add("pair", "a chain that ends as "+end.name+", and an event", "pair", s, s.start())
	}
	s, root, _, last := threeDeep()
	end := of("daemon", s.close(last, 5))
	end.Time = s.entries[last].Commit.CloseBy
	s.then(end)
	c.add("pair", "a chain that the daemon closes as expired, disclosed by the daemon", holds, s,
		of("daemon", s.disclose(root)))
	c.add("pair", "a chain that the daemon closes as expired, disclosed by the owner", "pair", s, s.disclose(root))
	s, root, _, last = threeDeep()
	s.then(s.deal(last, 0, 2, final))
	s.then(s.close(last, 1))
	c.add("pair", "after a final deal and the close of a chain the disclosure", holds, s, s.disclose(root))
}

func (c legalityCases) depths() {
	s, id := handDealt()
	for depth := 2; depth <= 8; depth++ {
		c.add("parent", fmt.Sprintf("a child of depth %d", depth), holds, s, s.commit("t", child(id, 0, 1)))
		id = s.continued(id, 0, 1)
	}
	c.add("parent", "a child of depth 9", "parent", s, s.commit("t", child(id, 0, 1)))
}

func (c legalityCases) closeBysOfChains() {
	s, root := handDealt()
	latest := s.entries[root].Time + storyCap*1000
	commit := func(parent, time, closeBy uint64) refEntry {
		e := s.commit("t", child(parent, 0, 1))
		e.Time, e.Commit.CloseBy = time, closeBy
		return e
	}
	time := s.entries[root].Commit.CloseBy - 1
	c.add("close_by", "of a child at the cap after its root", holds, s, commit(root, time, latest))
	c.add("close_by", "of a child later than the cap after its root", "close_by", s, commit(root, time, latest+1))
	kid := s.then(commit(root, time, latest-10))
	s.then(s.close(root, 3))
	c.add("close_by", "of a child's child at the cap after the root", holds, s, commit(kid, latest-20, latest))
	c.add("close_by", "of a child's child later than the cap after the root", "close_by", s,
		commit(kid, latest-20, latest+1))
	late := func(ms uint64) refEntry {
		e := s.reveal(root, []uint64{1})
		e.Time = latest - 10 + ms
		return e
	}
	c.add("deadline", "a reveal of a root before the close-by of its child", holds, s, late(^uint64(0)))
	c.add("deadline", "a reveal of a root at the close-by of its child", "deadline", s, late(0))
}

func (c legalityCases) ownersOfChains() {
	s, root, _, last := threeDeep()
	places := []uint64{1}
	c.add("owner", "a reveal of a root by its owner", holds, s, s.reveal(root, places))
	c.add("owner", "a reveal of a root by another", "owner", s, of("dealer-2", s.reveal(root, places)))
	s.then(s.takeover(last, "dealer-2", 1))
	c.add("owner", "a reveal of a root by who took the chain over to close", "owner", s,
		of("dealer-2", s.reveal(root, places)))
	s.then(s.takeover(last, "dealer-2", 2))
	c.add("owner", "a reveal of a root by who took the chain over", holds, s, of("dealer-2", s.reveal(root, places)))
	c.add("owner", "a reveal of a root by the earlier owner", "owner", s, s.reveal(root, places))
	c.add("owner", "a child of the last by the earlier owner", "owner", s, s.commit("t", child(last, 0, 1)))
	next := of("dealer-2", s.commit("t", child(last, 0, 1)))
	c.add("owner", "a child of the last by who took the chain over", holds, s, next)
	s.then(next)
	s.then(of("dealer-2", s.close(last, 3)))
	c.add("owner", "a reveal of a root by the owner of a later child", holds, s, of("dealer-2", s.reveal(root, places)))
}

func (c legalityCases) revealsOfAncestors() {
	s, root, _, last := threeDeep()
	add := func(name, rule string, next refEntry) { c.add("reveal", name, rule, s, next) }
	add("of a root, which was continued", holds, s.reveal(root, []uint64{1, 2}))
	add("of a root, final", "reveal", s.reveal(root, []uint64{1}, finalReveal))
	add("a burn of a root", "reveal", s.reveal(root, []uint64{3}))
	add("a burn of a root as exposed", holds, s.reveal(root, []uint64{3}, exposed))
	add("a place of a root that was not dealt", "reveal", s.reveal(root, []uint64{5}))
	s.then(s.reveal(root, []uint64{1}))
	add("a place of a root again", "reveal", s.reveal(root, []uint64{1}))
	s.then(s.close(last, 1))
	s.then(s.disclose(root))
	c.add("pair", "a reveal of a root that is disclosed", "pair", s, s.reveal(root, []uint64{2}))
	s.then(s.disclose(last - 2))
	c.add("not_open", "a reveal of a root after the chain", "not_open", s, s.reveal(root, []uint64{2}))
}

func (c legalityCases) sealedChains() {
	s := newStory(withAuditors("1"))
	key := s.then(s.disclosure("1", "1"))
	root := s.then(s.commit("t", toAuditors))
	kid := s.continued(root, 0, 1)
	next := s.then(s.disclosure("2", "1"))
	s.then(s.close(kid, 1, sealed(next)))
	c.add("form", "a disclosure to auditors", holds, s, s.disclose(root, sealedTo(next)))
	c.add("form", "a disclosure to auditors, in the clear", "form", s, s.disclose(root))
	c.add("form", "a disclosure to auditors, of a lost tape", holds, s, s.disclose(root, lostTape))
	c.add("disclosure_key", "a disclosure to a key that is not the newest", "disclosure_key", s,
		s.disclose(root, sealedTo(key)))
}
