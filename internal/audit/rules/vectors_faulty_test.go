package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

type faultyVectors struct {
	spec.VectorHead
	Entries []spec.Hexed   `json:"entries"`
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

var faultyHead = spec.NewHead("faulty",
	"Whole ledgers with faults, docs/SPEC.md section 9.1. entries are encodings that the cases name by their place in the list, from 0.",
	"cases: ledger is all entries of one, from entry 0. faults is every entry of it that breaks a rule, by its index, and the first rule that it breaks; or malformed, or unknown. What a lost entry would excuse (14.4) is in it, too.")

// faultyCases are ledgers with several faults or with entries that nobody can read, besides those of forcedStories.
func faultyCases(add func(name string, ledger [][]byte, faults ...faultyEntry)) {
	s := spec.NewStory()
	s.Then(spec.Operator(spec.Event{Kind: 2, Table: "t"}))
	told := s.Encoded()
	add("no genesis", told[1:], faultyEntry{0, "genesis_first"}, faultyEntry{1, "genesis_first"})
	add("a late genesis, which counts", [][]byte{told[1], told[0], told[1], told[2], told[2]},
		faultyEntry{0, "genesis_first"}, faultyEntry{1, "genesis_first"}, faultyEntry{4, "table"})

	s, id := dealt()
	s.Then(spec.Operator(spec.Event{Kind: 3, Table: "t"}))
	s.Then(s.Commit("t"))
	s.Then(s.Commit("t"))
	s.Then(s.Close(id, 1))
	s.Then(spec.Operator(spec.Event{Kind: 2, Table: "t"}))
	s.Then(s.Commit("t"))
	add("two commits at a closed table, which stays closed", s.Encoded(), faultyEntry{5, "table"},
		faultyEntry{6, "table"})

	s, id = dealt()
	s.Then(s.Deal(id, 1, 1, spec.Final))
	s.Then(s.Close(id, 1))
	s.Then(s.Close(id, 1))
	s.Then(s.Commit("t"))
	add("a second close of a pair's shuffle", s.Encoded(), faultyEntry{6, "not_open"})

	s = spec.NewStory()
	s.Then(spec.KillSwitch(true, 2, "t", nil))
	s.Then(spec.Operator(spec.Event{Kind: 3, Table: "t"}))
	s.Then(spec.KillSwitch(false, 2, "t", nil))
	s.Then(s.Commit("t"))
	add("a kill switch opens no table", s.Encoded(), faultyEntry{3, "table"}, faultyEntry{5, "table"})

	s, undealt, mixed, _, _, _ := closedOver()
	at := len(s.Entries)
	slot, _ := spec.StorySlot("u", 0)
	s.Then(s.Mix(undealt, slot))
	s.Then(s.Deal(undealt, 0, 1))
	s.Then(s.Deal(undealt, 1, 1))
	kid := s.Then(s.Commit("u", spec.ChildOf(mixed, 0, 1)))
	s.Then(s.Close(mixed, 3))
	s.Then(s.Deal(kid, 0, 2))
	add("what was set aside is mixed, dealt and continued", s.Encoded(), faultyEntry{at, "set_aside"},
		faultyEntry{at + 1, "set_aside"}, faultyEntry{at + 3, "parent"})

	s = spec.NewStory()
	s.Then(s.Credential("dealer-1", 1))
	id = s.Then(s.Commit("t"))
	s.Then(spec.Of("dealer-1", spec.Operator(spec.Event{Kind: 3, Table: "t"})))
	s.Then(s.Deal(id, 0, 1))
	s.Then(s.Deal(id, 1, 1))
	add("a dealer's credential closes a table, which sets aside", s.Encoded(), faultyEntry{4, "credential"},
		faultyEntry{5, "set_aside"})

	s = spec.NewStory(spec.WithAuditors("1", "2", "3", "4", "5", "6", "7", "8"))
	for i := 9; i <= audit.MaxAuditors+1; i++ {
		s.Then(s.Auditor(strconv.Itoa(i)))
	}
	over := len(s.Entries) - 1
	s.Then(s.Retire(3, spec.AuditorKey("nobody's")))
	s.Then(s.Retire(3, spec.AuditorKey(strconv.Itoa(audit.MaxAuditors+1))))
	s.Then(s.Auditor(strconv.Itoa(audit.MaxAuditors + 1)))
	add("an auditor too many, who is none", s.Encoded(), faultyEntry{over, "key"}, faultyEntry{over + 1, "key"},
		faultyEntry{over + 2, "key"}, faultyEntry{over + 3, "key"})

	s, id = dealt()
	s.Then(s.Deal(id, 1, 1, spec.Final))
	s.Now += 5000
	start := s.Dated(s.Start())
	malformed, unknown := append(start.Bytes(), 0), start.Bytes()
	unknown[1] = 100 // its type
	s.Now -= 5000
	s.Then(s.Close(id, 1))
	told = s.Encoded()
	add("a malformed entry of a later time ends a pair", slices.Insert(slices.Clone(told), 5, malformed),
		faultyEntry{5, "malformed"})
	add("an unknown entry of a later time ends a pair", slices.Insert(slices.Clone(told), 5, unknown),
		faultyEntry{5, "unknown"})

	s = spec.NewStory(spec.WithTwo(1))
	policy := s.Key(spec.Key{Subject: 4, Policy: "quorum none\n"})
	s.Then(s.Act(1, policy, "alice", "bob"))
	s.Then(policy)
	add("an act does not reach over a malformed entry", slices.Insert(s.Encoded(), 3, malformed),
		faultyEntry{3, "malformed"}, faultyEntry{4, "two_persons"})
}

func makeFaulty() faultyVectors {
	v, place := faultyVectors{VectorHead: faultyHead}, make(map[string]int)
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
		ledger := stories[name].tell().Encoded()
		add(name, ledger, faultyEntry{len(ledger) - 1 - stories[name].after, stories[name].rule})
	}
	faultyCases(add)
	pairCases(add)
	return v
}

func TestFaultyVectorsAreTheReferences(t *testing.T) {
	v := makeFaulty()
	spec.HoldVectors(t, "faulty", spec.EncodeVectors(t, v.VectorHead, "entries", v.Entries, "cases", v.Cases))
}

// TestFaultyVectors: an audit names each fault and no other.
func TestFaultyVectors(t *testing.T) {
	t.Parallel()
	var v faultyVectors
	spec.LoadVectors(t, "faulty", &v.VectorHead, &v)
	spec.WantCases(t, "faulty", 800, v.Cases, func(c faultyVector) string { return c.Name })
	for _, c := range v.Cases {
		var faults []faultyEntry
		s := NewState()
		for i, p := range c.Ledger {
			e, err := audit.ParseEntry(v.Entries[p])
			rule := "malformed"
			if errors.Is(err, audit.ErrUnknown) {
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
	e          spec.Entry
}

// pairCases are ledgers of a fault and one entry more, which may be a fault or not: each fault of a list, and behind it
// each entry of the list. What an audit finds is that of the state, and of the other implementations.
func pairCases(add func(name string, ledger [][]byte, faults ...faultyEntry)) {
	for _, tell := range []func() (*spec.Story, []followUp){playedPairs, blindPairs} {
		s, all := tell()
		for i := range all {
			all[i].e = s.Dated(all[i].e)
		}
		for _, one := range all {
			if one.rule == holds {
				continue
			}
			for _, two := range all {
				told := *s
				told.Entries = append(slices.Clone(s.Entries), one.e, two.e)
				found := audited(NewState(), told.Values())
				if found[len(s.Entries)] != one.rule || len(found) > 2 {
					panic(fmt.Sprint(one.name, ": ", found))
				}
				var faults []faultyEntry
				for _, i := range slices.Sorted(maps.Keys(found)) {
					faults = append(faults, faultyEntry{i, found[i]})
				}
				add(one.name+", then "+two.name, told.Encoded(), faults...)
			}
		}
	}
}

// playedPairs has one shuffle that is dealt, one that waits for its mix and one behind it, one that was set aside, and
// a child.
func playedPairs() (*spec.Story, []followUp) {
	s, undealt, _, begun, kid, _ := closedOver()
	slot, plan := spec.StorySlot("m", 0)
	first := s.Then(s.Commit("m", spec.Planned(plan)))
	second := s.Then(s.Commit("m"))
	third := s.Then(s.Commit("m", spec.Planned(plan)))
	wrong := s.Commit("m")
	wrong.Commit.Serial, wrong.Commit.Previous = 1, 0
	early := s.Start()
	early.Time = s.Now - 10
	event := func(kind uint8, table string) spec.Entry { return spec.Operator(spec.Event{Kind: kind, Table: table}) }
	return s, []followUp{
		{"a place left out", "place", s.Deal(begun, 2, 1)},
		{"the next place", holds, s.Deal(begun, 1, 1)},
		{"a round left out", "round", s.Deal(begun, 1, 0, spec.Runs(spec.Run{Cards: 1, Purpose: 3, Round: 7}))},
		{"a final deal", holds, s.Deal(begun, 1, 1, spec.Final)},
		{"a deal by another", "owner", spec.Of("dealer-2", s.Deal(begun, 1, 1))},
		{"a takeover", holds, s.Takeover(begun, "dealer-2", 2)},
		{"a close", holds, s.Close(begun, 1)},
		{"a close as continued", "outcome", s.Close(begun, 3)},
		{"a reveal of a burn", "reveal", s.Reveal(begun, []uint64{0})},
		{"a final reveal", holds, s.Reveal(begun, []uint64{0}, spec.FinalReveal)},
		{"a child of it", holds, s.Commit("u", spec.ChildOf(begun, 0, 1))},
		{"a child of it elsewhere", "parent", s.Commit("m", spec.ChildOf(begun, 0, 1))},
		{"a deal before the mix", "mix", s.Deal(first, 0, 1)},
		{"the second place before the mix", "mix", s.Deal(first, 1, 1)},
		{"the mix", holds, s.Mix(first, slot)},
		{"a mix of what has no plan", "mix", s.Mix(begun, slot)},
		{"another mix", "mix", s.Mix(first, spec.Value{Source: 1, Value: spec.BytesOf("x", 32)})},
		{"a mix without a plan", "earlier_serial", s.Mix(second, slot)},
		{"a deal out of turn", "earlier_serial", s.Deal(second, 0, 1)},
		{"the second place out of turn", "earlier_serial", s.Deal(second, 1, 1)},
		{"a mix out of turn", "earlier_serial", s.Mix(third, slot)},
		{"a deal out of turn and before the mix", "earlier_serial", s.Deal(third, 0, 1)},
		{"a close of the first", holds, s.Close(first, 2)},
		{"a serial again", "serial", wrong},
		{"a deal of what was committed last", "not_open", s.Deal(uint64(len(s.Entries)), 0, 1)},
		{"the next serial", holds, s.Commit("m")},
		{"a deal of the child", holds, s.Deal(kid, 0, 1)},
		{"a close of the child", holds, s.Close(kid, 1)},
		{"a disclosure of its parent", "not_open", s.Disclose(2)},
		{"a deal of what was set aside", "set_aside", s.Deal(undealt, 0, 1)},
		{"a child of what was set aside", "parent", s.Commit("u", spec.ChildOf(undealt, 0, 1))},
		{"a table opened twice", "table", event(2, "m")},
		{"a table closed", holds, event(3, "m")},
		{"a time before", "time", early},
	}
}

// blindPairs has a shuffle with a co-dealer that gave two positions, and an order for another ledger.
func blindPairs() (*spec.Story, []followUp) {
	s, id := blindHand()
	s.Then(s.Deal(id, 0, 0, spec.Runs(seats(2)), given(5, 0)))
	order := s.Then(s.Commit("o", forLedger))
	deal := func(first uint64, values ...uint32) spec.Entry {
		return s.Deal(id, first, 0, spec.Runs(seats(uint64(len(values)))), given(values...))
	}
	return s, []followUp{
		{"a position twice", "co_dealer", deal(2, 5)},
		{"a new position", holds, deal(2, 1)},
		{"a position that is none", "co_dealer", deal(2, 6)},
		{"a position behind a place left out", "place", deal(3, 1)},
		{"that position again", "place", deal(4, 1)},
		{"a deal without what was given", "co_dealer", s.Deal(id, 2, 1)},
		{"a deal of the order that nobody asked for", "co_dealer", s.Deal(order, 0, 1)},
		{"a deal of the order", holds, s.Deal(order, 0, 1, askedFor)},
		{"a close of the order", holds, s.Close(order, 4, spec.Void(4))},
		{"a close of it for a co-dealer", "co_dealer", s.Close(order, 4, spec.Void(11))},
		{"a close of the shuffle", holds, s.Close(id, 1)},
	}
}
