package audit

import (
	"fmt"
	"slices"
	"testing"

	"shuffled/internal/shuffle"
)

// richState is the state of the story that has everything.
func richState(t testing.TB) *State {
	t.Helper()
	names, stories := stateStories()
	i := slices.Index(names, "everything")
	return fold(t, stories[i].values())
}

// find returns an open shuffle that there is.
func find(s *State, id uint64) opened {
	o, ok := s.open.find(id)
	if !ok {
		panic("no such shuffle")
	}
	return o
}

// crowd is a state with n tables and an open shuffle at each.
func crowd(t testing.TB, n int) *State {
	t.Helper()
	s := NewState()
	apply := func(body Body) {
		if err := s.Apply(Entry{Time: 1, Actor: someone, Body: body}); err != nil {
			t.Fatal(err)
		}
		s.Commit()
	}
	apply(sampleGenesisBody())
	apply(&Event{Kind: EventInstanceStart, Name: "v1"})
	for i := range n {
		c := nextCommit(s, fmt.Sprint("table-", i))
		c.Context.Recipe = shuffle.Recipe{Cards: 52, Take: 52}
		apply(c)
	}
	return s
}
