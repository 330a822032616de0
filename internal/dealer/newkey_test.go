package dealer_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// keyAt is a UUID of version 7 that says it was made at this time.
func keyAt(at time.Time, n int) string {
	ms := at.UnixMilli()
	return fmt.Sprintf("%08x-%04x-7000-8000-%012x", ms>>16, ms&0xffff, n)
}

// TestLyingKeys: whatever time a key names, a retry gets the first answer and draws no
// tape, also after a restart and behind a later rule that refuses new commits.
func TestLyingKeys(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
		single := keyAt(tb.now().Add(time.Hour), 1)
		first := tb.commit(single, req)
		tb.restart()
		tb.pass(time.Hour)
		same := func(name string) {
			t.Helper()
			drawn := tb.cfg.Entropy.Stats().Tapes
			tb.unwritten(func() {
				if diff := cmp.Diff(first, tb.commit(single, req), sameAnswer); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			})
			if n := tb.Ledger().Live().Appends.Duplicate; n != 0 {
				t.Errorf("%s: %d batches were refused", name, n)
			}
			if n := tb.cfg.Entropy.Stats().Tapes - drawn; n != 0 {
				t.Errorf("%s: %d tapes were drawn", name, n)
			}
		}
		same("after a restart")
		if _, err := tb.SetSwitch(t.Context(), as("admin"),
			dealer.SwitchRequest{Scope: audit.ScopeLedger, Reason: "a test"}); err != nil {
			t.Fatal(err)
		}
		same("behind a switch")
		another := keyAt(tb.now(), 3)
		var illegal *audit.Illegal
		if _, err := tb.Shuffle(t.Context(), as("tester"), another, req); !errors.As(err, &illegal) {
			t.Errorf("a new key behind a switch: %v", err)
		}
	})
}
