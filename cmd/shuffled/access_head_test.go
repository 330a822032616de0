package main

import (
	"fmt"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

// TestAccessHeads: the head of the records is written if there is a new one, and so it is at a stop; a daemon that
// starts again writes none that stands in the ledger.
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
	// daemon is one that starts, with the number of times at which heads are due.
	h := &house{log: s.log}
	daemon := func(times int) {
		l := *s.open()[0]
		l.head = nil
		for range times {
			h.keepAccessHead(t.Context(), &l)
		}
	}
	daemon(1)
	wants("nothing was asked for")
	ask()
	ask()
	daemon(2)
	wants("two requests, and then no new one", 2)
	ask()
	daemon(1)
	wants("another request", 2, 3)
	daemon(3)
	wants("a daemon that starts again", 2, 3)
	ask()
	daemon(1)
	wants("another request", 2, 3, 4)
	s.house.close()
	s.begin()
	ask()
	s.house.close()
	s.begin()
	wants("the house itself, closed and opened twice", 2, 3, 4, 5)
}
