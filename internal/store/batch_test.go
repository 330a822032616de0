package store

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

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
