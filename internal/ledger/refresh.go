package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/singleflight"

	"shuffled/internal/audit"
)

// Refresh folds what other daemons wrote since the newest head known here.
func (l *Ledger) Refresh(ctx context.Context) error { return l.refresh(ctx, math.MaxUint64) }

// refresh is Refresh for a caller who wants the entries below size. It does nothing if a
// refresh in front of it in the queue has brought them.
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
		// Not under ctx: that a caller leaves must not look like a failure of the store.
		reading, cancel := context.WithTimeout(context.Background(), storeTimeout)
		defer cancel()
		if err = l.catchUp(reading); err != nil {
			l.unreadable(err)
			err = l.Ready()
		}
	})
	return errors.Join(asked, err)
}

// reachEntry has memory cover an entry, if the ledger has it. Behind a load balancer a client may ask here for an entry
// that another daemon has just written. For an entry that is not there it returns ErrNotFound after a plain read, so
// that many such requests cost the sequencer nothing.
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
	// The refresh under way may have begun before the entry was there.
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

// refreshTogether waits for the refresh that is under way, or starts one. A caller that leaves
// does not end it. If the patience of ctx ends, the error is ErrOverloaded.
func (l *Ledger) refreshTogether(ctx context.Context) error {
	r, err := Await(ctx, l.startRefresh(), "the sequencer does not come to the refresh")
	if err != nil {
		return err
	}
	return r.Err
}

// startRefresh starts a refresh for all who wait, or joins the one under way. A refresh that
// the sequencer has not begun within storeTimeout fails.
func (l *Ledger) startRefresh() <-chan singleflight.Result {
	return l.refreshes.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(l.running, storeTimeout)
		defer cancel()
		err := l.Refresh(ctx)
		if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
			err = fmt.Errorf("%w: the sequencer does not come to the refresh", ErrUnavailable)
		}
		return nil, err
	})
}

// moved tells those who wait that what they look at has changed.
type moved struct {
	mu sync.Mutex
	on chan struct{} // nil while nobody waits
}

// tell wakes all who wait.
func (m *moved) tell() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on != nil {
		close(m.on)
		m.on = nil
	}
}

// next returns a channel that the next tell closes.
func (m *moved) next() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on == nil {
		m.on = make(chan struct{})
	}
	return m.on
}

// Changed returns a channel that is closed when there is a newer head, of this daemon or of
// another, or a newer cosigned head. A head from before the call does not close it.
func (l *Ledger) Changed() <-chan struct{} { return l.moved.next() }

// Entries returns the entries from ≤ index < to, which must be below the head known here. It
// checks that each stored row is the entry at its index.
func (l *Ledger) Entries(ctx context.Context, from, to uint64) ([]audit.Placed, error) {
	rows := make([]Row, 0, to-from)
	for row, err := range l.cfg.Store.Rows(ctx, l.id, from, to) {
		if err != nil {
			return nil, Unavailable(fmt.Errorf("reading entry %d: %w", from+uint64(len(rows)), err))
		}
		if row.Index != from+uint64(len(rows)) {
			return nil, fmt.Errorf("%w: the database shows entry %d instead of entry %d", ErrFrozen, row.Index,
				from+uint64(len(rows)))
		}
		rows = append(rows, row)
	}
	if n := uint64(len(rows)); n != to-from {
		return nil, fmt.Errorf("%w: the database does not show entry %d", ErrUnavailable, from+n)
	}
	if err := l.Authentic(ctx, rows); err != nil {
		return nil, err
	}
	entries := make([]audit.Placed, len(rows))
	for i, row := range rows {
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", row.Index, err)
		}
		entries[i] = audit.Placed{Index: row.Index, Entry: e}
	}
	return entries, nil
}
