package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

func testFinders(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	first, second := c.head.Size, c.head.Size+2
	c.mustAppend(c.batch(
		commitRow(t, "table-1", 1, tag(1), 129), eventRow(t), commitRow(t, "table-1", 2, tag(2), 129)))
	c.mustAppend(c.batch(dealRow(t, second), mixRow(t, first), dealRow(t, first)))
	c.mustAppend(c.batch(closeRow(t, second, 129), dealRow(t, first)))
	all := c.rows(0, c.head.Size)

	for n, want := range map[int]uint64{1: first, 2: second} {
		r, err := b.Store.ByKeyTags(t.Context(), c.id, tag(n))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]ledger.Row{all[want]}, r); diff != "" {
			t.Errorf("by key tag %d:\n%s", n, diff)
		}
	}
	for _, miss := range []struct {
		id  ledger.ID
		key [32]byte
	}{{c.id, tag(3)}, {c.id, [32]byte{}}, {other.id, tag(1)}, {ledger.IDOf("example.org/unknown"), tag(1)}} {
		if r, err := b.Store.ByKeyTags(t.Context(), miss.id, miss.key); err != nil || len(r) > 0 {
			t.Errorf("by a key tag that is not there: %d entries, %v", len(r), err)
		}
	}
	several, err := b.Store.ByKeyTags(t.Context(), c.id, tag(3), tag(2), [32]byte{}, tag(1))
	slices.SortFunc(several, func(a, b ledger.Row) int { return int(a.Index) - int(b.Index) })
	if diff := cmp.Diff([]ledger.Row{all[first], all[second]}, several); diff != "" || err != nil {
		t.Errorf("by several key tags: %v\n%s", err, diff)
	}
	if none, err := b.Store.ByKeyTags(t.Context(), c.id); err != nil || len(none) > 0 {
		t.Errorf("by no key tags: %d entries, %v", len(none), err)
	}

	for id, want := range map[uint64][]ledger.Row{
		first:          {all[first], all[5], all[6], all[8]},
		second:         {all[second], all[4], all[7]},
		0:              nil, // not a commit
		first + 1:      nil,
		4:              nil,
		c.head.Size:    nil,
		math.MaxUint64: nil,
	} {
		got, err := b.Store.ByShuffles(t.Context(), c.id, ledger.Durable, id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]ledger.Row{want}, got); diff != "" {
			t.Errorf("shuffle %d:\n%s", id, diff)
		}
	}
	shuffles, err := b.Store.ByShuffles(t.Context(), c.id, ledger.Durable, second, 4, math.MaxUint64, first)
	want := [][]ledger.Row{{all[second], all[4], all[7]}, nil, nil, {all[first], all[5], all[6], all[8]}}
	if diff := cmp.Diff(want, shuffles); diff != "" || err != nil {
		t.Errorf("several shuffles: %v\n%s", err, diff)
	}
	if got, err := b.Store.ByShuffles(t.Context(), other.id, ledger.Durable, first); err != nil || len(got[0]) != 0 {
		t.Errorf("shuffle of another ledger: %d rows, %v", len(got[0]), err)
	}
}

// testFindersTogether: look-ups of several ledgers at the same time share questions, and each finds what is its own.
func testFindersTogether(t *testing.T, b Backend) {
	var all sync.WaitGroup
	for n := range 8 {
		c := newChain(t, b.Store, fmt.Sprintf("ledger-%d", n))
		id := c.head.Size // the same in each
		c.mustAppend(c.batch(commitRow(t, fmt.Sprintf("table-%d", n), 1, tag(n), 129), dealRow(t, id)))
		rows := c.rows(id, c.head.Size)
		all.Go(func() {
			for range 50 {
				one, err := b.Store.ByKeyTags(t.Context(), c.id, tag(n), tag(n+1))
				if diff := cmp.Diff(rows[:1], one); diff != "" || err != nil {
					t.Errorf("ledger %d by key tags: %v\n%s", n, err, diff)
				}
				for _, s := range []ledger.Standing{ledger.Visible, ledger.Durable} {
					list, err := b.Store.ByShuffles(t.Context(), c.id, s, id, id+1)
					if diff := cmp.Diff([][]ledger.Row{rows, nil}, list); diff != "" || err != nil {
						t.Errorf("ledger %d by shuffles: %v\n%s", n, err, diff)
					}
				}
			}
		})
	}
	all.Wait()
}

func testCheckpoints(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	newChain(t, b.Store, "other")
	heads := []ledger.Head{c.head}
	for _, n := range []int{3, 1, 5} {
		c.mustAppend(c.batch(slices.Repeat([]ledger.Row{eventRow(t)}, n)...))
		heads = append(heads, c.head)
	}
	for index := range c.head.Size {
		want := heads[0]
		for i := 0; want.Size <= index; i++ {
			want = heads[i]
		}
		got, err := b.Store.CheckpointAfter(t.Context(), c.id, index)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("checkpoint after %d:\n%s", index, diff)
		}
	}
	for _, index := range []uint64{c.head.Size, math.MaxUint64} {
		if h, err := b.Store.CheckpointAfter(t.Context(), c.id, index); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("checkpoint after %d: size %d, %v", index, h.Size, err)
		}
	}
}

func testTiles(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	batch := c.batch(slices.Repeat([]ledger.Row{eventRow(t)}, 2*256)...) // a tile is stored when its ledger fills it
	for index := range uint64(2) {
		data := bytes.Repeat([]byte{1, byte(index)}, 4096)
		batch.Tiles = append(batch.Tiles, ledger.Tile{Index: index, Data: data})
	}
	c.mustAppend(batch)
	for _, want := range batch.Tiles {
		got, err := b.Store.Tile(t.Context(), c.id, want.Level, want.Index)
		if err != nil || !bytes.Equal(got, want.Data) {
			t.Errorf("tile %d/%d: %d bytes, %v", want.Level, want.Index, len(got), err)
		}
	}
	for _, miss := range []struct {
		id    ledger.ID
		level int
		index uint64
	}{{other.id, 0, 0}, {c.id, 1, 0}, {c.id, 3, 0}, {c.id, 0, 2}, {c.id, -1, 0}, {c.id, 1 << 20, 0},
		{c.id, 0, math.MaxUint64}} {
		if data, err := b.Store.Tile(t.Context(), miss.id, miss.level, miss.index); !errors.Is(err,
			ledger.ErrNotFound) {
			t.Errorf("tile %d/%d: %d bytes, %v", miss.level, miss.index, len(data), err)
		}
	}
	// A tile again, under the right head: nothing of the batch is written.
	before := b.Counts(t)
	again := c.batch(eventRow(t))
	again.Tiles = batch.Tiles[:1]
	if err := b.Store.Append(t.Context(), c.id, c.head, again); err == nil ||
		errors.Is(err, ledger.ErrStale) || errors.Is(err, ledger.ErrUnknownOutcome) {
		t.Errorf("a tile again: %v", err)
	}
	b.unchanged(t, before, "a refused batch wrote")
}

func testDecks(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	kept := func(id ledger.ID, d ledger.Deck, want error) {
		t.Helper()
		cards, err := b.Store.Deck(t.Context(), id, d.Hash)
		stored, _ := shuffle.NewDeck(cards)
		if !errors.Is(err, want) || want == nil && !bytes.Equal(stored.Bytes(), d.List) {
			t.Errorf("a deck of %d bytes: %v, %v; want %v", len(d.List), cards, err, want)
		}
	}
	with := func(r ledger.Row, decks ...ledger.Deck) ledger.Batch {
		batch := c.batch(r)
		batch.Decks = decks
		return batch
	}
	var all []ledger.Deck
	for _, name := range shuffle.Names() {
		d, _ := shuffle.Named(name)
		all = append(all, ledger.Deck{Hash: d.Hash(), List: d.Bytes()})
	}
	c.mustAppend(with(commitRow(t, "t", 1, tag(1), 3), all[:2]...))
	c.mustAppend(with(commitRow(t, "t", 2, tag(2), 3), all...)) // two of them again
	for _, d := range all {
		kept(c.id, d, nil)
		kept(other.id, d, ledger.ErrNotFound)
	}
	// A list that is another than its hash says does not take the place of the first.
	c.mustAppend(with(eventRow(t), ledger.Deck{Hash: all[0].Hash, List: all[1].List}))
	kept(c.id, all[0], nil)

	// What is refused leaves none.
	custom := ledger.Deck{Hash: tag(77), List: []byte("\x00\x02\x01a\x01b")}
	before := b.Counts(t)
	if err := b.Store.Append(t.Context(), c.id, c.head, with(commitRow(t, "t", 3, tag(1), 3), custom)); !errors.As(err,
		new(*ledger.DuplicateError)) {
		t.Errorf("a key tag again: %v", err)
	}
	stale := c.head
	stale.Root[0] ^= 1
	if err := b.Store.Append(t.Context(), c.id, stale, with(commitRow(t, "t", 3, tag(3), 3), custom)); !errors.Is(err,
		ledger.ErrStale) {
		t.Errorf("after another head: %v", err)
	}
	kept(c.id, custom, ledger.ErrNotFound)
	b.unchanged(t, before, "a refused batch wrote")
	c.mustAppend(with(commitRow(t, "t", 3, tag(3), 3), custom))
	kept(c.id, custom, nil)
}
