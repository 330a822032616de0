package ledger

import (
	"context"
	"time"
)

// Sleep waits for d, or until the channel is closed. It returns false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-until:
	case <-ctx.Done():
		return false
	}
	return true
}
