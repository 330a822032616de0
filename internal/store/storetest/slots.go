package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
)

func testSlots(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	before := b.Counts(t)
	commit := func(serial, key int, slots ...[32]byte) ledger.Row {
		return slotted(commitRow(t, "table-1", uint64(serial), tag(key), 129), slots...)
	}
	c.mustAppend(c.batch(commit(1, 1, tag(101), tag(102)), eventRow(t), commit(2, 2, tag(103)), commit(3, 3)))
	before["entries"] += 4
	before["checkpoints"]++
	before["slots"] += 3
	b.unchanged(t, before, "rows of all tables")
	for _, test := range []struct {
		name string
		rows []ledger.Row
		want *ledger.DuplicateError // nil: a plain error
	}{
		{"a slot", []ledger.Row{commit(4, 4, tag(102))}, &ledger.DuplicateError{Slots: [][32]byte{tag(102)}}},
		{"slots of several commits, in the batch's order",
			[]ledger.Row{commit(4, 4, tag(104), tag(103)), eventRow(t), commit(5, 5, tag(105)), commit(6, 6, tag(101))},
			&ledger.DuplicateError{Slots: [][32]byte{tag(103), tag(101)}}},
		{"a key", []ledger.Row{commit(4, 1, tag(104))}, &ledger.DuplicateError{Tags: [][32]byte{tag(1)}}},
		{"a key and a slot in two commits", []ledger.Row{commit(4, 3, tag(104)), commit(5, 5, tag(101))},
			&ledger.DuplicateError{Tags: [][32]byte{tag(3)}, Slots: [][32]byte{tag(101)}}},
		{"a slot before a key", []ledger.Row{commit(4, 4, tag(101)), commit(5, 2)},
			&ledger.DuplicateError{Tags: [][32]byte{tag(2)}, Slots: [][32]byte{tag(101)}}},
		{"the same commit again", []ledger.Row{commit(1, 1, tag(101), tag(102))},
			&ledger.DuplicateError{Tags: [][32]byte{tag(1)}, Slots: [][32]byte{tag(101), tag(102)}}},
		{"a slot twice in the batch", []ledger.Row{commit(4, 4, tag(104)), commit(5, 5, tag(104))}, nil},
		{"a slot twice in the batch, and one that stands",
			[]ledger.Row{commit(4, 4, tag(104)), commit(5, 5, tag(104), tag(101))},
			&ledger.DuplicateError{Slots: [][32]byte{tag(101)}}},
	} {
		err := b.Store.Append(t.Context(), c.id, c.head, c.batch(test.rows...))
		var got *ledger.DuplicateError
		errors.As(err, &got)
		if err == nil || errors.Is(err, ledger.ErrStale) || errors.Is(err, ledger.ErrUnknownOutcome) ||
			!cmp.Equal(got, test.want) {
			t.Errorf("%s: %v, %x; want %x", test.name, err, got, test.want)
		}
		if diff := cmp.Diff(before, b.Counts(t)); diff != "" {
			t.Fatalf("%s wrote:\n%s", test.name, diff)
		}
	}
	for _, asked := range [][][32]byte{nil, {tag(104)}, {tag(103), tag(104), tag(1), tag(101)}} {
		var want [][32]byte
		if len(asked) > 1 {
			want = [][32]byte{tag(103), tag(101)}
		}
		if got, err := b.Store.TakenSlots(t.Context(), c.id, asked...); err != nil || !cmp.Equal(got, want) {
			t.Errorf("taken of %x: %x, %v; want %x", asked, got, err, want)
		}
		if got, err := b.Store.TakenSlots(t.Context(), other.id, asked...); err != nil || got != nil {
			t.Errorf("taken of another ledger: %x, %v", got, err)
		}
	}
	// Stale comes first, as with keys.
	stale := *c
	stale.head.Root[0] ^= 1
	if err := b.Store.Append(t.Context(), c.id, stale.head, stale.batch(commit(4, 4, tag(101)))); !errors.Is(err,
		ledger.ErrStale) {
		t.Errorf("a repeated slot under another head: %v, want ErrStale", err)
	}
	c.check()
	c.mustAppend(c.batch(commit(4, 4, tag(104))))
	other.mustAppend(other.batch(commit(1, 1, tag(101)))) // the slots of a ledger are its own
}

// testSlotsRace has two daemons commit the same slots at once: each slot is stored once, and the later commit is
// refused.
func testSlotsRace(t *testing.T, b Backend) {
	const writers, slots = 6, 12
	c := newChain(t, b.Store, "main")
	again := b.Open(t)
	defer again.Close()
	var won atomic.Int32 // slots
	var wait sync.WaitGroup
	for w := range writers {
		s := []ledger.Store{b.Store, again}[w%2]
		wait.Go(func() {
			for n := 0; n < slots; {
				head, err := s.Head(t.Context(), c.id)
				if err != nil {
					t.Error(err)
					return
				}
				d := chain{t: t, id: c.id, head: head}
				batch := d.batch(slotted(commitRow(t, fmt.Sprintf("table-%d", w), uint64(n+1), tag(100*w+n), 129),
					tag(10_000+n)))
				var duplicate *ledger.DuplicateError
				switch err := s.Append(t.Context(), c.id, head, batch); {
				case err == nil:
					won.Add(1)
					n++
				case errors.As(err, &duplicate):
					if !cmp.Equal(duplicate, &ledger.DuplicateError{Slots: batch.Rows[0].Slots}) {
						t.Errorf("slot %d: %x", n, duplicate)
					}
					n++
				case !errors.Is(err, ledger.ErrStale):
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	head, err := b.Store.Head(t.Context(), c.id)
	if err != nil || won.Load() != slots || head.Size != 1+slots || b.Counts(t)["slots"] != slots {
		t.Errorf("%d appends won %d slots, of which %d are kept: size %d, %v", won.Load(), slots, b.Counts(t)["slots"],
			head.Size, err)
	}
}
