package ledger

import (
	"fmt"
	"time"
)

// rebase is how long the wall clock is compared with the same beginning. It is so long that
// small steps, each below the limit, are noticed before they add up to much, and so short that
// the slewing of an honest clock, below 0.05 %, stays far below the limit.
const rebase = time.Hour

// clock gives entries their time. It does not follow a wall clock that steps: the wall clock must stay within limit of
// where the monotonic clock expects it. It belongs to the sequencer's goroutine.
type clock struct {
	read  func() (wall time.Time, elapsed time.Duration)
	limit time.Duration

	started bool
	wall    time.Time // at the beginning
	elapsed time.Duration
}

// now returns the time in UTC milliseconds, or ErrClock. The time is at least newest, the time of the newest entry.
func (c *clock) now(newest int64) (int64, error) {
	wall, elapsed := c.read()
	if c.started {
		expected := c.wall.Add(elapsed - c.elapsed)
		if step := wall.Round(0).Sub(expected.Round(0)); step.Abs() > c.limit {
			return 0, fmt.Errorf("%w by %s, more than %s", ErrClock, step.Round(time.Millisecond), c.limit)
		}
	}
	ms := wall.UnixMilli()
	if behind := newest - ms; behind > c.limit.Milliseconds() {
		return 0, fmt.Errorf("%w: it is %d ms behind the newest entry", ErrClock, behind)
	}
	if !c.started || elapsed-c.elapsed >= rebase {
		c.started, c.wall, c.elapsed = true, wall, elapsed
	}
	return max(ms, newest), nil
}
