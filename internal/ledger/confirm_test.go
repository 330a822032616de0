package ledger_test

import (
	"errors"
	"strings"
	"testing"

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
