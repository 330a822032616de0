package dealer_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/dealer"
)

// TestKeysLast: an idempotency key gets its answer for ever: after a day, after a month, and after restarts, by the
// clock of the daemon and by that of the machine. A retry draws no tape, and another request under the key is refused.
func TestKeysLast(t *testing.T) {
	const day = 24 * time.Hour
	onEachStore(t, setting{at: time.Now().Add(-40 * day)}, func(t *testing.T, tb *table) {
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
		other := dealer.ShuffleRequest{Table: "t", Deck: "short-36"}
		draws := dealer.DrawsRequest{Table: "t", Ranges: []uint32{6, 6}}
		keys := []string{"hand-1", keyAt(tb.now(), 1), keyAt(tb.now().Add(time.Second), 2)}
		var first []any
		send := func() (answers []any) {
			t.Helper()
			for _, key := range keys {
				answers = append(answers, tb.commit(key, req), tb.draw(key+"-drawn", draws))
			}
			return answers
		}
		first = send()
		for _, step := range []struct {
			name string
			do   func()
		}{
			{"at once", func() {}},
			{"after a restart", tb.restart},
			{"after a day", func() { tb.pass(day + time.Minute) }},
			{"after a day and a restart", tb.restart},
			{"after forty days", func() { tb.pass(39 * day) }},
			{"after forty days and a restart", tb.restart},
		} {
			step.do()
			tapes := tb.cfg.Entropy.Stats().Tapes
			tb.unwritten(func() {
				if diff := cmp.Diff(first, send(), sameAnswer); diff != "" {
					t.Errorf("%s: %s", step.name, diff)
				}
				for _, key := range keys {
					_, err := tb.Shuffle(t.Context(), as("tester"), key, other)
					wantIs(t, step.name+", another request", err, dealer.ErrKeyReused)
				}
			})
			if n := tb.cfg.Entropy.Stats().Tapes - tapes; n != 0 {
				t.Errorf("%s: %d tapes were drawn", step.name, n)
			}
		}
	})
}
