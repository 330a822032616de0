package recall

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// TestRetention: a closed shuffle is listed for a time, an open one until it is closed, and nothing is gone.
func TestRetention(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		b := newBook(t, s, "main")
		for i := range 20 {
			b.append(b.commit("t-1", "g"))
			if i%3 > 0 {
				b.append(closes(b.all[i].ID, audit.OutcomeCompleted, 0))
			}
		}
		last := b.time
		for name, test := range map[string]struct {
			since int64
			want  int
		}{
			"for ever":                      {0, 20},
			"the commit of the third":       {b.all[2].Committed, 19},
			"after the commit of the third": {b.all[2].Committed + 1, 18},
			"after all commits":             {b.all[19].Committed + 1, 7},
			"later":                         {last + 1, 7},
		} {
			for _, q := range []ledger.RecallQuery{{}, {Table: "t-1"}, {GameRef: "g"}} {
				q.Limit = 3
				got := find(t, newFinder(b, s, test.since), q)
				if len(got) != test.want || !cmp.Equal(got, b.kept(test.since)) {
					t.Errorf("%s, %+v: %d shuffles, want %d", name, q, len(got), test.want)
				}
			}
		}
		third := ledger.RecallQuery{Table: "t-1", Serial: 3, Limit: 1}
		for since, want := range map[int64]int{b.all[2].Committed: 1, b.all[2].Committed + 1: 0} {
			if got := find(t, newFinder(b, s, since), third); len(got) != want {
				t.Errorf("the third by its serial, since %d: %v", since, got)
			}
		}
		// Longer than time itself is for ever.
		x := New(b, s, 100*365*24*time.Hour, func() time.Time { return time.UnixMilli(last) })
		if got := find(t, x, ledger.RecallQuery{Limit: 100}); len(got) != 20 {
			t.Errorf("%d shuffles in a hundred years", len(got))
		}
	})
}

func TestDrop(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() ledger.Store) {
		s := open()
		b, other := newBook(t, s, "main"), newBook(t, s, "other")
		for i := range 20 {
			for _, id := range []ledger.ID{b.id, other.id} {
				if err := s.PutAccess(t.Context(), id,
					ledger.Access{Time: int64(1000 + i), Request: fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		accesses := func(id ledger.ID) int {
			list, err := s.AccessRecords(t.Context(), id, ledger.AccessQuery{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		at := time.UnixMilli(1005).Add(time.Hour)
		for _, step := range []struct {
			name string
			keep time.Duration
			want int
		}{
			{"for ever", 0, 0},
			{"longer than time itself", 100 * 365 * 24 * time.Hour, 0},
			{"an hour", time.Hour, 5},
			{"again", time.Hour, 0},
			{"a minute", time.Minute, 14}, // and not the newest
		} {
			if got, err := Overdue(t.Context(), s, b.id, step.keep, at); got != step.want || err != nil {
				t.Errorf("counting %s: %d, %v; want %d", step.name, got, err, step.want)
			}
			if got, err := Drop(t.Context(), s, b.id, step.keep, at); got != step.want || err != nil {
				t.Errorf("%s: %d, %v; want %d", step.name, got, err, step.want)
			}
		}
		if accesses(b.id) != 1 || accesses(other.id) != 20 {
			t.Errorf("%d accesses are left, and %d of the other ledger", accesses(b.id), accesses(other.id))
		}
	})
}
