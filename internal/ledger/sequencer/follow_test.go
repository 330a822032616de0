package ledger_test

import (
	"context"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// countingStore counts the cosigned checkpoints that are read.
type countingStore struct {
	ledger.Store
	rows *atomic.Int64
}

func (c countingStore) CosignedFrom(ctx context.Context, id ledger.ID, size uint64) iter.Seq2[ledger.Head, error] {
	return func(yield func(ledger.Head, error) bool) {
		for h, err := range c.Store.CosignedFrom(ctx, id, size) {
			c.rows.Add(1)
			if !yield(h, err) {
				return
			}
		}
	}
}

// TestFollowSkips: at a start, the rows between two policies are not read: none of them can let the second take over.
func TestFollowSkips(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsSigned)
		l := w.open(w.config("mark"))
		q1 := newQuorum(t, w.vkey)
		w.addPolicy(l, q1)
		w.asked(l, q1)
		for i := range 60 {
			a := w.must(l, propose(commit("t", uint64(i+1))))[0].Index
			w.awaitCosigned(l, a)
		}
		q2 := newQuorum(t, w.vkey)
		w.addPolicy(l, q2)
		w.asked(l, q2)
		l.Close()
		var rows atomic.Int64
		c := w.config("mark")
		c.Store = countingStore{store, &rows}
		w.open(c)
		t.Logf("rows read at start: %d", rows.Load())
		if rows.Load() > 8 {
			t.Errorf("every cosigned row between two policies is read and held: %d", rows.Load())
		}
	})
}

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
