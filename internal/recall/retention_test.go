package recall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

func TestDrop(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() database) {
		s := open()
		b := newBook(t, s, "main")
		other := newBook(t, s, "other")
		for i := range 20 {
			b.append(b.commit("t-1", ""))
			other.append(other.commit("t-1", ""))
			if i%3 > 0 {
				b.append(closes(b.all[i].ID, audit.OutcomeCompleted, 0))
				other.append(closes(other.all[i].ID, audit.OutcomeCompleted, 0))
			}
			for _, id := range []ledger.ID{b.id, other.id} {
				if err := s.PutAccess(t.Context(), id, ledger.Access{Time: int64(1000 + i), Request: fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		x := newIndex(b, s)
		find(t, x, ledger.RecallQuery{Limit: 9})
		find(t, newIndex(other, s), ledger.RecallQuery{Limit: 9})
		accesses := func(id ledger.ID) int {
			list, err := s.AccessRecords(t.Context(), id, ledger.AccessQuery{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		second := b.all[10].Closed
		at := time.UnixMilli(second).Add(time.Hour)
		gone := len(b.all) - len(b.kept(second))
		for _, step := range []struct {
			name string
			keep Retention
			want Dropped
		}{
			{"for ever", Retention{}, Dropped{}},
			{"longer than time itself", Retention{Shuffles: 100 * 365 * 24 * time.Hour, Accesses: 100 * 365 * 24 * time.Hour}, Dropped{}},
			{"accesses", Retention{Accesses: time.Hour + time.Duration(second-1005)*time.Millisecond}, Dropped{Accesses: 5}},
			{"shuffles", Retention{Shuffles: time.Hour}, Dropped{Shuffles: gone}},
			{"again", Retention{Shuffles: time.Hour, Accesses: time.Hour + time.Duration(second-1005)*time.Millisecond}, Dropped{}},
			{"both", Retention{Shuffles: time.Millisecond, Accesses: time.Minute}, Dropped{Shuffles: 13 - gone, Accesses: 15}},
		} {
			if got, err := Overdue(t.Context(), s, b.id, step.keep, at); got != step.want || err != nil {
				t.Errorf("counting %s: %+v, %v; want %+v", step.name, got, err, step.want)
			}
			if got, err := Drop(t.Context(), s, b.id, step.keep, at); got != step.want || err != nil {
				t.Errorf("%s: %+v, %v; want %+v", step.name, got, err, step.want)
			}
		}
		var still []ledger.Recalled
		for _, r := range b.all {
			if r.Closed == 0 {
				still = append(still, r)
			}
		}
		if diff := cmp.Diff(still, find(t, x, ledger.RecallQuery{Limit: 100})); diff != "" {
			t.Errorf("what is left:\n%s", diff)
		}
		if n := accesses(b.id); n != 0 {
			t.Errorf("%d accesses are left", n)
		}
		if n := len(find(t, newIndex(other, s), ledger.RecallQuery{Limit: 100})); n != 20 || accesses(other.id) != 20 {
			t.Errorf("the other ledger has %d shuffles and %d accesses", n, accesses(other.id))
		}
	})
}

// TestRetain drops at once and at every tick, until it is told to stop; a store
// that fails does not end it.
func TestRetain(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := &keeper{left: map[ledger.ID]int{ledger.IDOf("a"): 7, ledger.IDOf("b"): 12_000}, asked: make(chan ledger.ID)}
	ticks := make(chan time.Time)
	done := make(chan struct{})
	go func() {
		defer close(done)
		retain(ctx, s, []ledger.Info{{Name: "a", Origin: "a"}, {Name: "b", Origin: "b"}}, Retention{Shuffles: time.Hour}, slog.New(slog.DiscardHandler), ticks)
	}()
	a, b := ledger.IDOf("a"), ledger.IDOf("b")
	for round := range 3 {
		for _, want := range [][]ledger.ID{{a, a, b, b, b, b}, {a, b}, {a, b}}[round] {
			if got := <-s.asked; got != want {
				t.Fatalf("round %d: ledger %d, want %d", round, got, want)
			}
		}
		if round < 2 {
			s.fail = round == 1
			ticks <- time.Now()
		}
	}
	stop()
	<-done
	Retain(t.Context(), nil, []ledger.Info{{Name: "a"}}, Retention{}, nil) // there is nothing to do
}

// keeper counts what is dropped. The test sets fail while nobody asks.
type keeper struct {
	Keeper
	left  map[ledger.ID]int
	asked chan ledger.ID
	fail  bool
}

func (k *keeper) DropRecall(_ context.Context, id ledger.ID, before int64, limit int) (int, error) {
	fail := k.fail
	k.asked <- id
	if fail {
		return 0, errors.New("no")
	}
	n := min(limit, k.left[id])
	k.left[id] -= n
	return n, nil
}
