package audit

import (
	"errors"
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
