package storetest

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

func testRows(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	newChain(t, b.Store, "other")
	for c.head.Size < 1300 {
		c.mustAppend(c.batch(slices.Repeat([]ledger.Row{eventRow(t)}, 433)...))
	}
	n := c.head.Size
	for _, r := range []struct{ from, to, first, end uint64 }{
		{0, n, 0, n}, {0, 0, 0, 0}, {5, 5, 5, 5}, {7, 3, 7, 7}, {0, 1, 0, 1}, {n - 1, n, n - 1, n},
		{0, 512, 0, 512}, {1, 514, 1, 514}, {3, 1200, 3, 1200},
		{n, n + 10, n, n}, {n - 3, n + 3, n - 3, n}, {0, 1 << 62, 0, n}, {10, 1<<64 - 1, 10, n},
		{1<<64 - 2, 1<<64 - 1, 0, 0},
	} {
		got := c.rows(r.from, r.to)
		if uint64(len(got)) != r.end-r.first {
			t.Errorf("rows %d to %d: %d of them", r.from, r.to, len(got))
			continue
		}
		for i, row := range got {
			if row.Index != r.first+uint64(i) {
				t.Fatalf("rows %d to %d: index %d at place %d", r.from, r.to, row.Index, i)
			}
		}
	}
	if got := c.rowsOf(ledger.IDOf("example.org/unknown"), 0, 1<<40); len(got) != 0 {
		t.Errorf("an unknown ledger has %d rows", len(got))
	}
	// Leaving the loop leaves nothing behind, nor does using the store in it.
	for range 100 {
		for row, err := range b.Store.Rows(t.Context(), c.id, 0, n) {
			if err != nil {
				t.Fatal(err)
			}
			if row.Index == 1 {
				break
			}
			if _, err := b.Store.Head(t.Context(), c.id); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range b.Store.Rows(ctx, c.id, 0, n) {
		if err == nil {
			t.Fatal("a cancelled read went on")
		}
	}
}

func testClosed(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	again := b.Open(t)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	var failures []error
	_, err := again.Ledgers(ctx)
	failures = append(failures, err)
	_, err = again.Head(ctx, c.id)
	failures = append(failures, err, again.Append(ctx, c.id, c.head, c.batch(eventRow(t))))
	_, err = again.ByKeyTags(ctx, c.id, tag(1))
	failures = append(failures, err)
	_, err = again.ByShuffles(ctx, c.id, ledger.Durable, 1)
	failures = append(failures, err)
	_, err = again.CosignedAtMost(ctx, c.id, 9)
	failures = append(failures, err, again.PutCosigned(ctx, c.id, cosigned(9, 0)))
	for _, err := range again.CosignedFrom(ctx, c.id, 0) {
		failures = append(failures, err)
	}
	for _, rowErr := range again.Rows(ctx, c.id, 0, 1) {
		failures = append(failures, rowErr)
	}
	if len(failures) != 9 {
		t.Errorf("%d answers of a closed store", len(failures))
	}
	for i, err := range failures {
		if err == nil || errors.Is(err, ledger.ErrNotFound) || errors.Is(err, ledger.ErrStale) ||
			errors.Is(err, ledger.ErrUnknownOutcome) {
			t.Errorf("call %d of a closed store: %v", i, err)
		}
	}
	c.check()
}

// played is a commit of testCommits, with the columns by which queries select.
type played struct {
	ledger.CommitEntry
	table, ref string
	serial     uint64
}

// selects returns what a query should return, computed in the slow way.
func selects(all []played, q ledger.CommitQuery) (list []ledger.CommitEntry) {
	for _, c := range all {
		if c.Index >= q.From && c.Index < q.To && (q.Table == "" || q.Table == c.table) &&
			(q.Serial == 0 || q.Serial == c.serial) &&
			(q.GameRef == "" || q.GameRef == c.ref) && len(list) < q.Limit {
			list = append(list, c.CommitEntry)
		}
	}
	return list
}

// growing is a ledger with 60 commits on three tables in turn, in games of four, every fifth open, and other entries
// between them. Every second entry is a millisecond later than the one before, and times gives the time of each.
func growing(t *testing.T, s ledger.Store, name string) (c *chain, all []played, times []int64) {
	t.Helper()
	c = newChain(t, s, name)
	rows := []ledger.Row{}
	for i := range 60 {
		p := played{table: []string{"t-1", "t-2", "T-3"}[i%3], serial: uint64(i/3 + 1)}
		if i%2 == 0 {
			p.ref = []string{"game-a", "game-b", "game-c"}[i/8%3]
		}
		p.Index = c.head.Size + uint64(len(rows))
		commit := commitRow(t, p.table, p.serial, tag(i), 129)
		commit.GameRef = p.ref // its entry does not say so: a store does not read it
		p.Commit = commit.Entry
		rows = append(rows, commit, dealRow(t, p.Index))
		if i%5 != 0 {
			end := closeRow(t, p.Index, 129)
			p.Close = end.Entry
			rows = append(rows, end)
		}
		all = append(all, p)
	}
	times = []int64{c.rows(0, 1)[0].Time}
	for i := range rows {
		rows[i].Time += int64(i / 2)
		times = append(times, rows[i].Time)
	}
	c.mustAppend(c.batch(rows...))
	return c, all, times
}

// testCommits asks by every index for ranges of every kind.
func testCommits(t *testing.T, b Backend) {
	c, all, _ := growing(t, b.Store, "main")
	other, _, _ := growing(t, b.Store, "other")
	other.mustAppend(other.batch(commitRow(t, "none", 1, tag(77), 129)))
	ctx := t.Context()
	asked := 0
	for _, by := range []ledger.CommitQuery{
		{}, {Table: "t-1"}, {Table: "T-3"}, {Table: "none"}, {Table: "t-1", Serial: 1}, {Table: "t-2", Serial: 20},
		{Table: "t-2", Serial: 21}, {Table: "t-2", Serial: math.MaxUint64}, {GameRef: "game-b"}, {GameRef: "none"},
	} {
		for from := uint64(0); from <= c.head.Size; from += 3 + from%5 {
			for _, to := range []uint64{0, from, from + 1, from + 40, c.head.Size - 1, c.head.Size, math.MaxUint64} {
				for _, limit := range []int{1, 4, 100} {
					by.From, by.To, by.Limit = from, to, limit
					asked++
					got, err := b.Store.Commits(ctx, c.id, by)
					if want := selects(all, by); err != nil || !cmp.Equal(got, want) && len(got)+len(want) > 0 {
						t.Fatalf("%+v: %v, %v\nwant %v", by, got, err, want)
					}
				}
			}
		}
	}
	if asked < 1000 {
		t.Errorf("%d questions", asked)
	}
	for _, q := range []ledger.CommitQuery{{}, {Table: "t-1"}, {GameRef: "game-a"}} {
		q.To, q.Limit = 1000, 1
		if got, err := b.Store.Commits(ctx, ledger.IDOf("example.org/unknown"), q); err != nil || len(got) > 0 {
			t.Errorf("%+v of an unknown ledger: %v, %v", q, got, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := b.Store.Commits(gone, c.id, ledger.CommitQuery{To: 9, Limit: 1}); err == nil {
		t.Error("commits were read for a caller who had left")
	}
}

// testEntryAt searches for every time in ledgers of all sizes.
func testEntryAt(t *testing.T, b Backend) {
	c, _, times := growing(t, b.Store, "main")
	ctx := t.Context()
	if n, err := b.Store.Size(ctx, c.id); err != nil || n != c.head.Size || n != uint64(len(times)) {
		t.Fatalf("size %d, %v; want %d", n, err, c.head.Size)
	}
	if n, err := b.Store.Size(ctx, ledger.IDOf("example.org/unknown")); err != nil || n != 0 {
		t.Errorf("size of an unknown ledger: %d, %v", n, err)
	}
	for size := range c.head.Size + 1 {
		first, last := times[0], times[len(times)-1]
		for _, at := range []int64{math.MinInt64, 0, first, first + 1, first + int64(size/4), first + int64(size/2),
			first + int64(size/2) + 1, last, last + 1, math.MaxInt64} {
			want := uint64(0)
			for want < size && times[want] < at {
				want++
			}
			if got, err := b.Store.EntryAt(ctx, c.id, size, at); err != nil || got != want {
				t.Fatalf("of %d entries the first at %d: %d, %v; want %d", size, at, got, err, want)
			}
		}
	}
	if got, err := b.Store.EntryAt(ctx, ledger.IDOf("example.org/unknown"), 0, 5); err != nil || got != 0 {
		t.Errorf("in an unknown ledger: %d, %v", got, err)
	}
}

// testGameRefs checks that a game reference is kept and read unchanged.
func testGameRefs(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	refs := []string{"g", "", "Ünïcode 🂡", "g", "G"}
	var rows []ledger.Row
	for i, ref := range refs {
		r := commitRow(t, "t-1", uint64(i+1), tag(i), 129)
		r.GameRef = ref
		rows = append(rows, r)
	}
	c.mustAppend(c.batch(rows...))
	for i, r := range c.rows(1, c.head.Size) {
		if r.GameRef != refs[i] || r.Type != audit.TypeCommit || !bytes.Equal(r.Entry, rows[i].Entry) {
			t.Errorf("commit %d: %+v", i, r)
		}
	}
	for ref, want := range map[string]int{"g": 2, "G": 1, "Ünïcode 🂡": 1, "gg": 0} {
		if got, err := b.Store.Commits(t.Context(), c.id,
			ledger.CommitQuery{GameRef: ref, To: 99, Limit: 9}); err != nil || len(got) != want {
			t.Errorf("of %q: %v, %v; want %d", ref, got, err, want)
		}
	}
}
