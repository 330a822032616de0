package main

import (
	"fmt"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

// TestAccessHeads: each tick writes the head of the records if there is a new one, and so
// does a stop; a daemon that starts again writes none that stands in the ledger.
func TestAccessHeads(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsWarn)
	id := s.open()[0].ledger().ID()
	asks := 0
	ask := func() {
		t.Helper()
		asks++
		if err := s.store.PutAccess(t.Context(), id,
			ledger.Access{Time: int64(asks), Request: fmt.Sprint(asks), Token: "t", Method: "GET",
				Path: "/"}); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(what string, records ...uint64) {
		t.Helper()
		var got []uint64
		for _, e := range s.events() {
			if e.Kind == audit.EventAccessHead {
				got = append(got, e.Records)
			}
		}
		if !slices.Equal(got, records) {
			t.Errorf("%s: heads of %d records, want %d", what, got, records)
		}
	}
	// daemon takes each step before a time of its clock, and the last one before its stop.
	daemon := func(steps ...func()) {
		h := &house{log: s.log, ledgers: s.open()}
		h.writeAccessHeads(func() (stopping bool) {
			steps[0]()
			steps = steps[1:]
			return len(steps) == 0
		})
	}
	nothing := func() {}
	daemon(nothing, func() {
		wants("nothing was asked for")
		ask()
		ask()
	}, func() {
		wants("two requests", 2)
	}, func() {
		wants("no new one", 2)
		ask()
	})
	wants("a stop", 2, 3)
	daemon(nothing, nothing)
	wants("a daemon that starts again, and stops", 2, 3)
	daemon(ask)
	wants("another request", 2, 3, 4)
	s.house.close()
	s.begin()
	ask()
	s.house.close()
	s.begin()
	wants("the house itself, closed and opened twice", 2, 3, 4, 5)
}
