package ledger

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
)

// Switches returns the kill switches that are set, as of the newest entry known
// here.
func (l *Ledger) Switches(ctx context.Context) (all []audit.Switch, err error) {
	err = l.ask(ctx, func() { all = l.state.Switches() })
	return all, err
}

// Backlog is how far the closes of a ledger are behind its commits.
type Backlog struct {
	Overdue int   // open shuffles whose close-by has passed
	Oldest  int64 // time of the oldest open shuffle's commit, UTC milliseconds; 0 for none
}

// Backlog returns the backlog at a time, in UTC milliseconds, as of the newest
// entry known here.
func (l *Ledger) Backlog(ctx context.Context, now int64) (b Backlog, err error) {
	var oldest uint64
	err = l.ask(ctx, func() { oldest, b.Overdue = l.state.Backlog(now) })
	if err != nil || oldest == 0 {
		return b, err
	}
	for row, err := range l.cfg.Store.Rows(ctx, l.id, oldest, oldest+1) {
		if err != nil {
			return Backlog{}, fmt.Errorf("reading the oldest open shuffle: %w", Unavailable(err))
		}
		b.Oldest = row.Time
	}
	return b, nil
}
