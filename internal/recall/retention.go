package recall

import (
	"context"
	"fmt"
	"time"

	"shuffled/internal/ledger"
)

// Overdue counts the requests of regulators and administrators that Drop would remove from a ledger.
// keep is how long they are kept; 0: for ever.
func Overdue(ctx context.Context, s ledger.AccessStore, id ledger.ID, keep time.Duration, now time.Time) (n int,
	err error) {
	if before, ok := past(keep, now); ok {
		if n, err = s.CountAccess(ctx, id, before); err != nil {
			return 0, fmt.Errorf("counting the requests of regulators and administrators: %w", err)
		}
	}
	return n, nil
}

// dropAtOnce is how many requests are removed in one transaction at most.
const dropAtOnce = 5000

// Drop removes the requests of regulators and administrators that are older than keep from a ledger,
// in small transactions; none if keep is 0. It returns how many it removed, also with an error.
func Drop(ctx context.Context, s ledger.AccessStore, id ledger.ID, keep time.Duration, now time.Time) (all int,
	err error) {
	before, ok := past(keep, now)
	for ok {
		n, err := s.DropAccess(ctx, id, before, dropAtOnce)
		all += n
		if err != nil {
			return all, fmt.Errorf("dropping the requests of regulators and administrators: %w", err)
		}
		ok = n > 0
	}
	return all, nil
}

// past returns the time in UTC milliseconds before which nothing is kept. ok is false if everything is kept.
func past(keep time.Duration, now time.Time) (before int64, ok bool) {
	before = now.Add(-keep).UnixMilli()
	return before, keep > 0 && before > 0
}
