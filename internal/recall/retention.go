package recall

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"shuffled/internal/ledger"
)

// Retention says how long what is no evidence is kept. 0 is for ever.
type Retention struct {
	Shuffles time.Duration // of a closed shuffle in the index, from its close
	Accesses time.Duration // of a regulator's request, from its time
}

// Keeper is what retention needs of a store.
type Keeper interface {
	ledger.RecallStore
	ledger.AccessStore
}

// Dropped counts what retention has removed, or would.
type Dropped struct {
	Shuffles int `json:"shuffles"`
	Accesses int `json:"accesses"`
}

// dropAtOnce is how much is removed in one transaction.
const dropAtOnce = 5000

// Overdue counts what Drop would remove of a ledger.
func Overdue(ctx context.Context, s Keeper, id ledger.ID, keep Retention, now time.Time) (d Dropped, err error) {
	if before, ok := keep.shuffles(now); ok {
		if d.Shuffles, err = s.CountRecall(ctx, id, before); err != nil {
			return d, fmt.Errorf("counting shuffles in the index: %w", err)
		}
	}
	if before, ok := keep.accesses(now); ok {
		if d.Accesses, err = s.CountAccess(ctx, id, before); err != nil {
			return d, fmt.Errorf("counting regulators' requests: %w", err)
		}
	}
	return d, nil
}

// Drop removes from a ledger's index the shuffles that were closed long enough
// ago, and the requests that are old enough, in small transactions. It returns how
// many it removed, also with an error.
func Drop(ctx context.Context, s Keeper, id ledger.ID, keep Retention, now time.Time) (d Dropped, err error) {
	if before, ok := keep.shuffles(now); ok {
		if d.Shuffles, err = drop(ctx, id, before, s.DropRecall); err != nil {
			return d, fmt.Errorf("dropping shuffles from the index: %w", err)
		}
	}
	if before, ok := keep.accesses(now); ok {
		if d.Accesses, err = drop(ctx, id, before, s.DropAccess); err != nil {
			return d, fmt.Errorf("dropping regulators' requests: %w", err)
		}
	}
	return d, nil
}

func drop(ctx context.Context, id ledger.ID, before int64, part func(context.Context, ledger.ID, int64, int) (int, error)) (all int, err error) {
	for {
		n, err := part(ctx, id, before, dropAtOnce)
		all += n
		if err != nil || n == 0 {
			return all, err
		}
	}
}

func (r Retention) shuffles(now time.Time) (before int64, ok bool) { return past(r.Shuffles, now) }
func (r Retention) accesses(now time.Time) (before int64, ok bool) { return past(r.Accesses, now) }

// past returns the time in UTC milliseconds before which nothing is kept; ok is
// false when everything is.
func past(keep time.Duration, now time.Time) (before int64, ok bool) {
	before = now.Add(-keep).UnixMilli()
	return before, keep > 0 && before > 0
}

// dropEvery is how often Retain looks.
const dropEvery = time.Hour

// Retain drops from all ledgers what is overdue, now and every hour until ctx
// ends. It is for a goroutine of the caller's.
func Retain(ctx context.Context, s Keeper, ledgers []ledger.Info, keep Retention, log *slog.Logger) {
	retain(ctx, s, ledgers, keep, log, time.NewTicker(dropEvery).C)
}

func retain(ctx context.Context, s Keeper, ledgers []ledger.Info, keep Retention, log *slog.Logger, again <-chan time.Time) {
	for now := time.Now(); keep != (Retention{}); {
		for _, l := range ledgers {
			d, err := Drop(ctx, s, ledger.IDOf(l.Origin), keep, now)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				log.Error("dropping what is past its retention", "ledger", l.Name, "error", err)
			}
			if d != (Dropped{}) {
				log.Info("dropped what was past its retention", "ledger", l.Name, "shuffles", d.Shuffles, "accesses", d.Accesses)
			}
		}
		select {
		case <-ctx.Done():
			return
		case now = <-again:
		}
	}
}
