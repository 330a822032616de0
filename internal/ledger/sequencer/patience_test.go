package sequencer_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
)

// TestPatience holds a batch at the store. Who waits behind it with patience is
// refused when that ends, and nothing of it is ever written; what is being written
// is answered with the truth however long it takes, and who has no patience waits.
func TestPatience(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		faulty := &faultyStore{Store: store}
		h := newHouse(t, faulty)
		l := h.open(h.config("mark"))
		held, release := make(chan struct{}), make(chan struct{})
		faulty.failAppend(func(real func() error) error {
			close(held)
			<-release
			return real()
		})
		type outcome struct {
			appended []ledger.Appended
			err      error
		}
		ask := func(ctx context.Context, n uint64) chan outcome {
			c := make(chan outcome, 1)
			go func() {
				a, err := on(l).Append(ctx, propose(commit("t", n)))
				c <- outcome{a, err}
			}()
			return c
		}
		// On a busy machine the patience of the first may end before its batch begins: then it asks again.
		var first chan outcome
		var soon context.Context
		var end time.Time
		for short, begun := 20*time.Millisecond, false; !begun; short *= 2 {
			end = time.Now().Add(short)
			soon = ledger.WithPatience(t.Context(), end)
			first = ask(soon, 1)
			select {
			case <-held:
				begun = true
			case got := <-first:
				if !errors.Is(got.err, ledger.ErrOverloaded) {
					t.Fatalf("in front of a batch: %v", got.err)
				}
			}
		}
		patient := ask(t.Context(), 2)
		for n := range uint64(3) {
			if got := <-ask(soon, 10+n); !errors.Is(got.err, ledger.ErrOverloaded) {
				t.Errorf("behind a batch that does not move: %v", got.err)
			}
		}
		<-time.After(time.Until(end)) // the patience of the first ends while it is written
		select {
		case got := <-first:
			t.Errorf("an answer before the outcome is known: %v", got.err)
		default:
		}
		close(release)
		if got := <-first; got.err != nil || len(got.appended) != 1 {
			t.Errorf("what was being written: %v", got.err)
		}
		if got := <-patient; got.err != nil {
			t.Errorf("without patience: %v", got.err)
		}
		commits := 0
		for _, e := range h.entries() {
			if _, ok := e.Body.(*audit.Commit); ok {
				commits++
			}
		}
		if commits != 2 {
			t.Errorf("%d commits", commits)
		}
	})
}

// TestSlowBatch: a ledger whose batch does not come back is not ready.
func TestSlowBatch(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		faulty := &faultyStore{Store: store}
		h := newHouse(t, faulty)
		l := h.open(h.config("mark"))
		release := make(chan struct{})
		faulty.failAppend(func(real func() error) error {
			<-release
			return real()
		})
		done := make(chan error, 1)
		go func() {
			_, err := on(l).Append(t.Context(), propose(commit("t", 1)))
			done <- err
		}()
		for l.Ready() == nil {
			time.Sleep(10 * time.Millisecond) // until it is noticed; no test of time
		}
		if err := l.Ready(); !errors.Is(err, ledger.ErrUnavailable) {
			t.Error(err)
		}
		close(release)
		if err := <-done; err != nil || l.Ready() != nil {
			t.Errorf("afterwards: %v, %v", err, l.Ready())
		}
	})
}

// TestOpenAt: what another daemon committed is among the open shuffles as soon as
// the store shows it, and what it closed is not.
func TestOpenAt(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		a, b, _ := h.apart(nil)
		ids := func(size uint64) (ids []uint64) {
			t.Helper()
			open, err := b.OpenAt(t.Context(), size)
			must(t, err)
			for _, o := range open {
				ids = append(ids, o.ID)
			}
			return ids
		}
		known := b.Head().Size
		first := ids(known)
		second := h.must(a, propose(commit("t", 2)))[0].Index
		if got := ids(known); !slices.Equal(got, first) {
			t.Errorf("as of what it knows: %v, want %v", got, first)
		}
		if got, want := ids(second+1), append(slices.Clone(first), second); !slices.Equal(got, want) {
			t.Errorf("as of the second commit: %v, want %v", got, want)
		}
		if _, err := b.OpenAt(t.Context(), a.Head().Size+1); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("as of an entry that is not there: %v", err)
		}
		if got := ids(0); len(got) != len(first)+1 {
			t.Errorf("as of nothing: %v", got)
		}
	})
}

// TestTables: tables are listed by name with what is open there, also what another daemon wrote, in pages.
func TestTables(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		a, b, _ := h.apart(nil)
		known, _, err := b.Tables(t.Context(), b.Head().Size, ledger.TableQuery{Limit: 10, Open: 1})
		must(t, err)
		ids := map[string][]uint64{}
		for n, table := range []string{"z", "x", "y", "z", "z"} {
			e := h.must(a, propose(commit(table, uint64(100+n))))[0]
			ids[table] = append(ids[table], e.Index)
		}
		h.must(a, propose(&audit.Event{Kind: audit.EventTableClose, Name: "y"}))
		all, next, err := b.Tables(t.Context(), a.Head().Size, ledger.TableQuery{Limit: 10, Open: 2})
		if err != nil || next != "" || len(all) != len(known)+3 {
			t.Fatalf("%+v, %q, %v", all, next, err)
		}
		for _, ref := range all[len(known):] {
			of := ids[ref.Table]
			if ref.Serial != uint64(len(of)) || ref.Newest != of[len(of)-1] || ref.Closed != (ref.Table == "y") ||
				ref.More != (ref.Table == "z") || len(ref.Open) != min(len(of), 2) {
				t.Errorf("%+v, want %v", ref, of)
			}
		}
		var names []string
		for q := (ledger.TableQuery{Limit: 1, Open: 9}); ; q.After = next {
			var page []rules.TableRef
			if page, next, err = b.Tables(t.Context(), 0, q); err != nil || len(page) != 1 {
				t.Fatalf("%+v, %v", page, err)
			}
			if names = append(names, page[0].Table); next == "" {
				break
			}
		}
		if !slices.IsSorted(names) || len(names) != len(all) {
			t.Errorf("in pages: %v", names)
		}
		some, next, err := b.Tables(t.Context(), 0,
			ledger.TableQuery{Only: []string{"y", "none", "x"}, Limit: 2, Open: 9})
		if err != nil || len(some) != 1 || some[0].Table != "x" || next != "x" {
			t.Errorf("%+v, %q, %v", some, next, err)
		}
	})
}
