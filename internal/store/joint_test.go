package store

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
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

func TestDeckRoundTrip(t *testing.T) {
	for _, name := range shuffle.Names() {
		d, _ := shuffle.Named(name)
		back, err := DecodeDeck(d.Bytes())
		if err != nil || !cmp.Equal(back, d.Cards()) {
			t.Errorf("%s came back as %v, %v", name, back, err)
		}
	}
}

func TestDeckRefused(t *testing.T) {
	whole := []byte("\x00\x03\x02As\x00\x0310h")
	for n := range whole {
		if cards, err := DecodeDeck(whole[:n]); err == nil {
			t.Errorf("the first %d bytes were read as %q", n, cards)
		}
	}
	if cards, err := DecodeDeck(append(bytes.Clone(whole), 0)); err == nil {
		t.Errorf("a byte too many was read as %q", cards)
	}
}

func TestCheckBatch(t *testing.T) {
	rows := func(indexes ...uint64) []ledger.Row {
		var r []ledger.Row
		for _, i := range indexes {
			r = append(r, ledger.Row{Index: i})
		}
		return r
	}
	for _, test := range []struct {
		name string
		old  uint64
		rows []ledger.Row
		size uint64
		ok   bool
	}{
		{"first", 0, rows(0), 1, true},
		{"next", 7, rows(7, 8, 9), 10, true},
		{"empty", 7, nil, 7, false},
		{"gap", 7, rows(7, 9), 9, false},
		{"twice", 7, rows(7, 7), 9, false},
		{"early", 7, rows(6, 7), 9, false},
		{"late", 7, rows(8), 8, false},
		{"head too small", 7, rows(7, 8), 8, false},
		{"head too large", 7, rows(7, 8), 10, false},
		{"out of range", math.MaxInt64, rows(math.MaxInt64), math.MaxInt64 + 1, false},
	} {
		err := CheckBatch(test.old, ledger.Batch{Rows: test.rows, Head: ledger.Head{Size: test.size}})
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
