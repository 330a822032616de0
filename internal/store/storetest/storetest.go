// Package storetest is the suite that every store passes. It tests the contract of [ledger.Store], which the comments
// of its parts give: above all that an append writes all of a batch or nothing, and that its error says which.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

// Backend is an empty database for one test.
type Backend struct {
	Store ledger.Store
	// Open opens the same database a second time, as another daemon does. The test closes the result.
	Open func(t *testing.T) ledger.Store
	// Counts returns the number of rows of every relation, by its name.
	Counts func(t *testing.T) map[string]int
}

// unchanged fails the test unless the relations have these numbers of rows. what says what else happened.
func (b Backend) unchanged(t *testing.T, counts map[string]int, what string) {
	t.Helper()
	if diff := cmp.Diff(counts, b.Counts(t)); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}

type test struct {
	name string
	run  func(*testing.T, Backend)
}

// Test runs the suite, or only the tests that only names. open returns a new Backend.
func Test(t *testing.T, open func(t *testing.T) Backend, only ...string) {
	tests := []test{
		{"Create", testCreate},
		{"CreateRefused", testCreateRefused},
		{"AppendKeepsEverything", testAppendKeepsEverything},
		{"StaleAppends", testStaleAppends},
		{"MalformedBatches", testMalformedBatches},
		{"DuplicateKeys", testDuplicateKeys},
		{"Contradictions", testContradictions},
		{"LargeBatches", testLargeBatches},
		{"Race", testRace},
		{"Joint", testJoint},
		{"FindersDuringAppends", testFindersDuringAppends},
		{"Cancel", testCancel},
		{"Closed", testClosed},
		{"Rows", testRows},
		{"Finders", testFinders},
		{"FindersTogether", testFindersTogether},
		{"Checkpoints", testCheckpoints},
		{"Tiles", testTiles},
		{"Cosigned", testCosigned},
		{"CosignedRace", testCosignedRace},
		{"Late", testLate},
		{"Handover", testHandover},
		{"Decks", testDecks},
		{"Terms", testTerms},
		{"Slots", testSlots},
		{"SlotsRace", testSlotsRace},
		{"Accesses", testAccesses},
		{"Statements", testStatements},
		{"Commits", testCommits},
		{"EntryAt", testEntryAt},
		{"GameRefs", testGameRefs},
	}
	if only != nil {
		tests = slices.DeleteFunc(tests, func(test test) bool { return !slices.Contains(only, test.name) })
		if len(tests) != len(only) {
			t.Fatalf("the suite has %d of the tests %v", len(tests), only)
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}

func testCreate(t *testing.T, b Backend) {
	if list, err := b.Store.Ledgers(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("ledgers of an empty store: %v, %v", list, err)
	}
	var want []ledger.Info
	for _, name := range []string{"main", "Zweit", "other-1"} {
		newChain(t, b.Store, name)
	}
	for _, name := range []string{"Zweit", "main", "other-1"} { // in byte order
		want = append(want, ledger.Info{Name: name, Origin: originOf(name)})
	}
	list, err := b.Store.Ledgers(t.Context())
	if err != nil || !cmp.Equal(list, want) {
		t.Errorf("ledgers %v, %v; want %v", list, err, want)
	}
	if _, err := b.Store.Head(t.Context(), ledger.IDOf("example.org/unknown")); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("head of an unknown ledger: %v", err)
	}
}

func testCreateRefused(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	before := b.Counts(t)
	first := func() ledger.Batch { return (&chain{}).batch(eventRow(t)) }
	for _, info := range []ledger.Info{
		{Name: "main", Origin: originOf("main")},
		{Name: "main", Origin: originOf("other")},
		{Name: "other", Origin: originOf("main")},
	} {
		if err := b.Store.Create(t.Context(), info, first()); !errors.Is(err, ledger.ErrExists) {
			t.Errorf("creating %v a second time: %v", info, err)
		}
	}
	late := c.batch(eventRow(t))
	if err := b.Store.Create(t.Context(), ledger.Info{Name: "new", Origin: originOf("new")}, late); err == nil {
		t.Error("a ledger was created with a first index above 0")
	}
	b.unchanged(t, before, "rows changed")
	c.check()
}

func testAppendKeepsEverything(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	before := b.Counts(t)
	commit := commitRow(t, "table-1", 1, tag(1), 129)
	id := c.head.Size
	batch := c.batch(commit, mixRow(t, id), dealRow(t, id), closeRow(t, id, 129), keyRow(t), eventRow(t))
	c.mustAppend(batch)
	for i, want := range batch.Rows {
		got := c.rows(want.Index, want.Index+1)
		if len(got) != 1 {
			t.Fatalf("entry %d: %d rows", want.Index, len(got))
		}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("row %d:\n%s", i, diff)
		}
	}
	c.check()
	other.check()
	want := maps.Clone(before)
	want["entries"] += 6
	want["checkpoints"]++
	b.unchanged(t, want, "rows of all tables")
	// What is in one ledger stays out of the other: same table, serial and key.
	other.mustAppend(other.batch(commitRow(t, "table-1", 1, tag(1), 129)))
	// A second daemon sees it all, and can go on.
	again := b.Open(t)
	defer again.Close()
	c2 := *c
	c2.store = again
	c2.check()
	c2.mustAppend(c2.batch(commitRow(t, "table-1", 2, tag(2), 129)))
}

func testStaleAppends(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	first := c.head
	c.mustAppend(c.batch(commitRow(t, "table-1", 1, tag(1), 129)))
	before := b.Counts(t)
	for _, test := range []struct {
		name string
		id   ledger.ID
		old  ledger.Head
	}{
		{"a head that was", c.id, first},
		{"a head to come", c.id, ledger.Head{Size: c.head.Size + 1, Root: c.head.Root}},
		{"another root", c.id, ledger.Head{Size: c.head.Size, Root: first.Root}},
		{"an unknown ledger", ledger.IDOf("example.org/unknown"), c.head},
	} {
		d := *c
		d.head = test.old
		batch := d.batch(tiled(d.head.Size, commitRow(t, "table-1", 2, tag(2), 129))...)
		batch.Tiles = tilesOf(batch)
		if err := b.Store.Append(t.Context(), test.id, test.old, batch); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("%s: %v, want ErrStale", test.name, err)
		}
	}
	b.unchanged(t, before, "a stale append wrote")
	c.check()
}

func testMalformedBatches(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	before := b.Counts(t)
	gap := c.batch(eventRow(t), eventRow(t))
	gap.Rows[1].Index++
	long := c.batch(eventRow(t))
	long.Head.Size++
	for name, batch := range map[string]ledger.Batch{"empty": c.batch(), "gap": gap, "head beyond the rows": long} {
		err := b.Store.Append(t.Context(), c.id, c.head, batch)
		if err == nil || errors.Is(err, ledger.ErrStale) || errors.Is(err, ledger.ErrUnknownOutcome) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.unchanged(t, before, "a malformed batch wrote")
	c.check()
}

func testDuplicateKeys(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	c.mustAppend(c.batch(commitRow(t, "table-1", 1, tag(1), 129), commitRow(t, "table-1", 2, tag(2), 129)))
	before := b.Counts(t)
	batch := c.batch(
		commitRow(t, "table-1", 3, tag(3), 129), commitRow(t, "table-1", 4, tag(2), 129),
		eventRow(t), commitRow(t, "table-1", 5, tag(1), 129), commitRow(t, "table-1", 6, tag(4), 129))
	err := b.Store.Append(t.Context(), c.id, c.head, batch)
	var duplicate *ledger.DuplicateError
	if !errors.As(err, &duplicate) {
		t.Fatalf("repeated keys: %v", err)
	}
	if want := [][32]byte{tag(2), tag(1)}; !cmp.Equal(duplicate.Tags, want) {
		t.Errorf("repeated keys %x, want %x", duplicate.Tags, want)
	}
	b.unchanged(t, before, "a batch with repeated keys wrote")
	c.check()
	// Stale comes first: the keys may be the very batch that was written.
	stale := *c
	stale.head.Root[0] ^= 1
	if err := b.Store.Append(t.Context(), c.id, stale.head,
		stale.batch(commitRow(t, "table-1", 3, tag(2), 129))); !errors.Is(err, ledger.ErrStale) {
		t.Errorf("repeated key under another head: %v, want ErrStale", err)
	}
	c.mustAppend(c.batch(commitRow(t, "table-1", 3, tag(3), 129), eventRow(t), commitRow(t, "table-1", 4, tag(4), 129)))
}

// testContradictions appends batches to the right head that the sequencer would never append: each is a plain error,
// and nothing is written.
func testContradictions(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	id := c.head.Size
	c.mustAppend(c.batch(commitRow(t, "table-1", 1, tag(1), 129), closeRow(t, id, 129)))
	wrongColumns := commitRow(t, "table-1", 9, tag(9), 129)
	wrongColumns.Table = ""
	shortTile := c.batch(eventRow(t))
	shortTile.Tiles = []ledger.Tile{{Level: 0, Index: 7, Data: make([]byte, 100)}}
	before := b.Counts(t)
	for name, batch := range map[string]ledger.Batch{
		"a key twice in the batch": c.batch(commitRow(t, "table-1", 2, tag(2), 129),
			commitRow(t, "table-1", 3, tag(2), 129)),
		"a serial again":           c.batch(commitRow(t, "table-1", 1, tag(3), 129)),
		"a second close":           c.batch(closeRow(t, id, 129)),
		"a commit without a table": c.batch(wrongColumns),
		"a short tile":             shortTile,
	} {
		err := b.Store.Append(t.Context(), c.id, c.head, batch)
		if err == nil || errors.Is(err, ledger.ErrStale) || errors.Is(err, ledger.ErrUnknownOutcome) ||
			errors.As(err, new(*ledger.DuplicateError)) {
			t.Errorf("%s: %v, want a plain error", name, err)
		}
	}
	b.unchanged(t, before, "a refused batch wrote")
	c.check()
	c.mustAppend(c.batch(commitRow(t, "table-1", 2, tag(2), 129)))
}

func testLargeBatches(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	var rows []ledger.Row
	for i := range 1000 {
		rows = append(rows, commitRow(t, "table-1", uint64(i+1), tag(i), 129))
	}
	batch := c.batch(rows...)
	batch.Tiles = tilesOf(batch)
	if len(batch.Tiles) != 3 {
		t.Fatalf("%d tiles", len(batch.Tiles))
	}
	c.mustAppend(batch)
	if diff := cmp.Diff(batch.Rows, c.rows(1, c.head.Size)); diff != "" {
		t.Errorf("rows:\n%s", diff)
	}
	for _, want := range batch.Tiles {
		got, err := b.Store.Tile(t.Context(), c.id, want.Level, want.Index)
		if err != nil || !bytes.Equal(got, want.Data) {
			t.Errorf("tile %d/%d: %d bytes, %v", want.Level, want.Index, len(got), err)
		}
	}
	// Long values: the longest tape, sealed, and in the clear in a close.
	long := commitRow(t, "table-1", 1001, tag(1001), 32_768)
	end := closeRow(t, c.head.Size, shuffle.MaxTape)
	batch = c.batch(long, end)
	c.mustAppend(batch)
	if diff := cmp.Diff(batch.Rows, c.rows(c.head.Size-2, c.head.Size)); diff != "" {
		t.Errorf("long rows:\n%s", diff)
	}
}

func originOf(name string) string { return fmt.Sprintf("example.org/%x", name) }
