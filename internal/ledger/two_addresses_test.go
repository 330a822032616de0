package ledger_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"shuffled/internal/audit"
)

// TestOneWitnessTwice: while a policy waits, one witness cosigns at two addresses. It is one witness: no quorum of two,
// and one line of the checkpoint that the others cosign with it.
func TestOneWitnessTwice(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsSigned)
	l := w.open(w.addresses(newNobody(), new(atomic.Int64)))
	w.everyWitness(l)
	w.awaitCosigned(l, l.Head().Size-1)
	w.down(true, 1, 2)
	w.must(l, propose(&audit.Key{Subject: audit.SubjectPolicy, Policy: w.all("/moved")}))
	c := w.must(l, propose(commit("t", 1)))[0]
	waitFor(t, func() bool {
		cosigned := 0
		for _, s := range l.Witnesses() {
			if s.Err == nil && s.Size > c.Index {
				cosigned++
			}
		}
		return cosigned == 2 // by the first, at each of its addresses
	})
	if h, _ := l.Cosigned(); h.Size > c.Index {
		t.Errorf("one witness of three cosigned size %d, and that is taken for a quorum", h.Size)
	}
	w.down(false, 1, 2)
	w.awaitCosigned(l, c.Index)
	h, _ := l.Cosigned()
	_, signatures, _ := strings.Cut(string(h.Checkpoint), "\n\n")
	by := make(map[string]int)
	for line := range strings.Lines(signatures) {
		by[strings.Fields(line)[1]]++
	}
	for name, n := range by {
		if n != 1 || len(by) != 4 {
			t.Errorf("%d lines of %s, and %d signers:\n%s", n, name, len(by), h.Checkpoint)
		}
	}
}
