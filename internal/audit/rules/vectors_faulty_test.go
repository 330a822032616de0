package audit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type faultyVectors struct {
	vectorHead
	Entries []hexed        `json:"entries"`
	Cases   []faultyVector `json:"cases"`
}

type faultyVector struct {
	Name   string        `json:"name"`
	Ledger []int         `json:"ledger"`
	Faults []faultyEntry `json:"faults"`
}

type faultyEntry struct {
	Entry int    `json:"entry"`
	Rule  string `json:"rule"`
}

var faultyHead = newHead("faulty",
	"Whole ledgers with faults, docs/SPEC.md section 9.1. entries are encodings that the cases name by their place in the list, from 0.",
	"cases: ledger is all entries of one, from entry 0. faults is every entry of it that breaks a rule, by its index, and the first rule that it breaks; or malformed, or unknown. What a lost entry would excuse (14.4) is in it, too.")

// unreadable are bytes of an entry that is malformed, and of one that is unknown.
func unreadable(e refEntry) (malformed, unknown []byte) {
	malformed, unknown = append(e.bytes(), 0), e.bytes()
	unknown[1] = 100 // its type
	return malformed, unknown
}

// faultyCases are ledgers with several faults or with entries that nobody can read, besides those of forcedStories.
func faultyCases(add func(name string, ledger [][]byte, faults ...faultyEntry)) {
	s := newStory()
	s.then(operator(refEvent{Kind: 2, Table: "t"}))
	told := s.encoded()
	add("no genesis", told[1:], faultyEntry{0, "genesis_first"}, faultyEntry{1, "genesis_first"})
	add("a late genesis, which counts", [][]byte{told[1], told[0], told[1], told[2], told[2]},
		faultyEntry{0, "genesis_first"}, faultyEntry{1, "genesis_first"}, faultyEntry{4, "table"})

	s, id := dealt()
	s.then(operator(refEvent{Kind: 3, Table: "t"}))
	s.then(s.commit("t"))
	s.then(s.commit("t"))
	s.then(s.close(id, 1))
	s.then(operator(refEvent{Kind: 2, Table: "t"}))
	s.then(s.commit("t"))
	add("two commits at a closed table, which stays closed", s.encoded(), faultyEntry{5, "table"},
		faultyEntry{6, "table"})

	s, id = dealt()
	s.then(s.deal(id, 1, 1, final))
	s.then(s.close(id, 1))
	s.then(s.close(id, 1))
	s.then(s.commit("t"))
	add("a second close of a pair's shuffle", s.encoded(), faultyEntry{6, "not_open"})

	s = newStory()
	s.then(killSwitch(true, 2, "t", nil))
	s.then(operator(refEvent{Kind: 3, Table: "t"}))
	s.then(killSwitch(false, 2, "t", nil))
	s.then(s.commit("t"))
	add("a kill switch opens no table", s.encoded(), faultyEntry{3, "table"}, faultyEntry{5, "table"})

	s, undealt, mixed, _, _, _ := closedOver()
	at := len(s.entries)
	slot, _ := storySlot("u", 0)
	s.then(s.mix(undealt, slot))
	s.then(s.deal(undealt, 0, 1))
	s.then(s.deal(undealt, 1, 1))
	kid := s.then(s.commit("u", child(mixed, 0, 1)))
	s.then(s.close(mixed, 3))
	s.then(s.deal(kid, 0, 2))
	add("what was set aside is mixed, dealt and continued", s.encoded(), faultyEntry{at, "set_aside"},
		faultyEntry{at + 1, "set_aside"}, faultyEntry{at + 3, "parent"})

	s = newStory()
	s.then(s.credential("dealer-1", 1))
	id = s.then(s.commit("t"))
	s.then(of("dealer-1", operator(refEvent{Kind: 3, Table: "t"})))
	s.then(s.deal(id, 0, 1))
	s.then(s.deal(id, 1, 1))
	add("a dealer's credential closes a table, which sets aside", s.encoded(), faultyEntry{4, "credential"},
		faultyEntry{5, "set_aside"})

	s = newStory(withAuditors("1", "2", "3", "4", "5", "6", "7", "8"))
	for i := 9; i <= MaxAuditors+1; i++ {
		s.then(s.auditor(strconv.Itoa(i)))
	}
	over := len(s.entries) - 1
	s.then(s.retire(3, auditorKey("nobody's")))
	s.then(s.retire(3, auditorKey(strconv.Itoa(MaxAuditors+1))))
	s.then(s.auditor(strconv.Itoa(MaxAuditors + 1)))
	add("an auditor too many, who is none", s.encoded(), faultyEntry{over, "key"}, faultyEntry{over + 1, "key"},
		faultyEntry{over + 2, "key"}, faultyEntry{over + 3, "key"})

	s, id = dealt()
	s.then(s.deal(id, 1, 1, final))
	s.now += 5000
	malformed, unknown := unreadable(s.dated(s.start()))
	s.now -= 5000
	s.then(s.close(id, 1))
	told = s.encoded()
	add("a malformed entry of a later time ends a pair", slices.Insert(slices.Clone(told), 5, malformed),
		faultyEntry{5, "malformed"})
	add("an unknown entry of a later time ends a pair", slices.Insert(slices.Clone(told), 5, unknown),
		faultyEntry{5, "unknown"})

	s = newStory(withTwo(1))
	policy := s.key(refKey{Subject: 4, Policy: "quorum none\n"})
	s.then(s.act(1, policy, "alice", "bob"))
	s.then(policy)
	add("an act does not reach over a malformed entry", slices.Insert(s.encoded(), 3, malformed),
		faultyEntry{3, "malformed"}, faultyEntry{4, "two_persons"})
}

func makeFaulty() faultyVectors {
	v, place := faultyVectors{vectorHead: faultyHead}, make(map[string]int)
	add := func(name string, ledger [][]byte, faults ...faultyEntry) {
		c := faultyVector{Name: name, Faults: faults}
		for _, b := range ledger {
			i, ok := place[string(b)]
			if !ok {
				i = len(v.Entries)
				place[string(b)] = i
				v.Entries = append(v.Entries, b)
			}
			c.Ledger = append(c.Ledger, i)
		}
		v.Cases = append(v.Cases, c)
	}
	stories := forcedStories()
	maps.Copy(stories, forcedChains())
	for _, name := range slices.Sorted(maps.Keys(stories)) {
		ledger := stories[name].tell().encoded()
		add(name, ledger, faultyEntry{len(ledger) - 1 - stories[name].after, stories[name].rule})
	}
	faultyCases(add)
	pairCases(add)
	return v
}

func TestFaultyVectorsAreTheReferences(t *testing.T) {
	v := makeFaulty()
	holdVectors(t, "faulty", encodeVectors(t, v.vectorHead, "entries", v.Entries, "cases", v.Cases))
}

// TestFaultyVectors: an audit names each fault and no other.
func TestFaultyVectors(t *testing.T) {
	t.Parallel()
	var v faultyVectors
	loadVectors(t, "faulty", &v.vectorHead, &v)
	wantCases(t, "faulty", 800, v.Cases, func(c faultyVector) string { return c.Name })
	for _, c := range v.Cases {
		var faults []faultyEntry
		s := NewState()
		for i, p := range c.Ledger {
			e, err := ParseEntry(v.Entries[p])
			rule := "malformed"
			if errors.Is(err, ErrUnknown) {
				rule = "unknown"
			} else if err == nil {
				rule = codeOf(s.Apply(e))
			}
			if rule != holds {
				faults = append(faults, faultyEntry{i, rule})
				s.Force(e)
			}
			s.Commit()
		}
		if diff := cmp.Diff(c.Faults, faults); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.Name, diff)
		}
	}
}

// followUp is an entry that may follow what was told: with the rule that it breaks, or holds.
type followUp struct {
	name, rule string
	e          refEntry
}

// pairCases are ledgers of a fault and one entry more, which may be a fault or not: each fault of a list, and behind it
// each entry of the list. What an audit finds is that of the state, and of the other implementations.
func pairCases(add func(name string, ledger [][]byte, faults ...faultyEntry)) {
	for _, tell := range []func() (*story, []followUp){playedPairs, blindPairs} {
		s, all := tell()
		for i := range all {
			all[i].e = s.dated(all[i].e)
		}
		for _, one := range all {
			if one.rule == holds {
				continue
			}
			for _, two := range all {
				told := *s
				told.entries = append(slices.Clone(s.entries), one.e, two.e)
				found := audited(NewState(), told.values())
				if found[len(s.entries)] != one.rule || len(found) > 2 {
					panic(fmt.Sprint(one.name, ": ", found))
				}
				var faults []faultyEntry
				for _, i := range slices.Sorted(maps.Keys(found)) {
					faults = append(faults, faultyEntry{i, found[i]})
				}
				add(one.name+", then "+two.name, told.encoded(), faults...)
			}
		}
	}
}

// playedPairs has one shuffle that is dealt, one that waits for its mix and one behind it, one that was set aside, and
// a child.
func playedPairs() (*story, []followUp) {
	s, undealt, _, begun, kid, _ := closedOver()
	slot, plan := storySlot("m", 0)
	first := s.then(s.commit("m", planned(plan)))
	second := s.then(s.commit("m"))
	third := s.then(s.commit("m", planned(plan)))
	wrong := s.commit("m")
	wrong.Commit.Serial, wrong.Commit.Previous = 1, 0
	early := s.start()
	early.Time = s.now - 10
	event := func(kind uint8, table string) refEntry { return operator(refEvent{Kind: kind, Table: table}) }
	return s, []followUp{
		{"a place left out", "place", s.deal(begun, 2, 1)},
		{"the next place", holds, s.deal(begun, 1, 1)},
		{"a round left out", "round", s.deal(begun, 1, 0, runs(refRun{Cards: 1, Purpose: 3, Round: 7}))},
		{"a final deal", holds, s.deal(begun, 1, 1, final)},
		{"a deal by another", "owner", of("dealer-2", s.deal(begun, 1, 1))},
		{"a takeover", holds, s.takeover(begun, "dealer-2", 2)},
		{"a close", holds, s.close(begun, 1)},
		{"a close as continued", "outcome", s.close(begun, 3)},
		{"a reveal of a burn", "reveal", s.reveal(begun, []uint64{0})},
		{"a final reveal", holds, s.reveal(begun, []uint64{0}, finalReveal)},
		{"a child of it", holds, s.commit("u", child(begun, 0, 1))},
		{"a child of it elsewhere", "parent", s.commit("m", child(begun, 0, 1))},
		{"a deal before the mix", "mix", s.deal(first, 0, 1)},
		{"the second place before the mix", "mix", s.deal(first, 1, 1)},
		{"the mix", holds, s.mix(first, slot)},
		{"a mix of what has no plan", "mix", s.mix(begun, slot)},
		{"another mix", "mix", s.mix(first, refValue{Source: 1, Value: bytesOf("x", 32)})},
		{"a mix without a plan", "earlier_serial", s.mix(second, slot)},
		{"a deal out of turn", "earlier_serial", s.deal(second, 0, 1)},
		{"the second place out of turn", "earlier_serial", s.deal(second, 1, 1)},
		{"a mix out of turn", "earlier_serial", s.mix(third, slot)},
		{"a deal out of turn and before the mix", "earlier_serial", s.deal(third, 0, 1)},
		{"a close of the first", holds, s.close(first, 2)},
		{"a serial again", "serial", wrong},
		{"a deal of what was committed last", "not_open", s.deal(uint64(len(s.entries)), 0, 1)},
		{"the next serial", holds, s.commit("m")},
		{"a deal of the child", holds, s.deal(kid, 0, 1)},
		{"a close of the child", holds, s.close(kid, 1)},
		{"a disclosure of its parent", "not_open", s.disclose(2)},
		{"a deal of what was set aside", "set_aside", s.deal(undealt, 0, 1)},
		{"a child of what was set aside", "parent", s.commit("u", child(undealt, 0, 1))},
		{"a table opened twice", "table", event(2, "m")},
		{"a table closed", holds, event(3, "m")},
		{"a time before", "time", early},
	}
}

// blindPairs has a shuffle with a co-dealer that gave two positions, and an order for another ledger.
func blindPairs() (*story, []followUp) {
	s, id := blindHand()
	s.then(s.deal(id, 0, 0, runs(seats(2)), given(5, 0)))
	order := s.then(s.commit("o", forLedger))
	deal := func(first uint64, values ...uint32) refEntry {
		return s.deal(id, first, 0, runs(seats(uint64(len(values)))), given(values...))
	}
	return s, []followUp{
		{"a position twice", "co_dealer", deal(2, 5)},
		{"a new position", holds, deal(2, 1)},
		{"a position that is none", "co_dealer", deal(2, 6)},
		{"a position behind a place left out", "place", deal(3, 1)},
		{"that position again", "place", deal(4, 1)},
		{"a deal without what was given", "co_dealer", s.deal(id, 2, 1)},
		{"a deal of the order that nobody asked for", "co_dealer", s.deal(order, 0, 1)},
		{"a deal of the order", holds, s.deal(order, 0, 1, askedFor)},
		{"a close of the order", holds, s.close(order, 4, void(4))},
		{"a close of it for a co-dealer", "co_dealer", s.close(order, 4, void(11))},
		{"a close of the shuffle", holds, s.close(id, 1)},
	}
}
