package store

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"shuffled/internal/ledger"
)

// TestJoint: while a transaction is under way, appends wait. The next one takes one of each ledger, and 64 at most.
// What did not land in it goes alone, and an unknown outcome is that of all.
func TestJoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type outcome struct {
			landed []ledger.ID
			err    error
		}
		sent, answer := make(chan []ledger.ID), make(chan outcome)
		j := NewJoint(1, func(all []*Appending) ([]ledger.ID, error) {
			var ids []ledger.ID
			for _, a := range all {
				ids = append(ids, a.ID)
			}
			sent <- ids
			o := <-answer
			return o.landed, o.err
		})
		appending := func(ctx context.Context, id ledger.ID) <-chan error {
			got := make(chan error, 1)
			batch := ledger.Batch{Rows: make([]ledger.Row, 1), Head: ledger.Head{Size: 1}}
			go func() { got <- j.Append(ctx, id, ledger.Head{}, batch) }()
			synctest.Wait()
			return got
		}
		expect := func(o outcome, want ...ledger.ID) {
			t.Helper()
			if got := <-sent; !slices.Equal(got, want) {
				t.Errorf("a transaction of %v, not of %v", got, want)
			}
			answer <- o
			synctest.Wait()
		}
		full := errors.New("the disk is full")
		leaving, leave := context.WithCancel(t.Context())
		first := appending(t.Context(), 1)
		second, same, third := appending(t.Context(), 2), appending(t.Context(), 2), appending(t.Context(), 3)
		left := appending(leaving, 4)
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("one that left: %v", err)
		}
		expect(outcome{err: full}, 1)
		expect(outcome{landed: []ledger.ID{3}}, 2, 3)
		expect(outcome{}, 2)
		expect(outcome{landed: []ledger.ID{2}}, 2)
		for i, got := range []<-chan error{first, second, same, third} {
			if err := <-got; !errors.Is(err, []error{full, ledger.ErrStale, nil, nil}[i]) {
				t.Errorf("append %d: %v", i, err)
			}
		}
		appending(t.Context(), 0)
		var ids []ledger.ID
		var all []<-chan error
		for id := range ledger.ID(jointLedgers + 2) {
			ids, all = append(ids, id+1), append(all, appending(t.Context(), id+1))
		}
		expect(outcome{landed: []ledger.ID{0}}, 0)
		expect(outcome{err: ledger.ErrUnknownOutcome}, ids[:jointLedgers]...)
		expect(outcome{err: full}, ids[jointLedgers:]...)
		expect(outcome{err: full}, ids[jointLedgers])
		expect(outcome{landed: ids}, ids[jointLedgers+1])
		for i, got := range all {
			want := []error{ledger.ErrUnknownOutcome, full, nil}[max(0, i-jointLedgers+1)]
			if err := <-got; !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("append %d of many: %v", i, err)
			}
		}
	})
}
