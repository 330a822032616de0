package audit

import (
	"fmt"
	"maps"
	"slices"
)

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
