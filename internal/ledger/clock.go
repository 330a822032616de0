package ledger

import (
	"fmt"
	"time"
)

// rebase is how long the wall clock is held against the same beginning: long
// enough that steps below the limit do not add up, short enough that the slewing
// of an honest clock, below 0.05 %, stays far under it.
const rebase = time.Hour

// clock gives entries their time. A clock that steps is refused, not followed:
// the wall clock must stay within limit of where the monotonic clock expects it.
// It belongs to the sequencer.
type clock struct {
	read  func() (wall time.Time, elapsed time.Duration)
	limit time.Duration

	started bool
	wall    time.Time // at the beginning
	elapsed time.Duration
}

// now returns UTC milliseconds, never below newest, the time of the newest
// entry; or ErrClock.
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
