package load

import (
	"context"
	"time"
)

// clock is time, for tests to hold.
type clock interface {
	Now() time.Time
	// Until returns at a time, or when ctx ends, and reports whether it was the
	// time that came.
	Until(ctx context.Context, at time.Time) bool
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// Until is exact to a fraction of a millisecond: the runtime's timers wake an
// idle process up to one late, and a request's latency would begin with that.
func (wallClock) Until(ctx context.Context, at time.Time) bool {
	if d := time.Until(at); d > 2*time.Millisecond {
		t := time.NewTimer(d - 2*time.Millisecond)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return false
		}
	}
	if d := time.Until(at); d > 0 {
		nap(d)
	}
	return ctx.Err() == nil
}
