package dealer_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/ledger"
)

// asked counts the key tags that the store is asked for.
type asked struct {
	ledger.Store
	tags atomic.Int64
}

func (a *asked) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) ([]ledger.Row, error) {
	a.tags.Add(int64(len(tags)))
	return a.Store.ByKeyTags(ctx, id, tags...)
}

// keyAt is a UUID of version 7 that says it was made at this time.
func keyAt(at time.Time, n int) string {
	ms := at.UnixMilli()
	return fmt.Sprintf("%08x-%04x-7000-8000-%012x", ms>>16, ms&0xffff, n)
}

// TestNewKeys: a key that is too young to be in the ledger costs no question. Every
// other one does, and whatever a key says of its age, it is answered once.
func TestNewKeys(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		s := &asked{Store: tb.cfg.Store}
		tb.cfg.Store = s
		d := dealer.New(tb.cfg)
		commit := func(d *dealer.Dealer, key string) dealer.Shuffle {
			t.Helper()
			s, err := d.Shuffle(t.Context(), as("tester"), key, dealer.ShuffleRequest{Table: "t", Deck: "standard-52"})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		questions := func(name string, want int64, ask func()) {
			t.Helper()
			before := s.tags.Load()
			ask()
			if n := s.tags.Load() - before; n != want {
				t.Errorf("%s: the store was asked for %d keys, not %d", name, n, want)
			}
		}
		tb.pass(time.Minute)
		young := keyAt(tb.now(), 1)
		var first dealer.Shuffle
		questions("a young key", 0, func() { first = commit(d, young) })
		tapes := tb.cfg.Entropy.Stats().Tapes
		questions("a young key again", 1, func() {
			if diff := cmp.Diff(first, commit(d, young), sameAnswer); diff != "" {
				t.Error(diff)
			}
		})
		if n := tb.cfg.Entropy.Stats().Tapes - tapes; n != 0 {
			t.Errorf("a retry drew %d tapes", n)
		}
		questions("a batch under a young key", 0, func() {
			if _, err := d.Shuffles(t.Context(), as("tester"), keyAt(tb.now(), 2),
				dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}, 3); err != nil {
				t.Fatal(err)
			}
		})
		for name, key := range map[string]string{
			"older than the daemon": keyAt(tb.now().Add(-time.Hour), 3),
			"from the future":       keyAt(tb.now().Add(time.Hour), 4),
			"version 4":             "01890000-0000-4000-8000-000000000001",
			"no hexadecimal":        "0189000g-0000-7000-8000-000000000001",
			"no UUID":               "hand-1",
		} {
			questions(name, 1, func() { commit(d, key) })
		}
		// A daemon that has not seen the key takes it for new: the ledger does not.
		other := tb.rival(s)
		commit(other.Dealer, "another-one")
		again := keyAt(tb.now(), 5)
		kept := commit(other.Dealer, again)
		if diff := cmp.Diff(kept, commit(d, again), sameAnswer); diff != "" {
			t.Errorf("two daemons, one key: %s", diff)
		}
		if n := tb.Ledger().Live().Appends.Duplicate; n != 0 {
			t.Errorf("%d batches were refused for what the other daemon wrote", n)
		}
		// Now it has seen that others write.
		questions("a young key alongside another daemon", 1, func() { commit(d, keyAt(tb.now(), 6)) })
	})
}

// TestLyingKeys: keys whose maker's clock is ahead by the time that a daemon was
// away are taken for new although the ledger has them. Their answers are still
// the first ones, also where a later rule would refuse them; and none of them
// spoils more than one batch.
func TestLyingKeys(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
		single, several := keyAt(tb.now().Add(time.Hour), 1), keyAt(tb.now().Add(time.Hour), 2)
		first := tb.commit(single, req)
		batch, err := tb.Shuffles(t.Context(), as("tester"), several, req, 3)
		if err != nil {
			t.Fatal(err)
		}
		tb.restart()
		tb.pass(time.Hour)
		same := func(name string, duplicates uint64, tapes uint64) {
			t.Helper()
			drawn := tb.cfg.Entropy.Stats().Tapes
			tb.unwritten(func() {
				if diff := cmp.Diff(first, tb.commit(single, req), sameAnswer); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
				again, err := tb.Shuffles(t.Context(), as("tester"), several, req, 3)
				if diff := cmp.Diff(batch, again, sameAnswer); diff != "" || err != nil {
					t.Errorf("%s, a batch: %v %s", name, err, diff)
				}
			})
			if n := tb.Ledger().Live().Appends.Duplicate; n != duplicates {
				t.Errorf("%s: %d batches were refused, want %d", name, n, duplicates)
			}
			if n := uint64(tb.cfg.Entropy.Stats().Tapes) - uint64(drawn); n != tapes {
				t.Errorf("%s: %d tapes were drawn, want %d", name, n, tapes)
			}
		}
		same("taken for new", 1, 1) // after the first nothing is taken for new for a while
		same("remembered", 1, 0)
		tb.restart()
		if _, err := tb.SetSwitch(t.Context(), as("admin"),
			dealer.SwitchRequest{Scope: audit.ScopeLedger, Set: true, Reason: "a test"}); err != nil {
			t.Fatal(err)
		}
		same("behind a switch", 0, 4)
		another := keyAt(tb.now(), 3)
		var illegal *audit.Illegal
		if _, err := tb.Shuffle(t.Context(), as("tester"), another, req); !errors.As(err, &illegal) {
			t.Errorf("a new key behind a switch: %v", err)
		}
	})
}
