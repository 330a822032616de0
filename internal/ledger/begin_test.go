package ledger_test

import (
	"testing"
	"time"

	"shuffled/internal/audit"
)

// TestBeginsOnce: a probe that comes between the check of the stored head and the
// daemon's first entry writes no second instance_start.
func TestBeginsOnce(t *testing.T) {
	h := newHouse(t, openSQLite(t))
	const daemons = 30
	for range daemons {
		c := h.config("mark")
		c.Probe = time.Microsecond
		l := h.open(c)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	starts := 0
	for _, e := range h.entries() {
		if ev, ok := e.Body.(*audit.Event); ok && ev.Kind == audit.EventInstanceStart {
			starts++
		}
	}
	if starts != daemons {
		t.Errorf("%d instance_starts of %d daemons", starts, daemons)
	}
}
