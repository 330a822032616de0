package recall

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/store/sqlite"
)

func TestFind(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() database) {
		s := open()
		b := newBook(t, s, "main")
		x := newIndex(b, s)
		if list := find(t, x, ledger.RecallQuery{Limit: 9}); len(list) > 0 {
			t.Errorf("shuffles of an empty ledger: %v", list)
		}
		b.append(b.commit("t-1", "game-1"), draw(b.commit("t-2", "")), b.commit("t-1", "game-2"))
		b.append(closes(1, audit.OutcomeVoid, audit.ReasonMisdeal))
		b.append(child(b.commit("t-1", "game-1"), 3), closes(3, audit.OutcomeContinued, 0))
		for name, test := range map[string]struct {
			q    ledger.RecallQuery
			want []int
		}{
			"all":            {ledger.RecallQuery{}, []int{0, 1, 2, 3}},
			"of a table":     {ledger.RecallQuery{Table: "t-1"}, []int{0, 2, 3}},
			"of tables":      {ledger.RecallQuery{Tables: []string{"t-2", "t-9"}}, []int{1}},
			"of a serial":    {ledger.RecallQuery{Table: "t-1", Serial: 2}, []int{2}},
			"of a game":      {ledger.RecallQuery{GameRef: "game-1"}, []int{0, 3}},
			"open":           {ledger.RecallQuery{State: ledger.RecallOpen}, []int{1, 3}},
			"closed":         {ledger.RecallQuery{State: ledger.RecallClosed}, []int{0, 2}},
			"from a time":    {ledger.RecallQuery{From: b.all[1].Committed}, []int{1, 2, 3}},
			"before a time":  {ledger.RecallQuery{To: b.all[1].Committed}, []int{0}},
			"after an id":    {ledger.RecallQuery{After: b.all[2].ID}, []int{3}},
			"all conditions": {ledger.RecallQuery{Table: "t-1", Tables: []string{"t-1"}, From: 1, To: 9999, Serial: 3, GameRef: "game-1", State: ledger.RecallOpen, After: 1}, []int{3}},
		} {
			var want []ledger.Recalled
			for _, i := range test.want {
				want = append(want, b.all[i])
			}
			for _, limit := range []int{1, 3, MaxPage} {
				test.q.Limit = limit
				if diff := cmp.Diff(want, find(t, x, test.q)); diff != "" {
					t.Errorf("%s, %d at a time:\n%s", name, limit, diff)
				}
			}
		}
		for _, limit := range []int{-1, 0, MaxPage + 1} {
			if list, err := x.Find(t.Context(), ledger.RecallQuery{Limit: limit}); err == nil {
				t.Errorf("a page of %d: %v", limit, list)
			}
		}
		if !b.all[1].Draw || b.all[3].Parent != 3 || b.all[0].Reason != audit.ReasonMisdeal {
			t.Error("the book lacks what is tested")
		}
	})
}

// TestNoEntryTwice sees that what was indexed is not read again, and that an
// index in order reads nothing.
func TestNoEntryTwice(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() database) {
		s := &counting{database: open()}
		b := newBook(t, s, "main")
		x := newIndex(b, s)
		for n := range 5 {
			for range 40 {
				b.append(b.commit("t-1", "g"), b.commit("t-2", "h"))
			}
			before := s.read
			for range 3 {
				if got := len(find(t, x, ledger.RecallQuery{Limit: MaxPage})); got != 80*(n+1) {
					t.Fatalf("%d shuffles", got)
				}
			}
			if n > 0 && s.read-before != 80 {
				t.Errorf("%d entries were read for 80 new ones", s.read-before)
			}
		}
	})
}

// counting counts the entries that are read.
type counting struct {
	database
	read int
}

func (s *counting) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		for row, err := range s.database.Rows(ctx, id, from, to) {
			s.read++
			if !yield(row, err) {
				return
			}
		}
	}
}

// TestBehind: what is too far behind is an error and no part of an answer, and is
// filled by those who ask.
func TestBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() database) {
		s := open()
		b := newBook(t, s, "main")
		x := newIndex(b, s)
		x.step = 2
		for range 3 * findSteps {
			b.append(b.commit("t-1", "g"))
		}
		if list, err := x.Find(t.Context(), ledger.RecallQuery{Limit: 9}); !errors.Is(err, ledger.ErrUnavailable) || list != nil {
			t.Errorf("of an index that is far behind: %v, %v", list, err)
		}
		if list, err := x.Find(t.Context(), ledger.RecallQuery{Limit: MaxPage}); err != nil || !cmp.Equal(list, b.all) {
			t.Errorf("after it was filled: %d of %d, %v", len(list), len(b.all), err)
		}
	})
}

// TestBroken: an entry that is missing or cannot be read stops the index.
func TestBroken(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() database) {
		s := open()
		b := newBook(t, s, "main")
		b.append(b.commit("t-1", ""), b.commit("t-1", ""), closes(1, audit.OutcomeCompleted, 0))
		for name, change := range map[string]func(*ledger.Row) bool{
			"a gap":              func(r *ledger.Row) bool { return r.Index != 1 },
			"a commit cut short": func(r *ledger.Row) bool { r.Entry = r.Entry[:len(r.Entry)-1]; return true },
			"no entry":           func(r *ledger.Row) bool { r.Entry = nil; return true },
		} {
			x := newIndex(b, changed{s, change})
			if list, err := x.Find(t.Context(), ledger.RecallQuery{Limit: 9}); err == nil {
				t.Errorf("%s: %v", name, list)
			}
		}
		if m, err := s.RecallMark(t.Context(), b.id); err != nil || m != (ledger.RecallMark{}) {
			t.Errorf("the mark moved: %+v, %v", m, err)
		}
		if list := find(t, newIndex(b, s), ledger.RecallQuery{Limit: 9}); !cmp.Equal(list, b.all) {
			t.Errorf("after that: %v", list)
		}
	})
}

// changed shows entries other than they are, or not at all.
type changed struct {
	database
	change func(*ledger.Row) bool
}

func (s changed) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		for row, err := range s.database.Rows(ctx, id, from, to) {
			if (row.Type == audit.TypeEvent || s.change(&row)) && !yield(row, err) {
				return
			}
		}
	}
}

// TestAtOnce has daemons fill, ask and drop while the ledger grows: every answer
// is whole, and the index is the one that a single daemon would have made.
func TestAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() database) {
		stores := []database{open(), open()}
		b := newBook(t, stores[0], "main")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var mu sync.Mutex // guards b and dropped
		dropped := int64(0)
		var daemons sync.WaitGroup
		for d := range 4 {
			x := newIndex(b, stores[d%2])
			x.step, x.tick = 3+d, time.Millisecond
			if d > 1 {
				daemons.Go(func() { x.Follow(ctx) })
				continue
			}
			daemons.Go(func() {
				for ctx.Err() == nil {
					mu.Lock()
					least := b.kept(dropped)
					mu.Unlock()
					got := make(map[uint64]bool)
					q := ledger.RecallQuery{Limit: 50}
					for {
						page, err := x.Find(ctx, q)
						if ctx.Err() != nil {
							return
						}
						if errors.Is(err, ledger.ErrUnavailable) {
							continue // behind
						}
						if err != nil {
							t.Error(err)
							return
						}
						for _, r := range page {
							got[r.ID] = true
						}
						if len(page) < q.Limit {
							break
						}
						q.After = page[len(page)-1].ID
					}
					mu.Lock()
					for _, r := range least {
						if !got[r.ID] && (r.Closed == 0 || r.Closed >= dropped) && !gone(b, r.ID, dropped) {
							t.Errorf("shuffle %d was committed before the question and is not in the answer", r.ID)
						}
					}
					mu.Unlock()
				}
			})
		}
		for n := range 60 {
			mu.Lock()
			b.append(b.commit("t-1", "g"), b.commit("t-2", "h"), b.commit("t-3", ""))
			if n > 3 {
				id := b.all[3*n-8].ID
				b.append(closes(id, audit.OutcomeCompleted, 0))
			}
			mu.Unlock()
			if n%20 == 19 {
				mu.Lock()
				dropped = b.time - 60
				mu.Unlock()
				if _, err := stores[n%2].DropRecall(t.Context(), b.id, dropped, 1000); err != nil {
					t.Error(err)
				}
			}
		}
		stop()
		daemons.Wait()
		x := newIndex(b, stores[1])
		if diff := cmp.Diff(b.kept(dropped), find(t, x, ledger.RecallQuery{Limit: MaxPage})); diff != "" {
			t.Errorf("in the end:\n%s", diff)
		}
	})
}

// gone reports whether retention may have removed a shuffle by now.
func gone(b *book, id uint64, dropped int64) bool {
	for _, r := range b.all {
		if r.ID == id {
			return r.Closed != 0 && r.Closed < dropped
		}
	}
	return true
}

// TestModel appends, asks, drops, loses the index and changes the size of steps
// in any order, on SQLite; the answers are those of the book.
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
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		b := newBook(t, s, fmt.Sprintf("main-%d", n))
		dropped := int64(0)
		x := newIndex(b, s)
		r.Repeat(map[string]func(*rapid.T){
			"commit": func(r *rapid.T) {
				b.append(b.commit(rapid.SampledFrom([]string{"t-1", "t-2"}).Draw(r, "table"), rapid.SampledFrom([]string{"", "g"}).Draw(r, "ref")))
			},
			"close": func(r *rapid.T) {
				for _, c := range b.all {
					if c.Closed == 0 && rapid.Bool().Draw(r, "this") {
						b.append(closes(c.ID, audit.OutcomeCompleted, 0))
						return
					}
				}
			},
			"drop": func(r *rapid.T) {
				before := b.time - rapid.Int64Range(0, 10).Draw(r, "ago")
				dropped = max(dropped, before)
				if _, err := s.DropRecall(t.Context(), b.id, before, 1000); err != nil {
					r.Fatal(err)
				}
			},
			"steps": func(r *rapid.T) { x.step = rapid.IntRange(1, 9).Draw(r, "step") },
			"made again": func(r *rapid.T) {
				again, err := s.RecallMark(t.Context(), b.id)
				if err != nil || again.Next == 0 {
					return
				}
				// What a migration or an operator does who begins anew, and keeps what
				// was dropped.
				if err := s.PutRecall(t.Context(), b.id, again, ledger.RecallStep{Next: 0}); err != nil {
					r.Fatal(err)
				}
			},
			"": func(r *rapid.T) {
				var list []ledger.Recalled
				for {
					var err error
					if list, err = x.Find(t.Context(), ledger.RecallQuery{Limit: MaxPage}); !errors.Is(err, ledger.ErrUnavailable) {
						break
					}
				}
				if diff := cmp.Diff(b.kept(dropped), list); diff != "" {
					r.Fatalf("dropped before %d:\n%s", dropped, diff)
				}
			},
		})
	})
}

// TestFollow fills the index while nobody asks.
func TestFollow(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() database) {
		s := open()
		b := newBook(t, s, "main")
		for range 40 {
			b.append(b.commit("t-1", "g"))
		}
		ctx, stop := context.WithCancel(t.Context())
		x := newIndex(b, s)
		x.step, x.tick = 2, time.Millisecond
		done := make(chan struct{})
		go func() { defer close(done); x.Follow(ctx) }()
		until := func(size uint64) {
			for t.Context().Err() == nil {
				if m, err := s.RecallMark(t.Context(), b.id); err != nil {
					t.Fatal(err)
				} else if m.Next == size {
					return
				}
			}
		}
		until(b.head.Size)
		b.append(b.commit("t-1", "g"))
		until(b.head.Size)
		stop()
		<-done
	})
}
