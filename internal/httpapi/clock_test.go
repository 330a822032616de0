package httpapi

import (
	"sync"
	"time"

	"shuffled/internal/ledger"
)

// testClock is a clock that a test moves.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// opened has a ledger go by the clock alone, and look at its store when it is asked.
func (c *testClock) opened(cfg *ledger.Config) {
	start := c.Now()
	cfg.Probe = time.Hour
	cfg.Clock = func() (time.Time, time.Duration) {
		now := c.Now()
		return now, now.Sub(start)
	}
}
