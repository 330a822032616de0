package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

// TestAccessHeads: each tick writes the head of the records if there is a new one, and so
// does a stop; a daemon that starts again writes none that stands in the ledger.
func TestAccessHeads(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsWarn)
	id := s.dealers[0].Ledger().ID()
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
	// daemon ticks: with the n-th tick taken, what the one before asked for is done.
	daemon := func(steps func(tick func())) {
		h := &house{log: s.log, dealers: s.dealers, store: s.store, last: make(chan struct{})}
		clock, done := make(chan time.Time), make(chan struct{})
		go func() { defer close(done); h.writeAccessHeads(clock) }()
		steps(func() { clock <- time.Time{}; clock <- time.Time{} })
		close(h.last)
		<-done
	}
	daemon(func(tick func()) {
		tick()
		wants("nothing was asked for")
		ask()
		ask()
		tick()
		wants("two requests", 2)
		tick()
		wants("no new one", 2)
		ask()
	})
	wants("a stop", 2, 3)
	daemon(func(tick func()) { tick() })
	wants("a daemon that starts again, and stops", 2, 3)
	daemon(func(func()) { ask() })
	wants("another request", 2, 3, 4)
	s.house.close()
	s.open()
	s.house.close()
	s.open()
	wants("the house itself, closed and opened twice", 2, 3, 4)
}
