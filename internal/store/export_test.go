package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"shuffled/internal/bundle"
	"shuffled/internal/ledger"
)

// fakeRows answers the statements of an export from a list of entries, and notes what it was asked.
type fakeRows struct {
	entries map[int64]any
	asked   []string
}

func (f *fakeRows) query(_ context.Context, sql string, args []any, each func([]any) error) error {
	f.asked = append(f.asked, sql)
	if sql != sqlExportEntries {
		return nil
	}
	for i := args[1].(int64); i < args[2].(int64); i++ {
		if e, ok := f.entries[i]; ok {
			if err := each([]any{i, e}); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestExportEntries: every entry once and in order, in parts; a hole, or a value
// that is none, is errOdd where it is, after what stands before it.
func TestExportEntries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n, from, to uint64
		spoil       func(map[int64]any)
		want        uint64 // entries before the error
		odd         bool
	}{
		{1500, 0, 1500, nil, 1500, false},
		{1500, 511, 1025, nil, 514, false},
		{1500, 7, 7, nil, 0, false},
		{1500, 1000, 1501, nil, 500, true},
		{1500, 0, 1500, func(m map[int64]any) { delete(m, 0) }, 0, true},
		{1500, 0, 1500, func(m map[int64]any) { delete(m, 511) }, 511, true},
		{1500, 0, 1500, func(m map[int64]any) { delete(m, 512) }, 512, true},
		{1500, 0, 1500, func(m map[int64]any) { delete(m, 700) }, 700, true},
		{1500, 0, 1500, func(m map[int64]any) { m[3] = nil }, 3, true},
		{1500, 0, 1500, func(m map[int64]any) { m[3] = "text" }, 3, true},
	} {
		f := fakeRows{entries: make(map[int64]any)}
		for i := range int64(test.n) {
			f.entries[i] = fmt.Append(nil, i)
		}
		if test.spoil != nil {
			test.spoil(f.entries)
		}
		x := Export{&Evidence{Query: f.query}, 1}
		next, failed := test.from, error(nil)
		for entry, err := range x.Entries(t.Context(), test.from, test.to) {
			if failed = err; err != nil {
				break
			}
			if string(entry) != fmt.Sprint(next) {
				t.Fatalf("entry %d is %s", next, entry)
			}
			next++
		}
		if next-test.from != test.want || errors.Is(failed, errOdd) != test.odd || !test.odd && failed != nil {
			t.Errorf("%d to %d of %d: %d entries, %v", test.from, test.to, test.n, next-test.from, failed)
		}
	}
}

// TestExportNothing: what is not there contradicts the store, or is an empty list.
func TestExportNothing(t *testing.T) {
	t.Parallel()
	f := new(fakeRows)
	x := Export{&Evidence{Query: f.query}, 1}
	_, err1 := x.Head(t.Context())
	_, err2 := x.CheckpointAfter(t.Context(), 1<<63)
	for _, err := range []error{err1, err2} {
		if !errors.Is(err, ledger.ErrNotFound) || !errors.Is(err, bundle.ErrContradiction) {
			t.Error(err)
		}
	}
	if _, err := x.Deck(t.Context(), [32]byte{}); !errors.Is(err, bundle.ErrNoDeck) {
		t.Error(err)
	}
	for range x.Cosigned(t.Context(), 0) {
		t.Error("a cosigned checkpoint")
	}
	if names, err := x.Names(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
}

// TestExportColumns: no statement of an export reads more than it may hold, or the numbers that find it.
func TestExportColumns(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{SQLLedgers, sqlExportEntries, sqlExportNewest, sqlExportCheckpoint,
		sqlExportCosigned, SQLDeck} {
		columns, rest, ok := strings.Cut(strings.TrimPrefix(sql, "SELECT "), " FROM ")
		table, _, _ := strings.Cut(rest, " ")
		if !ok || !map[string]bool{"ledgers name, origin": true, "entries idx, entry": true,
			"checkpoints checkpoint":                      true,
			"cosigned c.size, c.checkpoint, l.checkpoint": true, "decks cards": true}[table+" "+columns] {
			t.Errorf("%s", sql)
		}
	}
}

// TestExportSchema: tables of another form contradict what a store is.
func TestExportSchema(t *testing.T) {
	t.Parallel()
	x := Export{&Evidence{Query: func(context.Context, string, []any, func([]any) error) error {
		return fmt.Errorf("%w: no such table", ErrSchema)
	}}, 1}
	_, err1 := x.Head(t.Context())
	_, err2 := x.CheckpointAfter(t.Context(), 3)
	for _, err := range []error{err1, err2} {
		if !errors.Is(err, bundle.ErrContradiction) {
			t.Error(err)
		}
	}
	for _, err := range x.Entries(t.Context(), 0, 1) {
		if !errors.Is(err, bundle.ErrContradiction) {
			t.Error(err)
		}
	}
}

// TestExportOdd: bytes that are none, and a list that is no deck.
func TestExportOdd(t *testing.T) {
	t.Parallel()
	for _, value := range []any{nil, "text", int64(1), []byte{0}, []byte{0, 2, 1, 'A'}} {
		x := Export{&Evidence{Query: func(_ context.Context, _ string, _ []any, each func([]any) error) error {
			return each([]any{value})
		}}, 1}
		if cards, err := x.Deck(t.Context(), [32]byte{}); !errors.Is(err, bundle.ErrNoDeck) {
			t.Errorf("%v: %q, %v", value, cards, err)
		}
	}
	x := Export{&Evidence{Query: func(_ context.Context, _ string, _ []any, each func([]any) error) error {
		return each([]any{nil, "origin", nil})
	}}, 1}
	if _, err := x.Names(t.Context()); !errors.Is(err, errOdd) {
		t.Error(err)
	}
	for c, err := range x.Cosigned(t.Context(), 5) {
		if !errors.Is(err, errOdd) {
			t.Errorf("%s, %v", c, err)
		}
	}
}
