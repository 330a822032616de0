package load

import (
	"context"
	"time"
)

// wait returns at a time, or when ctx ends, and reports whether the time came. The runtime's timers wake an
// idle process up to a millisecond late, which would add to a request's latency. The kernel therefore does
// the last part of the wait.
func wait(ctx context.Context, at time.Time) bool {
	d := time.Until(at)
	if d > longNap {
		if !waitTimer(ctx, at.Add(-2*time.Millisecond)) {
			return false
		}
		d = time.Until(at)
	}
	if d > 0 {
		nap(d)
	}
	return ctx.Err() == nil
}

// longNap is the longest nap, which does not end early when ctx ends.
const longNap = 20 * time.Millisecond

// waitTimer is wait with timers alone.
func waitTimer(ctx context.Context, at time.Time) bool {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
