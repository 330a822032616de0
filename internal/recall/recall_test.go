package recall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/store/sqlite"
)

func TestFind(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		b := newBook(t, s, "main")
		x := newFinder(b, s, 0)
		if list := find(t, x, ledger.RecallQuery{Limit: 9}); len(list) > 0 {
			t.Errorf("shuffles of an empty ledger: %v", list)
		}
		b.append(b.commit("t-1", "game-1"), draw(b.commit("t-2", "")), b.commit("t-1", "game-2"))
		b.append(closes(1, audit.OutcomeVoid, audit.ReasonMisdeal))
		b.append(child(b.commit("t-1", "game-1"), 3), closes(3, audit.OutcomeContinued, 0))
		if all := find(t, x, ledger.RecallQuery{Limit: 9}); !all[2].Continued {
			t.Errorf("before the disclosure: %+v", all[2])
		}
		for name, test := range map[string]struct {
			q    ledger.RecallQuery
			want []int
		}{
			"all":           {ledger.RecallQuery{}, []int{0, 1, 2, 3}},
			"of a table":    {ledger.RecallQuery{Table: "t-1"}, []int{0, 2, 3}},
			"of tables":     {ledger.RecallQuery{Tables: []string{"t-2", "t-9"}}, []int{1}},
			"of a serial":   {ledger.RecallQuery{Table: "t-1", Serial: 2}, []int{2}},
			"of a game":     {ledger.RecallQuery{GameRef: "game-1"}, []int{0, 3}},
			"open":          {ledger.RecallQuery{State: ledger.RecallOpen}, []int{1, 3}},
			"closed":        {ledger.RecallQuery{State: ledger.RecallClosed}, []int{0, 2}},
			"from a time":   {ledger.RecallQuery{From: b.all[1].Committed}, []int{1, 2, 3}},
			"before a time": {ledger.RecallQuery{To: b.all[1].Committed}, []int{0}},
			"after an id":   {ledger.RecallQuery{After: b.all[2].ID}, []int{3}},
			"all conditions": {ledger.RecallQuery{Table: "t-1", Tables: []string{"t-1"}, From: 1, To: 9999, Serial: 3,
				GameRef: "game-1", State: ledger.RecallOpen, After: 1}, []int{3}},
		} {
			var want []ledger.Recalled
			for _, i := range test.want {
				want = append(want, b.all[i])
			}
			for _, limit := range []int{1, 3, 1000} {
				test.q.Limit = limit
				if diff := cmp.Diff(want, find(t, x, test.q)); diff != "" {
					t.Errorf("%s, %d at a time:\n%s", name, limit, diff)
				}
			}
		}
		b.append(closes(5, audit.OutcomeCompleted, 0), &audit.DisclosureEntry{Shuffle: 3})
		if diff := cmp.Diff(b.all, find(t, x, ledger.RecallQuery{Limit: 9})); diff != "" || b.all[2].Continued {
			t.Errorf("after the disclosure:\n%s", diff)
		}
		if !b.all[1].Draw || b.all[3].Parent != 3 || b.all[0].Reason != audit.ReasonMisdeal {
			t.Error("the book lacks what is tested")
		}
	})
}

// busy makes a ledger with three tables and three games, where some shuffles of each
// stay open, and with more between the commits.
func busy(t *testing.T, s ledger.Store) *book {
	b := newBook(t, s, "main")
	for i := range 60 {
		ref := ""
		if i%2 == 0 {
			ref = []string{"game-a", "game-b", "game-c"}[i/8%3]
		}
		c := b.commit([]string{"t-1", "t-2", "T-3"}[i%3], ref)
		switch {
		case i%4 == 1:
			draw(c)
		case i%7 == 3:
			child(c, b.all[i-3].ID)
		}
		id := b.head.Size
		b.append(c)
		for range i % 4 {
			b.append(&audit.Deal{Shuffle: id, Checkpoint: id + 1,
				Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBoard}}})
		}
		if i%5 != 0 {
			b.append(closes(id, audit.OutcomeCompleted, 0))
		}
	}
	return b
}

// TestQuestions asks everything in every combination, a little at a time.
func TestQuestions(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		b := busy(t, s)
		newBook(t, s, "other").append(b.commit("t-1", "game-a"))
		middle, late := b.all[30].Committed, b.all[50].Committed
		asked := 0
		for _, since := range []int64{0, middle, b.time + 1, late} {
			x := newFinder(b, s, since)
			x.commits, x.entries, x.most = 2, 5, 11
			kept := b.kept(since)
			ask := func(q ledger.RecallQuery) {
				t.Helper()
				asked++
				q.Limit = 4
				want := selects(kept, q)
				if got := pageOf(t, x, q); !cmp.Equal(got, want[:min(4, len(want))]) && len(got)+len(want) > 0 {
					t.Fatalf("%+v since %d: %v\nwant %v", q, since, got, want)
				}
			}
			for _, table := range []string{"", "t-1", "none"} {
				for _, tables := range [][]string{nil, {}, {"t-1"}, {"T-3", "t-1", "T-3"}, {"none", "", "t-2"}} {
					for _, times := range [][2]int64{{}, {middle, 0}, {0, middle}, {middle, late}, {1, math.MaxInt64},
						{late, middle}} {
						for _, serial := range []uint64{0, 7, 99} {
							for _, ref := range []string{"", "game-b", "none"} {
								for _, state := range []string{"", ledger.RecallOpen, ledger.RecallClosed} {
									if serial > 0 && table == "" {
										continue
									}
									q := ledger.RecallQuery{Table: table, Tables: tables, From: times[0], To: times[1],
										Serial: serial, GameRef: ref, State: state}
									for _, after := range [][]uint64{{0}, {45}, {b.all[40].ID}}[asked%3] {
										q.After = after
										ask(q)
									}
								}
							}
						}
					}
				}
			}
			ask(ledger.RecallQuery{After: b.head.Size - 1})
			ask(ledger.RecallQuery{After: math.MaxUint64})
			ask(ledger.RecallQuery{Table: "t-1", Serial: math.MaxUint64})
			for _, limit := range []int{1, 7, 1000} {
				if diff := cmp.Diff(kept, find(t, x, ledger.RecallQuery{Limit: limit})); diff != "" {
					t.Errorf("since %d, all of them, %d at a time:\n%s", since, limit, diff)
				}
			}
		}
		if asked < 1000 {
			t.Errorf("%d questions", asked)
		}
	})
}

// counting counts what is read.
type counting struct {
	ledger.Store
	asked, read int
	at          int    // the most shuffles whose entries were read at once
	span        uint64 // the largest range of entries in which commits were looked for
}

func (s *counting) Commits(ctx context.Context, id ledger.ID, q ledger.CommitQuery) ([]ledger.CommitEntry, error) {
	list, err := s.Store.Commits(ctx, id, q)
	s.asked, s.read = s.asked+1, s.read+len(list)
	if q.Table == "" && q.GameRef == "" {
		s.span = max(s.span, q.To-q.From)
	}
	return list, err
}

func (s *counting) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing,
	shuffles ...uint64) ([][]ledger.Row, error) {
	s.asked, s.read, s.at = s.asked+1, s.read+len(shuffles), max(s.at, len(shuffles))
	return s.Store.ByShuffles(ctx, id, standing, shuffles...)
}

// TestReads sees that a page costs what it holds, wherever it begins in a ledger of
// any length, and that what is past its retention is not read.
func TestReads(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		store := open()
		b := newBook(t, store, "main")
		for range 3 {
			for range 10 {
				var batch []audit.Body
				for range 20 {
					id := b.head.Size + uint64(len(batch))
					batch = append(batch, b.commit("t-1", "g"), closes(id, audit.OutcomeCompleted, 0),
						b.commit("t-2", ""), closes(id+2, audit.OutcomeCompleted, 0))
				}
				b.append(batch...)
			}
			b.append(b.commit("t-1", "")) // which stays open
			n := len(b.all)
			for name, q := range map[string]ledger.RecallQuery{
				"first":         {},
				"last":          {After: b.all[n-9].ID},
				"of a table":    {Table: "t-1", After: b.all[n-9].ID},
				"of tables":     {Tables: []string{"t-1", "t-2"}, From: b.all[n/2].Committed},
				"of a serial":   {Table: "t-1", Serial: uint64(n / 3)},
				"of a game":     {GameRef: "g", After: b.all[n/2].ID},
				"from a time":   {From: b.all[n/2].Committed},
				"before a time": {To: b.all[3].Committed},
				"open":          {State: ledger.RecallOpen},
				"closed":        {State: ledger.RecallClosed, Table: "t-2", From: b.all[n-50].Committed},
			} {
				s := &counting{Store: store}
				x := newFinder(b, s, 0)
				x.commits, x.entries = 4, 40
				q.Limit = 5
				p, err := x.Find(t.Context(), q)
				if want := selects(b.all, q); err != nil || !cmp.Equal(p.Shuffles, want[:min(5, len(want))]) {
					t.Fatalf("%s: %v, %v", name, p, err)
				}
				if s.asked > 3 || s.read > 12 || s.span > 40 {
					t.Errorf("of %d shuffles, %s: %d were read by %d statements, in ranges of up to %d", n, name,
						s.read, s.asked, s.span)
				}
			}
			// All but the last few were closed too long ago.
			s := &counting{Store: store}
			b.time += 1000
			since := b.time
			id := b.head.Size
			b.append(b.commit("t-2", ""), b.commit("t-1", ""), closes(id+1, audit.OutcomeCompleted, 0))
			for _, q := range []ledger.RecallQuery{{}, {Table: "t-1"}, {State: ledger.RecallClosed}} {
				s.read, s.asked, q.Limit = 0, 0, 500
				p, err := newFinder(b, s, since).Find(t.Context(), q)
				if want := selects(b.kept(since), q); err != nil || !cmp.Equal(p.Shuffles, want) || len(want) == 0 ||
					p.Next != 0 {
					t.Fatalf("%v, %v; want %v", p, err, want)
				}
				if n := len(p.Shuffles); s.read > n+3 || s.asked > 3 {
					t.Errorf("%+v: %d shuffles were read by %d statements for %d", q, s.read, s.asked, n)
				}
			}
		}
	})
}

// TestOpenAtOnce: a list of many open shuffles has the entries of a few of them in memory at a time.
func TestOpenAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		s := &counting{Store: open()}
		b := newBook(t, s.Store, "main")
		for range 3 * biteCommits {
			b.append(b.commit("t-1", "g"))
		}
		p, err := newFinder(b, s, 0).Find(t.Context(), ledger.RecallQuery{State: ledger.RecallOpen, Limit: 500})
		if err != nil || len(p.Shuffles) != 3*biteCommits || s.at > biteCommits {
			t.Errorf("%d shuffles, the entries of %d at once, %v", len(p.Shuffles), s.at, err)
		}
	})
}

// TestPageEnds: a page for which too much would be left out ends before it is full, and what it leads to is whole.
func TestPageEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		store := open()
		b := newBook(t, store, "main")
		for i := range 120 {
			table := "t-1"
			if i == 117 {
				table = "rare"
			}
			b.append(b.commit(table, "g"), closes(b.head.Size, audit.OutcomeCompleted, 0))
		}
		b.append(b.commit("t-1", "g"))
		for name, q := range map[string]ledger.RecallQuery{
			"a game at another table": {GameRef: "g", Table: "rare"},
			"a game at such tables":   {GameRef: "g", Tables: []string{"none", "rare"}},
			"an open one of a game":   {GameRef: "g", State: ledger.RecallOpen},
			"of any table":            {Tables: []string{"rare", "t-1"}, State: ledger.RecallClosed, After: 1},
			"none in a range":         {GameRef: "none", To: b.all[100].Committed},
		} {
			s := &counting{Store: store}
			x := newFinder(b, s, 0)
			x.commits, x.entries, x.most = 4, 8, 20
			q.Limit = 3
			pages := 0
			for got, page := 0, q; ; pages++ {
				s.read = 0
				p, err := x.Find(t.Context(), page)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got += len(p.Shuffles); s.read > x.most+x.commits+q.Limit+1 {
					t.Errorf("%s: %d commits were read for a page", name, s.read)
				}
				if page.After = p.Next; p.Next == 0 {
					if want := len(selects(b.all, q)); got != want {
						t.Errorf("%s: %d shuffles, want %d", name, got, want)
					}
					break
				}
			}
			if few := name == "none in a range"; !few && pages < 4 || few && pages > 0 {
				t.Errorf("%s: %d pages before the last", name, pages)
			}
		}
	})
}

// TestBroken: an entry that is missing or cannot be read is an error, and no part of an answer.
func TestBroken(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		b := newBook(t, s, "main")
		b.append(b.commit("t-1", ""), b.commit("t-1", ""), b.commit("t-1", ""), closes(2, audit.OutcomeCompleted, 0))
		other, err := s.Commits(t.Context(), b.id, ledger.CommitQuery{From: 2, To: 3, Limit: 1})
		if err != nil || len(other) != 1 || other[0].Close == nil {
			t.Fatal(other, err)
		}
		for name, test := range map[string]struct {
			change func(*ledger.CommitEntry) bool
			want   string
		}{
			"a gap": {func(c *ledger.CommitEntry) bool { return c.Index != 2 },
				"serial 3 of table t-1 comes instead of serial 2"},
			"a commit cut short": {func(c *ledger.CommitEntry) bool {
				c.Commit = c.Commit[:len(c.Commit)-1]
				return true
			}, "entry 1: "},
			"no entry": {func(c *ledger.CommitEntry) bool { c.Commit = nil; return true }, "entry 1: "},
			"another entry": {func(c *ledger.CommitEntry) bool { c.Commit = other[0].Close; return true },
				"entry 1 is no commit"},
			"a close cut short": {func(c *ledger.CommitEntry) bool { c.Close = other[0].Close[:9]; return true },
				"the close of shuffle 1: "},
			"another close": {func(c *ledger.CommitEntry) bool { c.Close = other[0].Close; return true },
				"the close of shuffle 1 is not its close"},
			"a close that is none": {func(c *ledger.CommitEntry) bool { c.Close = other[0].Commit; return true },
				"the close of shuffle 1 is not its close"},
		} {
			x := newFinder(b, changed{s, test.change}, 0)
			list, err := x.Find(t.Context(), ledger.RecallQuery{Table: "t-1", Limit: 9})
			if err == nil || list.Shuffles != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, %v", name, list, err)
			}
		}
		b.all = append(b.all, ledger.Recalled{ID: 4, Table: "t-1"}) // which is no commit
		if list, err := newFinder(b, s, 0).Find(t.Context(),
			ledger.RecallQuery{State: ledger.RecallOpen, Limit: 9}); err == nil || list.Shuffles != nil {
			t.Errorf("of an open shuffle that the store has not: %v, %v", list, err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if list, err := newFinder(b, s, 0).Find(gone, ledger.RecallQuery{Limit: 9}); !errors.Is(err, context.Canceled) {
			t.Errorf("for a caller who had left: %v, %v", list, err)
		}
	})
}

// changed shows commits other than they are, or not at all.
type changed struct {
	ledger.Store
	change func(*ledger.CommitEntry) bool
}

func (s changed) Commits(ctx context.Context, id ledger.ID, q ledger.CommitQuery) (kept []ledger.CommitEntry,
	err error) {
	list, err := s.Store.Commits(ctx, id, q)
	for _, c := range list {
		if s.change(&c) {
			kept = append(kept, c)
		}
	}
	return kept, err
}

// TestAtOnce has daemons ask while the ledger grows: what was committed before a question is in its answer.
func TestAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		stores := []ledger.Store{open(), open()}
		b := newBook(t, stores[0], "main")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var daemons sync.WaitGroup
		for d := range 4 {
			x := newFinder(b, stores[d%2], 0)
			x.commits, x.entries = 3+d, uint64(7+d)
			states := []string{"", ledger.RecallOpen, ledger.RecallClosed, ""}
			q := ledger.RecallQuery{State: states[d], Limit: 50}
			if d == 3 {
				q.Table = "t-2"
			}
			daemons.Go(func() {
				for ctx.Err() == nil {
					least := selects(b.kept(0), q)
					got := make(map[uint64]ledger.Recalled)
					page := q
					for {
						p, err := x.Find(ctx, page)
						if ctx.Err() != nil {
							return
						}
						if err != nil {
							t.Error(err)
							return
						}
						for _, r := range p.Shuffles {
							got[r.ID] = r
						}
						if page.After = p.Next; p.Next == 0 {
							break
						}
					}
					// The book is behind the store for a moment.
					size, err := stores[d%2].Size(t.Context(), b.id)
					if err != nil {
						t.Error(err)
						return
					}
					b.OpenAt(t.Context(), size)
					still := make(map[uint64]bool)
					for _, r := range selects(b.kept(0), q) {
						still[r.ID] = true
					}
					for _, r := range least {
						switch now, found := got[r.ID]; {
						case !found && still[r.ID]:
							t.Errorf("%+v: shuffle %d fitted all the time and is not in the answer", q, r.ID)
						case found && r.Closed != 0 && now != r:
							t.Errorf("shuffle %d: %+v, not %+v", r.ID, now, r)
						}
					}
				}
			})
		}
		for n := range 60 {
			b.append(b.commit("t-1", "g"), b.commit("t-2", "h"), b.commit("t-3", ""))
			if n > 3 {
				b.append(closes(b.all[3*n-8].ID, audit.OutcomeCompleted, 0))
			}
		}
		stop()
		daemons.Wait()
		if diff := cmp.Diff(b.all, find(t, newFinder(b, stores[1], 0), ledger.RecallQuery{Limit: 1000})); diff != "" {
			t.Errorf("in the end:\n%s", diff)
		}
	})
}

// TestModel appends, asks, lets time pass and changes retention and what is read at
// once in any order, on SQLite; the answers are those of the book.
func TestModel(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shuffled.db")
	if err := sqlite.MigrateUp(t.Context(), path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, reasons := 0, []audit.Reason{0, audit.ReasonMisdeal, audit.ReasonRegulator}
	outcomes := []audit.Outcome{0, 0, audit.OutcomeVoid, audit.OutcomeExpired}
	rapid.Check(t, func(r *rapid.T) {
		n++
		b := newBook(t, s, fmt.Sprintf("main-%d", n))
		since, commits, entries, most := int64(0), 1, uint64(1), 1
		r.Repeat(map[string]func(*rapid.T){
			"commit": func(r *rapid.T) {
				b.append(b.commit(rapid.SampledFrom([]string{"t-1", "t-2"}).Draw(r, "table"),
					rapid.SampledFrom([]string{"", "g"}).Draw(r, "ref")))
			},
			"close": func(r *rapid.T) {
				for _, c := range b.all {
					if c.Closed == 0 && rapid.Bool().Draw(r, "this") {
						b.append(closes(c.ID, audit.OutcomeVoid, rapid.SampledFrom(reasons[1:]).Draw(r, "why")))
						return
					}
				}
			},
			"time passes": func(r *rapid.T) { b.time += rapid.Int64Range(0, 2000).Draw(r, "ms") },
			"retention":   func(r *rapid.T) { since = b.time - rapid.Int64Range(-2000, b.time-1).Draw(r, "ago") },
			"bites": func(r *rapid.T) {
				commits, entries = rapid.IntRange(1, 9).Draw(r, "commits"), rapid.Uint64Range(1, 9).Draw(r, "entries")
				most = rapid.IntRange(1, 30).Draw(r, "most")
			},
			"": func(r *rapid.T) {
				x := newFinder(b, s, since)
				x.commits, x.entries, x.most = commits, entries, most
				q := ledger.RecallQuery{Limit: rapid.IntRange(1, 9).Draw(r, "limit")}
				q.State = rapid.SampledFrom([]string{"", ledger.RecallOpen, ledger.RecallClosed}).Draw(r, "state")
				q.Table = rapid.SampledFrom([]string{"", "t-1"}).Draw(r, "of")
				q.GameRef = rapid.SampledFrom([]string{"", "", "g"}).Draw(r, "game")
				q.Owner = rapid.SampledFrom([]string{"", "", "dealer-1", "other"}).Draw(r, "owner")
				q.Outcome = rapid.SampledFrom(outcomes).Draw(r, "outcome")
				q.Reason = rapid.SampledFrom(reasons).Draw(r, "reason")
				if len(b.all) > 0 && rapid.Bool().Draw(r, "a deck") {
					q.Deck = rapid.SampledFrom(b.all).Draw(r, "of the deck").Deck
				}
				q.From = rapid.Int64Range(0, b.time+1).Draw(r, "from")
				if diff := cmp.Diff(selects(b.kept(since), q), find(t, x, q)); diff != "" {
					r.Fatalf("%+v since %d:\n%s", q, since, diff)
				}
			},
		})
	})
}
