package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// TestOneWitnessConfirmsNothing: where deals wait for witnesses, a daemon that starts signs only when a quorum has
// cosigned the stored head. One witness that does is none, however often it is asked.
func TestOneWitnessConfirmsNothing(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	l := w.open(w.config("mark"))
	w.everyWitness(l)
	w.awaitCosigned(l, l.Head().Size-1)
	l.Close()

	w.down(true, 1, 2)
	s := &headCount{Store: w.store}
	c := w.config("mark")
	c.Store = s
	l = w.open(c)
	waitFor(t, func() bool { return l.Witnesses()[0].Err == nil && l.Witnesses()[0].Size == l.Head().Size })
	seen := s.heads() // each look of a frozen ledger reads it
	waitFor(t, func() bool { return s.heads() > seen+5 })
	if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) ||
		!strings.Contains(err.Error(), "confirm the stored head") {
		t.Errorf("one witness of three cosigned the stored head: %v", err)
	}
	w.down(false, 1)
	waitReady(t, l)
	w.must(l, propose(commit("t", 1)))
}

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

// TestFirstCosigned: the oldest cosigned checkpoint over an entry is found, behind a row that does not hold, too.
func TestFirstCosigned(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsSigned)
		l := w.open(w.config("mark"))
		first := w.must(l, propose(commit("t", 1)))[0].Index
		w.awaitCosigned(l, first)
		oldest, _ := l.Cosigned()
		second := w.must(l, propose(commit("t", 2)))[0].Index
		w.awaitCosigned(l, second)
		for _, index := range []uint64{first, oldest.Size - 1} {
			if h, err := l.FirstCosigned(t.Context(), index); err != nil || h.Size != oldest.Size {
				t.Errorf("over entry %d: size %d, %v, want %d", index, h.Size, err, oldest.Size)
			}
		}
		if h, err := l.FirstCosigned(t.Context(), second); err != nil || h.Size <= second {
			t.Errorf("over entry %d: size %d, %v", second, h.Size, err)
		}

		w.down(true, 0, 1, 2)
		third := w.must(l, propose(commit("t", 3)))[0].Index
		if h, err := l.FirstCosigned(t.Context(), third); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("over an entry that nobody cosigned: size %d, %v", h.Size, err)
		}
		if err := store.PutCosigned(t.Context(), l.ID(),
			ledger.Head{Size: third + 1, Checkpoint: []byte("junk")}); err != nil {
			t.Fatal(err)
		}
		w.down(false, 0, 1, 2)
		fourth := w.must(l, propose(commit("t", 4)))[0].Index
		w.awaitCosigned(l, fourth)
		if h, err := l.FirstCosigned(t.Context(), third); err != nil || h.Size <= fourth {
			t.Errorf("behind a row that does not hold: size %d, %v", h.Size, err)
		}
	})
}
