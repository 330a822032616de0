package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
)

// Refresh folds what other daemons wrote since the newest head known here.
func (l *Ledger) Refresh(ctx context.Context) error { return l.refresh(ctx, math.MaxUint64) }

// refresh is Refresh for a caller who wants the entries below size: who waited in
// front of it may have brought them.
func (l *Ledger) refresh(ctx context.Context, size uint64) (err error) {
	asked := l.ask(ctx, func() {
		if l.head.Size >= size {
			return
		}
		if err = ctx.Err(); err != nil {
			return
		}
		if err = l.Ready(); errors.Is(err, ErrFrozen) {
			return
		}
		// Not under ctx: a caller who leaves says nothing of the store.
		reading, cancel := context.WithTimeout(context.Background(), storeTimeout)
		defer cancel()
		if err = l.catchUp(reading); err != nil {
			l.unreadable(err)
			err = l.Ready()
		}
	})
	return errors.Join(asked, err)
}

// reachEntry has memory cover an entry, if the ledger has it: behind a load balancer
// anyone who got its index from another daemon asks here a moment later. ErrNotFound
// is told by a plain read, so that a crowd which asks for what is not there costs
// the sequencer nothing.
func (l *Ledger) reachEntry(ctx context.Context, index uint64) error {
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
	// A refresh that was under way may have begun before the entry was there.
	for tries := 0; tries < 2 && index >= l.Head().Size; tries++ {
		if err := l.refreshTogether(ctx); err != nil {
			return err
		}
	}
	if index >= l.Head().Size {
		return ErrNotFound // a failover has lost it
	}
	return nil
}

// reachTile is reachEntry for every hash of a tile.
func (l *Ledger) reachTile(ctx context.Context, t tlog.Tile) error {
	if t.H != tileHeight || t.L < 0 || t.L > 7 || t.N < 0 || t.W < 1 || t.W > tileWidth {
		return ErrNotFound
	}
	if t.N > math.MaxInt64>>((t.L+1)*tileHeight)-1 {
		return ErrNotFound // no ledger is as long
	}
	hashes := uint64(t.N)*tileWidth + uint64(t.W) // in the tile's level
	return l.reachEntry(ctx, hashes<<(t.L*tileHeight)-1)
}

// refreshes shares one refresh among all who wait.
type refreshes struct {
	mu sync.Mutex

	// shared is the refresh that is under way, nil for none. Who sets it starts its
	// goroutine, which takes it away before it is done.
	shared *sharedRefresh
}

// sharedRefresh is one refresh for all who wait for it.
type sharedRefresh struct {
	done chan struct{}
	err  error // before done is closed
}

// refreshTogether waits for the refresh that is under way, or starts one. Nobody who
// leaves ends it. It is refused with ErrOverloaded when the patience of ctx ends.
func (l *Ledger) refreshTogether(ctx context.Context) error {
	r := l.startRefresh()
	impatience, stop := Impatience(ctx)
	defer stop()
	select {
	case <-r.done:
		return r.err
	case <-impatience:
		return fmt.Errorf("%w: the sequencer does not come to it", ErrOverloaded)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startRefresh returns the refresh that is under way, or starts one.
func (l *Ledger) startRefresh() *sharedRefresh {
	l.refreshes.mu.Lock()
	defer l.refreshes.mu.Unlock()
	if l.refreshes.shared == nil {
		l.refreshes.shared = &sharedRefresh{done: make(chan struct{})}
		go l.share(l.refreshes.shared)
	}
	return l.refreshes.shared
}

// share refreshes for all who wait. It ends with the ledger, or when the sequencer
// has not come to it for as long as a step at the store may take.
func (l *Ledger) share(r *sharedRefresh) {
	ctx, cancel := context.WithTimeout(l.running, storeTimeout)
	defer cancel()
	r.err = l.Refresh(ctx)
	if err := ctx.Err(); err != nil && errors.Is(r.err, err) {
		r.err = fmt.Errorf("%w: the sequencer does not come to it", ErrUnavailable)
	}
	l.refreshes.mu.Lock()
	l.refreshes.shared = nil
	l.refreshes.mu.Unlock()
	close(r.done)
}
