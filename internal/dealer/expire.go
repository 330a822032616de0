package dealer

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// Expire closes every open shuffle whose close-by has passed as expired, and discloses its tape as its commit
// declared: what was begun is always told in the end, and a shuffle that was forgotten does not stop its table. It
// returns how many it closed, and the errors of those that it could not. Other daemons may do the same at the same
// time: the ledger lets one of them. A co-dealer that gave no answer is not asked again: it is waited for once.
func (d *Dealer) Expire(ctx context.Context) (closed int, err error) {
	overdue, err := d.cfg.Ledger.Overdue(ctx, d.cfg.Now())
	if err != nil {
		return 0, fmt.Errorf("listing overdue shuffles: %w", err)
	}
	var errs []error
	silent := make(map[string]bool)
	for _, id := range overdue {
		ended, err := d.expire(ctx, id, silent)
		errs = append(errs, err)
		if ended {
			closed++
		}
	}
	return closed, errors.Join(errs...)
}

// expire reports whether it, and not another daemon, closed the shuffle. A foul
// deck ends as well: its tape tells what is wrong with it.
func (d *Dealer) expire(ctx context.Context, id uint64, silent map[string]bool) (ended bool, err error) {
	r, err := d.record(ctx, id)
	if err != nil || r.closed != nil {
		return false, err
	}
	tape, inputs, err := d.tape(ctx, r, maxAncestors)
	if err != nil {
		return false, err
	}
	defer clear(tape)
	defer clear(inputs)
	req := CloseRequest{Outcome: audit.OutcomeExpired, silent: silent}
	if err := d.unplayed(ctx, r, &req); err != nil {
		return false, err
	}
	appended, err := d.appendClose(ctx, audit.Daemon, r, tape, req)
	if breaks(err, audit.RuleNotOpen) {
		return false, nil
	}
	if err == nil {
		d.ended(r, appended)
	}
	return err == nil, err
}
