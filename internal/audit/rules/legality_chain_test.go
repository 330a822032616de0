package rules

import (
	"fmt"

	"shuffled/internal/audit/spec"
)

// Cases of chains: a root, its child, its child's child.

// threeDeep is a story with a hand, of which five cards are dealt, its child and the child of that.
func threeDeep() (s *spec.Story, root, kid, last uint64) {
	s, root = handDealt()
	kid = s.Continued(root, 5, 4, 3)
	last = s.Continued(kid, 2, 0)
	return s, root, kid, last
}

func (c legalityCases) chains() {
	s, root, kid, last := threeDeep()
	other := s.Then(s.Commit("u"))
	for i, name := range []string{"the root", "a child"} {
		id := []uint64{root, kid}[i]
		add := func(what string, next spec.Entry) {
			c.add("not_open", what+" of "+name+" that was continued", "not_open", s, next)
		}
		add("a deal", s.Deal(id, 0, 1))
		add("a close", s.Close(id, 1))
		add("a close as void for tape_lost", s.Close(id, 4, spec.TapeLost))
		add("a takeover", s.Takeover(id, "dealer-2", 2))
		add("a disclosure", s.Disclose(id))
		c.add("parent", name+" again, which was continued", "parent", s, s.Commit("t", spec.ChildOf(id, 0, 1)))
	}
	c.add("not_open", "a disclosure of the shuffle that is open", "not_open", s, s.Disclose(last))
	c.add("not_open", "a disclosure of a shuffle at another table", "not_open", s, s.Disclose(other))
	c.add("not_open", "a disclosure of an event", "not_open", s, s.Disclose(1))
	pair := func(name, rule string, next spec.Entry) { c.add("pair", name, rule, s, next) }
	pair("in front of the close of a chain, an event", holds, s.Start())
	s.Then(s.Close(last, 1))
	pair("after the close of a chain the disclosure of its root", holds, s.Disclose(root))
	pair("after the close of a chain the disclosure of a child, the root's due", "pair", s.Disclose(kid))
	pair("after the close of a chain the disclosure of the last", "pair", s.Disclose(last))
	pair("after the close of a chain a close of the genesis", "pair", s.Close(0, 1))
	pair("after the close of a chain an event", "pair", s.Start())
	pair("after the close of a chain a deal", "pair", s.Deal(other, 0, 1))
	pair("after the close of a chain a reveal of the root", "pair", s.Reveal(root, []uint64{1}))
	pair("after the close of a chain a disclosure by another", "pair", spec.Of("dealer-2", s.Disclose(root)))
	pair("after the close of a chain a disclosure by the daemon", "pair", spec.Of("daemon", s.Disclose(root)))
	pair("after the close of a chain a disclosure of a lost tape", holds, s.Disclose(root, lostTape))
	c.add("form", "a disclosure of a byte less than the root's tape", "form", s, s.Disclose(root, func(d *spec.Disclose) {
		d.Tape = d.Tape[1:]
	}))
	c.add("form", "a public disclosure, sealed", "form", s, s.Disclose(root, sealedTo(1)))
	s.Then(s.Disclose(root))
	pair("after the disclosure of the root that of its child", holds, s.Disclose(kid))
	pair("after the disclosure of the root, again", "pair", s.Disclose(root))
	pair("after the disclosure of the root an event", "pair", s.Start())
	s.Then(s.Disclose(kid))
	pair("after all disclosures an event", holds, s.Start())
	c.add("not_open", "a disclosure of what is disclosed", "not_open", s, s.Disclose(kid))
	c.endsOfChains()
	c.depths()
	c.closeBysOfChains()
	c.ownersOfChains()
	c.sealedChains()
}

func lostTape(d *spec.Disclose) { d.Form, d.Tape = 0, nil }

func sealedTo(key uint64) func(*spec.Disclose) {
	return func(d *spec.Disclose) { d.Form, d.Key, d.Tape = 2, key, spec.BytesOf("sealed", len(d.Tape)+81) }
}

// endsOfChains: whatever the outcome of the last shuffle, its ancestors are disclosed.
func (c legalityCases) endsOfChains() {
	for _, end := range []struct {
		name    string
		outcome uint8
		change  func(*spec.Close)
	}{{"completed", 1, spec.Void(0)}, {"ended early", 2, spec.Void(0)}, {"void", 4, spec.Void(1)}, {"tape_lost", 4,
		spec.TapeLost}} {
		s, root, _, last := threeDeep()
		s.Then(s.Close(last, end.outcome, end.change))
		c.add("pair", "a chain that ends as "+end.name+", disclosed", holds, s, s.Disclose(root))
		c.add("pair", "a chain that ends as "+end.name+", and an event", "pair", s, s.Start())
	}
	s, root, _, last := threeDeep()
	end := spec.Of("daemon", s.Close(last, 5))
	end.Time = s.Entries[last].Commit.CloseBy
	s.Then(end)
	c.add("pair", "a chain that the daemon closes as expired, disclosed by the daemon", holds, s,
		spec.Of("daemon", s.Disclose(root)))
	c.add("pair", "a chain that the daemon closes as expired, disclosed by the owner", "pair", s, s.Disclose(root))
	s, root, _, last = threeDeep()
	s.Then(s.Deal(last, 0, 2, spec.Final))
	s.Then(s.Close(last, 1))
	c.add("pair", "after a final deal and the close of a chain the disclosure", holds, s, s.Disclose(root))
}

func (c legalityCases) depths() {
	s, id := handDealt()
	for depth := 2; depth <= 8; depth++ {
		c.add("parent", fmt.Sprintf("a child of depth %d", depth), holds, s, s.Commit("t", spec.ChildOf(id, 0, 1)))
		id = s.Continued(id, 0, 1)
	}
	c.add("parent", "a child of depth 9", "parent", s, s.Commit("t", spec.ChildOf(id, 0, 1)))
}

func (c legalityCases) closeBysOfChains() {
	s, root := handDealt()
	latest := s.Entries[root].Time + spec.StoryCap*1000
	commit := func(parent, time, closeBy uint64) spec.Entry {
		e := s.Commit("t", spec.ChildOf(parent, 0, 1))
		e.Time, e.Commit.CloseBy = time, closeBy
		return e
	}
	time := s.Entries[root].Commit.CloseBy - 1
	c.add("close_by", "of a child at the cap after its root", holds, s, commit(root, time, latest))
	c.add("close_by", "of a child later than the cap after its root", "close_by", s, commit(root, time, latest+1))
	kid := s.Then(commit(root, time, latest-10))
	s.Then(s.Close(root, 3))
	c.add("close_by", "of a child's child at the cap after the root", holds, s, commit(kid, latest-20, latest))
	c.add("close_by", "of a child's child later than the cap after the root", "close_by", s,
		commit(kid, latest-20, latest+1))
	late := func(ms uint64) spec.Entry {
		e := s.Reveal(root, []uint64{1})
		e.Time = latest - 10 + ms
		return e
	}
	c.add("deadline", "a reveal of a root before the close-by of its child", holds, s, late(^uint64(0)))
	c.add("deadline", "a reveal of a root at the close-by of its child", "deadline", s, late(0))
}

func (c legalityCases) ownersOfChains() {
	s, root, _, last := threeDeep()
	places := []uint64{1}
	c.add("owner", "a reveal of a root by its owner", holds, s, s.Reveal(root, places))
	c.add("owner", "a reveal of a root by another", "owner", s, spec.Of("dealer-2", s.Reveal(root, places)))
	s.Then(s.Takeover(last, "dealer-2", 1))
	c.add("owner", "a reveal of a root by who took the chain over to close", "owner", s,
		spec.Of("dealer-2", s.Reveal(root, places)))
	s.Then(s.Takeover(last, "dealer-2", 2))
	c.add("owner", "a reveal of a root by who took the chain over", holds, s, spec.Of("dealer-2", s.Reveal(root, places)))
	c.add("owner", "a reveal of a root by the earlier owner", "owner", s, s.Reveal(root, places))
	c.add("owner", "a child of the last by the earlier owner", "owner", s, s.Commit("t", spec.ChildOf(last, 0, 1)))
	next := spec.Of("dealer-2", s.Commit("t", spec.ChildOf(last, 0, 1)))
	c.add("owner", "a child of the last by who took the chain over", holds, s, next)
	s.Then(next)
	s.Then(spec.Of("dealer-2", s.Close(last, 3)))
	c.add("owner", "a reveal of a root by the owner of a later child", holds, s, spec.Of("dealer-2", s.Reveal(root, places)))
}

func (c legalityCases) revealsOfAncestors() {
	s, root, _, last := threeDeep()
	add := func(name, rule string, next spec.Entry) { c.add("reveal", name, rule, s, next) }
	add("of a root, which was continued", holds, s.Reveal(root, []uint64{1, 2}))
	add("of a root, final", "reveal", s.Reveal(root, []uint64{1}, spec.FinalReveal))
	add("a burn of a root", "reveal", s.Reveal(root, []uint64{3}))
	add("a burn of a root as exposed", holds, s.Reveal(root, []uint64{3}, spec.Exposed))
	add("a place of a root that was not dealt", "reveal", s.Reveal(root, []uint64{5}))
	s.Then(s.Reveal(root, []uint64{1}))
	add("a place of a root again", "reveal", s.Reveal(root, []uint64{1}))
	s.Then(s.Close(last, 1))
	s.Then(s.Disclose(root))
	c.add("pair", "a reveal of a root that is disclosed", "pair", s, s.Reveal(root, []uint64{2}))
	s.Then(s.Disclose(last - 2))
	c.add("not_open", "a reveal of a root after the chain", "not_open", s, s.Reveal(root, []uint64{2}))
}

func (c legalityCases) sealedChains() {
	s := spec.NewStory(spec.WithAuditors("1"))
	key := s.Then(s.Disclosure("1", "1"))
	root := s.Then(s.Commit("t", spec.ToAuditors))
	kid := s.Continued(root, 0, 1)
	next := s.Then(s.Disclosure("2", "1"))
	s.Then(s.Close(kid, 1, spec.Sealed(next)))
	c.add("form", "a disclosure to auditors", holds, s, s.Disclose(root, sealedTo(next)))
	c.add("form", "a disclosure to auditors, in the clear", "form", s, s.Disclose(root))
	c.add("form", "a disclosure to auditors, of a lost tape", holds, s, s.Disclose(root, lostTape))
	c.add("disclosure_key", "a disclosure to a key that is not the newest", "disclosure_key", s,
		s.Disclose(root, sealedTo(key)))
}
