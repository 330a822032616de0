package ledger_test

import (
	"context"
	"iter"
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
