package load

import (
	"context"
	"time"
)

// wait returns at a time, or when ctx ends, and reports whether it was the time
// that came. The runtime's timers wake an idle process up to a millisecond late,
// with which a request's latency would begin: the last of the wait is the
// kernel's.
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

// longNap is how long nobody minds that a nap does not end early.
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
