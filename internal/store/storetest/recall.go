package storetest

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// recalled makes shuffle i of those that testRecall knows: ids 3, 6, …, on three
// tables in turn, a game of four, every fifth open.
func recalled(i int) ledger.Recalled {
	r := ledger.Recalled{
		ID: uint64(3 * (i + 1)), Table: []string{"t-1", "t-2", "T-3"}[i%3], Serial: uint64(i/3 + 1),
		Committed: int64(1000 + i/2*10), CloseBy: int64(9000 + i), Draw: i%4 == 1,
	}
	if i%2 == 0 {
		r.GameRef = []string{"game-a", "game-b", "game-c"}[i/8%3]
	}
	if i%7 == 3 {
		r.Parent = r.ID - 3
	}
	if i%5 != 0 {
		r.Closed, r.Outcome, r.Reason = r.Committed+500, audit.OutcomeCompleted, audit.ReasonNone
		if i%6 == 1 {
			r.Outcome, r.Reason = audit.OutcomeVoid, audit.ReasonMisdeal
		}
	}
	return r
}

// selects is what a query should return, the slow way.
func selects(all []ledger.Recalled, q ledger.RecallQuery) (list []ledger.Recalled) {
	for _, r := range all {
		in := q.Tables == nil
		for _, name := range q.Tables {
			in = in || name == r.Table
		}
		if in && (q.Table == "" || q.Table == r.Table) && r.Committed >= q.From && (q.To == 0 || r.Committed < q.To) &&
			(q.Serial == 0 || q.Serial == r.Serial) && (q.GameRef == "" || q.GameRef == r.GameRef) &&
			(q.State == "" || (q.State == ledger.RecallOpen) == (r.Closed == 0)) && r.ID > q.After && len(list) < q.Limit {
			list = append(list, r)
		}
	}
	return list
}

func testRecall(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	ctx := t.Context()
	var all []ledger.Recalled
	for i := range 60 {
		all = append(all, recalled(i))
	}
	put(t, b.Store, c.id, ledger.RecallStep{Next: 200, Commits: all})
	// Serials may be found by way of the entries.
	var rows []ledger.Row
	for i, r := range all {
		for c.head.Size+uint64(len(rows)) < r.ID {
			rows = append(rows, eventRow(t))
		}
		rows = append(rows, commitRow(t, r.Table, r.Serial, tag(i), 129))
	}
	c.mustAppend(c.batch(rows...))
	elsewhere := recalled(0)
	elsewhere.ID = 4
	put(t, b.Store, other.id, ledger.RecallStep{Next: 5, Commits: []ledger.Recalled{elsewhere}})

	asked := 0
	for _, table := range []string{"", "t-1", "T-3", "none"} {
		for _, tables := range [][]string{nil, {}, {"t-1"}, {"T-3", "t-1", "T-3"}, {"none", "", "t-2"}} {
			for _, times := range [][2]int64{{}, {1001, 0}, {0, 1100}, {1040, 1230}, {1050, 1050}, {5000, 0}, {0, 1}, {1, math.MaxInt64}} {
				for _, serial := range []uint64{0, 1, 7, 99} {
					for _, ref := range []string{"", "game-b", "none"} {
						for _, state := range []string{"", ledger.RecallOpen, ledger.RecallClosed} {
							for _, after := range []uint64{0, 45, 180} {
								q := ledger.RecallQuery{Table: table, Tables: tables, From: times[0], To: times[1], Serial: serial, GameRef: ref, State: state, After: after, Limit: 4}
								if serial > 0 && table == "" {
									continue
								}
								asked++
								got, err := b.Store.Recall(ctx, c.id, q)
								if want := selects(all, q); err != nil || !cmp.Equal(got, want) {
									t.Fatalf("%+v: %v, %v\nwant %v", q, got, err, want)
								}
							}
						}
					}
				}
			}
		}
	}
	if asked < 1000 {
		t.Errorf("%d questions", asked)
	}
	if got, err := b.Store.Recall(ctx, c.id, ledger.RecallQuery{Limit: 500}); err != nil || !cmp.Equal(got, all) {
		t.Errorf("all of them: %d, %v", len(got), err)
	}
	for name, q := range map[string]ledger.RecallQuery{
		"no limit": {}, "a serial of no table": {Serial: 1, Limit: 1}, "a state that is none": {State: "closing", Limit: 1},
	} {
		if got, err := b.Store.Recall(ctx, c.id, q); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, q := range []ledger.RecallQuery{{After: math.MaxUint64, Limit: 1}, {Table: "t-1", Serial: math.MaxUint64, Limit: 1}} {
		if got, err := b.Store.Recall(ctx, c.id, q); err != nil || got != nil {
			t.Errorf("%+v: %v, %v", q, got, err)
		}
	}
}

// put adds a step to the index as it is.
func put(t *testing.T, s Store, id ledger.ID, step ledger.RecallStep) {
	t.Helper()
	old, err := s.RecallMark(t.Context(), id)
	if err == nil {
		err = s.PutRecall(t.Context(), id, old, step)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func everything(t *testing.T, s Store, id ledger.ID) []ledger.Recalled {
	t.Helper()
	list, err := s.Recall(t.Context(), id, ledger.RecallQuery{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func testRecallSteps(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	ctx := t.Context()
	if m, err := b.Store.RecallMark(ctx, c.id); err != nil || m != (ledger.RecallMark{}) {
		t.Fatalf("the mark of an index that was not begun: %+v, %v", m, err)
	}
	open, closed := recalled(0), recalled(1)
	first := ledger.RecallStep{Next: 7, Commits: []ledger.Recalled{open, closed}}
	for _, old := range []ledger.RecallMark{{Next: 1}, {Dropped: 1}} {
		if err := b.Store.PutRecall(ctx, c.id, old, first); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("a first step from %+v: %v, want ErrStale", old, err)
		}
	}
	if err := b.Store.PutRecall(ctx, ledger.IDOf("example.org/unknown"), ledger.RecallMark{}, first); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a step of an unknown ledger: %v", err)
	}
	if n := len(everything(t, b.Store, c.id)); n != 0 {
		t.Errorf("refused steps wrote %d shuffles", n)
	}
	put(t, b.Store, c.id, first)
	third := recalled(2)
	second := ledger.RecallStep{
		Next: 12, Commits: []ledger.Recalled{third},
		Closes:   []ledger.RecallClose{{ID: open.ID, Time: 4000, Outcome: audit.OutcomeVoid, Reason: audit.ReasonFoulDeck}, {ID: 77, Time: 4000, Outcome: audit.OutcomeExpired}},
		Outdated: []uint64{closed.ID, 78},
	}
	for _, old := range []ledger.RecallMark{{}, {Next: 6}, {Next: 8}, {Next: 7, Dropped: 1}} {
		if err := b.Store.PutRecall(ctx, c.id, old, second); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("a second step from %+v: %v, want ErrStale", old, err)
		}
	}
	if got := everything(t, b.Store, c.id); !cmp.Equal(got, first.Commits) {
		t.Errorf("after stale steps: %v", got)
	}
	put(t, b.Store, c.id, second)
	open.Closed, open.Outcome, open.Reason = 4000, audit.OutcomeVoid, audit.ReasonFoulDeck
	if got, want := everything(t, b.Store, c.id), []ledger.Recalled{open, third}; !cmp.Equal(got, want) {
		t.Errorf("after a step: %v, want %v", got, want)
	}
	// A shuffle that is there is replaced: the index is made again over itself.
	third.GameRef, third.Table, third.Closed, third.Outcome = "another", "t-9", 0, 0
	put(t, b.Store, c.id, ledger.RecallStep{Next: 13, Commits: []ledger.Recalled{third}})
	if got, want := everything(t, b.Store, c.id), []ledger.Recalled{open, third}; !cmp.Equal(got, want) {
		t.Errorf("after a shuffle again: %v, want %v", got, want)
	}
	if m, err := b.Store.RecallMark(ctx, c.id); err != nil || m != (ledger.RecallMark{Next: 13}) {
		t.Errorf("the mark: %+v, %v", m, err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := b.Store.PutRecall(gone, c.id, ledger.RecallMark{Next: 13}, second); err == nil {
		t.Error("a step was written for a caller who had left")
	}
}

// testRecallRace has daemons move one mark at once: every step is added by one.
func testRecallRace(t *testing.T, b Backend) {
	const steps = 40
	c := newChain(t, b.Store, "main")
	again := b.Open(t)
	defer again.Close()
	var mu sync.Mutex // guards won
	won := make(map[uint64]int)
	var wait sync.WaitGroup
	for w := range 4 {
		s := b.Store
		if w%2 == 1 {
			s = again
		}
		wait.Go(func() {
			for {
				old, err := s.RecallMark(t.Context(), c.id)
				if err != nil || old.Next >= steps {
					if err != nil {
						t.Error(err)
					}
					return
				}
				r := recalled(int(old.Next))
				r.CloseBy = int64(w)
				err = s.PutRecall(t.Context(), c.id, old, ledger.RecallStep{Next: old.Next + 1, Commits: []ledger.Recalled{r}})
				switch {
				case err == nil:
					mu.Lock()
					if by, twice := won[old.Next]; twice {
						t.Errorf("step %d was won by %d and %d", old.Next, by, w)
					}
					won[old.Next] = w
					mu.Unlock()
				case !errors.Is(err, ledger.ErrStale):
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	list := everything(t, b.Store, c.id)
	if len(list) != steps || len(won) != steps {
		t.Fatalf("%d shuffles of %d steps, %d won", len(list), steps, len(won))
	}
	for i, r := range list {
		if r.CloseBy != int64(won[uint64(i)]) {
			t.Errorf("shuffle %d is not of the winner of its step", r.ID)
		}
	}
}

func testRecallDrop(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	ctx := t.Context()
	var all []ledger.Recalled
	for i := range 30 {
		all = append(all, recalled(i))
	}
	put(t, b.Store, c.id, ledger.RecallStep{Next: 100, Commits: all})
	put(t, b.Store, other.id, ledger.RecallStep{Next: 100, Commits: all})
	before := all[14].Closed
	var kept []ledger.Recalled
	for _, r := range all {
		if r.Closed == 0 || r.Closed >= before {
			kept = append(kept, r)
		}
	}
	gone := len(all) - len(kept)
	if n, err := b.Store.CountRecall(ctx, c.id, before); n != gone || err != nil || gone < 10 {
		t.Errorf("%d shuffles to drop, %v; want %d", n, err, gone)
	}
	if n, err := b.Store.DropRecall(ctx, c.id, before, 3); n != 3 || err != nil {
		t.Errorf("dropped %d, %v; want 3", n, err)
	}
	if list := everything(t, b.Store, c.id); list[0] != all[0] || list[1] != all[4] || len(list) != len(all)-3 {
		t.Errorf("the first closed are not the first dropped: %v", list[:3])
	}
	for _, want := range []int{gone - 3, 0} {
		if n, err := b.Store.DropRecall(ctx, c.id, before, 1000); n != want || err != nil {
			t.Errorf("dropped %d, %v; want %d", n, err, want)
		}
	}
	if got := everything(t, b.Store, c.id); !cmp.Equal(got, kept) {
		t.Errorf("kept %v", got)
	}
	for _, step := range []struct{ before, want int64 }{{before, before}, {before - 100, before}, {before + 1, before + 1}} {
		if _, err := b.Store.DropRecall(ctx, c.id, step.before, 1); err != nil {
			t.Fatal(err)
		}
		if m, err := b.Store.RecallMark(ctx, c.id); err != nil || m != (ledger.RecallMark{Next: 100, Dropped: step.want}) {
			t.Errorf("the mark after dropping before %d: %+v, %v", step.before, m, err)
		}
	}
	if got := everything(t, b.Store, other.id); !cmp.Equal(got, all) {
		t.Error("the other ledger lost shuffles")
	}
	// What is dropped before the index is begun is remembered.
	third := newChain(t, b.Store, "third")
	if n, err := b.Store.DropRecall(ctx, third.id, 7, 1); n != 0 || err != nil {
		t.Errorf("dropped %d, %v", n, err)
	}
	if m, err := b.Store.RecallMark(ctx, third.id); err != nil || m != (ledger.RecallMark{Dropped: 7}) {
		t.Errorf("the mark: %+v, %v", m, err)
	}
	if err := b.Store.PutRecall(ctx, third.id, ledger.RecallMark{}, ledger.RecallStep{Next: 1}); !errors.Is(err, ledger.ErrStale) {
		t.Errorf("a step from before: %v", err)
	}
	put(t, b.Store, third.id, ledger.RecallStep{Next: 1})
	if _, err := b.Store.DropRecall(ctx, ledger.IDOf("example.org/unknown"), 7, 1); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("dropping from an unknown ledger: %v", err)
	}
}
