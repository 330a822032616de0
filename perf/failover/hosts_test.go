package failover

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"shuffled/internal/ledger"
	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
)

// TestHungPrimary: a primary hangs, with every connection open. The daemons leave it
// for the standby, in spite of an address that names it first.
func TestHungPrimary(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.clients.play("client", 8)
	p.answers(30)
	resume := p.primary.Pause(t)
	p.standby.Promote(t)
	promoted := time.Now()
	p.answers(1)
	t.Logf("the first answer came %v after the promotion", time.Since(promoted).Round(time.Millisecond))
	p.answers(30)
	resume() // and stopped at once: there must not be two primaries
	p.primary.Stop(t, testdb.Kill)
	p.clients.stop()
	p.clients.patience = 20 * time.Second
	p.settled(p.clients, p.second)
}

// TestPromotedServerRefused: a promoted server needs the same settings. Reads of a
// server that could lose what it acknowledges are also refused.
func TestPromotedServerRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ setting, value, reason string }{
		{"fsync", "off", "fsync is off"},
		{"synchronous_commit", "off", "synchronous_commit is off"},
	} {
		t.Run(test.setting, func(t *testing.T) {
			t.Parallel()
			primary := testdb.Start(t)
			h := newHouse(t, primary.Database(t), 0)
			standby := primary.NewStandby(t, testdb.Setting(test.setting, test.value))
			second := standby.Same(t, h.direct)
			d := h.daemon("daemon", both(t, h.direct, second), postgres.Options{Timeout: 2 * time.Second})
			hands := []*hand{{table: "table", key: "before"}}
			must(t, hands[0].next(t.Context(), d.Dealer))
			until(t, "the standby to follow", func() bool {
				const size = "SELECT size::int FROM heads"
				return ask[int](t, second, size) == ask[int](t, h.direct, size)
			})
			primary.Stop(t, testdb.Kill)
			standby.Promote(t)
			until(t, "a refusal of the promoted server", func() bool {
				err := d.Ledger().Ready()
				return errors.Is(err, ledger.ErrUnavailable) && strings.Contains(err.Error(), test.reason)
			})
			for i := range 5 {
				if err := (&hand{table: "table", key: fmt.Sprint(i)}).next(t.Context(), d.Dealer); !errors.Is(err,
					ledger.ErrUnavailable) {
					t.Errorf("a commit: %v", err)
				}
			}
			standby.Stop(t, testdb.Fast)
			primary.Start(t)
			until(t, "the primary to be used again", func() bool { return d.Ledger().Ready() == nil })
			until(t, "a commit", func() bool {
				h := &hand{table: "table", key: "after"}
				return h.next(t.Context(), d.Dealer) == nil
			})
			if n := h.lost(h.read(h.direct), hands); n > 0 {
				t.Errorf("%d receipts lost", n)
			}
		})
	}
}
