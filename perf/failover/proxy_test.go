package failover

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/store/postgres"
	"shuffled/internal/testdb"
)

// spoiler spoils appends and cosigned checkpoints until every fault had its number.
type spoiler struct {
	mu    sync.Mutex
	turn  int
	left  map[testdb.Fault]int
	order []testdb.Fault
	wrote [2]int // appends, cosigned checkpoints that were spoiled
}

// newSpoiler loses n requests and n replies of appends.
func newSpoiler(n int) *spoiler {
	s := &spoiler{left: map[testdb.Fault]int{
		testdb.LoseRequest: (n + 1) / 2, testdb.LoseSync: (n + 1) / 2,
		testdb.DelayRequest: n/10 + 1, testdb.DelayReply: n/10 + 1, testdb.HoldReply: n/50 + 2,
	}}
	cuts := []testdb.Fault{testdb.LoseBoth, testdb.LoseReply, testdb.LoseRow, testdb.LoseComplete, testdb.LoseReady,
		testdb.LoseEnd}
	for _, f := range cuts {
		s.left[f] = (n + len(cuts) - 1) / len(cuts)
	}
	s.order = slices.Sorted(maps.Keys(s.left))
	return s
}

// fault spoils every other append, and every other cosigned checkpoint, each time
// in another way.
func (s *spoiler) fault(sql string) testdb.Fault {
	what := 0
	switch {
	case strings.Contains(sql, "new_entries"):
	case strings.Contains(sql, "new_cosigned"):
		what = 1
	default:
		return testdb.Pass
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn++; s.turn%2 == 0 {
		return testdb.Pass
	}
	for range s.order {
		f := s.order[s.turn/2%len(s.order)]
		if s.left[f] > 0 {
			s.left[f]--
			s.wrote[what]++
			return f
		}
		s.turn += 2
	}
	return testdb.Pass
}

func (s *spoiler) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.left {
		if n > 0 {
			return false
		}
	}
	return true
}

// TestLostMessages loses requests and replies of appends under load. Every request
// gets one answer, whatever was lost.
func TestLostMessages(t *testing.T) {
	t.Parallel()
	dsn := testdb.DSN(t)
	loseMessages(t, dsn, dsn, postgres.Options{Timeout: time.Second}, *injections)
}

// TestLostMessagesOfPooler does the same between the daemons and a PgBouncer.
func TestLostMessagesOfPooler(t *testing.T) {
	t.Parallel()
	cluster := testdb.Start(t)
	through := cluster.Pooler(t)
	dsn := cluster.Database(t)
	loseMessages(t, dsn, through(dsn), postgres.Options{Timeout: time.Second, Pooler: true}, *injections/2)
}

// loseMessages spoils n requests and n replies between daemons and the address
// through which they reach the database at dsn.
func loseMessages(t *testing.T, dsn, through string, o postgres.Options, n int) {
	h := newHouse(t, dsn, 1)
	p := testdb.NewProxy(t, through)
	s := newSpoiler(n)
	p.Fault = s.fault
	c := &clients{t: t, patience: 20 * time.Second,
		daemons: []*daemon{h.daemon("a", p.DSN, o), h.daemon("b", p.DSN, o)}}
	c.play("client", 16)
	for deadline := time.Now().Add(5*time.Minute + time.Duration(n)*time.Second); !s.done() &&
		!t.Failed(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.quit()
			t.Fatalf("void: left %v after %d answers", s.left, c.acked.Load())
		}
	}
	c.stop()
	struck := 0
	for _, f := range s.order {
		t.Logf("%4d %v", p.Struck(f), f)
		struck += p.Struck(f)
	}
	if struck < 2*n {
		t.Errorf("void: only %d faults struck", struck)
	}
	h.settled(c, dsn)
	t.Logf("%d appends and %d cosigned checkpoints spoiled; %d answers, %d errors, %d hands, %d given up", s.wrote[0],
		s.wrote[1],
		c.acked.Load(), c.failed.Load(), len(c.hands), len(c.abandoned))
}
