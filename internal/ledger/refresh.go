package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/singleflight"
)

// Refresh folds what other daemons wrote since the newest head known here.
func (l *Core) Refresh(ctx context.Context) (err error) {
	asked := l.Ask(ctx, func() {
		if err = ctx.Err(); err != nil {
			return
		}
		if err = l.Ready(); errors.Is(err, ErrFrozen) {
			return
		}
		// Not under ctx: that a caller leaves must not look like a failure of the store.
		reading, cancel := context.WithTimeout(context.Background(), StoreTimeout)
		defer cancel()
		err = l.foldNewer(reading)
	})
	return errors.Join(asked, err)
}

// Reach folds what other daemons wrote if fewer entries than size are known here, and returns how many are. That a
// frozen ledger does not is no error: it reads on at every probe.
func (l *Core) Reach(ctx context.Context, size uint64) (uint64, error) {
	if l.Head().Size < size {
		if err := l.Refresh(ctx); err != nil && !errors.Is(err, ErrFrozen) {
			return 0, err
		}
	}
	return l.Head().Size, nil
}

// ReachEntry has memory cover an entry, if the ledger has it. Behind a load balancer a client may ask here for an entry
// that another daemon has just written. For an entry that is not there it returns ErrNotFound after a plain read, so
// that many such requests cost the sequencer nothing.
func (l *Core) ReachEntry(ctx context.Context, index uint64) error {
	if index < l.Head().Size {
		return nil
	}
	newer, err := l.cfg.Store.CheckpointAfter(ctx, l.id, index)
	if err != nil {
		return Unavailable(err)
	}
	if newer.Size <= index {
		return ErrNotFound
	}
	if err := l.cover(ctx, index); err != nil {
		return err
	}
	if index >= l.Head().Size {
		return ErrNotFound // a failover has lost it
	}
	return nil
}

// cover has memory cover an entry that the store has shown, as long as the store has it.
func (l *Core) cover(ctx context.Context, index uint64) error {
	// The refresh under way may have begun before the entry was there.
	for tries := 0; tries < 2 && index >= l.Head().Size; tries++ {
		if err := l.refreshTogether(ctx); err != nil {
			return err
		}
	}
	return nil
}

// reachTile is reachEntry for every hash of a tile.
func (l *Core) reachTile(ctx context.Context, t tlog.Tile) error {
	if t.H != tileHeight || t.L < 0 || t.L > 7 || t.N < 0 || t.W < 1 || t.W > tileWidth ||
		t.N > math.MaxInt64>>((t.L+1)*tileHeight)-1 { // no ledger is as long
		return ErrNotFound
	}
	hashes := uint64(t.N)*tileWidth + uint64(t.W) // in the tile's level
	return l.ReachEntry(ctx, hashes<<(t.L*tileHeight)-1)
}

// refreshTogether waits for the refresh that is under way, or starts one. A caller that leaves
// does not end it. If the patience of ctx ends, the error is ErrOverloaded.
func (l *Core) refreshTogether(ctx context.Context) error {
	r, err := Await(ctx, l.startRefresh(), "the sequencer does not come to the refresh")
	return cmp.Or(err, r.Err)
}

// startRefresh starts a refresh for all who wait, or joins the one under way. A refresh that
// the sequencer has not begun within StoreTimeout fails.
func (l *Core) startRefresh() <-chan singleflight.Result {
	return l.refreshes.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(l.life.Running, StoreTimeout)
		defer cancel()
		err := l.Refresh(ctx)
		if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
			err = fmt.Errorf("%w: the sequencer does not come to the refresh", ErrUnavailable)
		}
		return nil, err
	})
}
