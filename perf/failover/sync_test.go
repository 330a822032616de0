package failover

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/ledger"
	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
)

// pair is a primary with a synchronous standby, two daemons whose address names
// both, and their clients.
type pair struct {
	*house
	primary, standby *testdb.Cluster
	first, second    string // addresses of the database at each
	clients          *clients
	cancels          int // waits for the standby that an operator ended
}

// newPair starts everything. The daemons' way to each server is a proxy's, which
// may rewrite statements.
func newPair(t *testing.T, rewrite func(string) string) *pair {
	t.Helper()
	p := &pair{primary: testdb.Start(t)}
	p.first = p.primary.Database(t)
	p.house = newHouse(t, p.first, 0)
	p.standby = p.primary.NewStandby(t)
	p.second = p.standby.Same(t, p.first)
	p.primary.Synchronous(t, true)
	var through []string
	for _, dsn := range []string{p.first, p.second} {
		proxy := testdb.NewProxy(t, dsn)
		proxy.Rewrite = rewrite
		through = append(through, proxy.DSN)
	}
	address := both(t, through...)
	// One daemon gives up on a commit sooner than the clients do.
	p.clients = &clients{t: t, patience: time.Duration(50+rand.IntN(450)) * time.Millisecond, daemons: []*daemon{
		p.daemon("patient", address, postgres.Options{Timeout: 3 * time.Second}),
		p.daemon("hasty", address, postgres.Options{Timeout: 500 * time.Millisecond}),
	}}
	return p
}

// answers waits for this many more answers.
func (p *pair) answers(n int64) {
	p.t.Helper()
	from := p.clients.acked.Load()
	until(p.t, "answers", func() bool { return p.clients.acked.Load() >= from+n || p.t.Failed() })
}

// endWaits ends n waits for the standby, as operators do.
func (p *pair) endWaits(n int) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.first)
	must(p.t, err)
	defer conn.Close(context.Background())
	ends := []string{"pg_cancel_backend", "pg_terminate_backend"}
	ended := 0
	until(p.t, "commits that wait for the standby", func() bool {
		var some int
		must(p.t, conn.QueryRow(p.t.Context(),
			"SELECT count(*) FILTER (WHERE "+ends[p.cancels%2]+"(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&some))
		ended, p.cancels = ended+some, p.cancels+some
		return ended >= n
	})
}

// unknown is how often a daemon did not know the outcome of an append.
func (p *pair) unknown() (n int) {
	for _, d := range p.clients.daemons {
		n += strings.Count(d.log.String(), "the outcome of a commit is unknown")
	}
	return n
}

// outOfReach takes the standby away from a primary under load, ends waits for it,
// kills and starts the primary in that time, and then kills it for good. It returns
// how many entries the standby lacks.
func (p *pair) outOfReach() (missing int) {
	p.t.Helper()
	p.clients.play("client", 12)
	p.answers(30)
	p.standby.Detach(p.t)
	p.endWaits(10)
	p.primary.Restart(p.t, testdb.Kill)
	p.endWaits(10)
	until(p.t, "an outcome in doubt", func() bool { return p.unknown() > 0 })
	const size = "SELECT size::int FROM heads"
	missing = ask[int](p.t, p.first, size) - ask[int](p.t, p.second, size)
	p.primary.Stop(p.t, testdb.Kill)
	return missing
}

// TestSynchronous: whatever happens to the wait for a synchronous standby, no client
// gets a receipt for an entry that the standby lacks when it is promoted. The daemons
// go on there without a restart.
func TestSynchronous(t *testing.T) {
	t.Parallel()
	missing, cancels, unknown := 0, 0, 0
	var longest time.Duration
	for range *rounds {
		t.Run("round", func(t *testing.T) {
			p := newPair(t, nil)
			missing += p.outOfReach()
			promoted := time.Now()
			p.standby.Promote(t)
			p.answers(1)
			longest = max(longest, time.Since(promoted))
			p.answers(30)
			p.clients.stop()
			p.clients.patience = 20 * time.Second
			p.settled(p.clients, p.second)
			unknown += p.unknown()
			cancels += p.cancels
		})
	}
	if missing == 0 || unknown == 0 {
		t.Error("void: the standby lacked nothing, or nothing was in doubt")
	}
	t.Logf("%d rounds: %d waits ended by hand, %d outcomes unknown, %d entries without a standby; the first answer came %v at most after the promotion",
		*rounds, cancels, unknown, missing, longest.Round(time.Millisecond))
}

// TestSynchronousWithoutBarrier is the control: with plain reads instead of the
// locking ones, receipts are given for entries that the standby lacks.
func TestSynchronousWithoutBarrier(t *testing.T) {
	t.Parallel()
	plain := strings.NewReplacer(" FOR KEY SHARE OF h", "", " FOR NO KEY UPDATE", "").Replace
	p := newPair(t, plain)
	p.outOfReach()
	p.clients.quit()
	p.standby.Promote(t)
	lost := p.lost(p.read(p.second), p.clients.hands)
	if lost == 0 {
		t.Error("no receipt was lost: the test would not see a barrier that is missing")
	}
	for _, d := range p.clients.daemons {
		until(t, d.name+" to stop signing", func() bool { return errors.Is(d.Ledger().Ready(), ledger.ErrFrozen) })
	}
	t.Logf("%d of %d answers were lost", lost, p.clients.acked.Load())
}
