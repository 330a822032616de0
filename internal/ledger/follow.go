package ledger

import (
	"context"
	"fmt"
	"sync"

	"shuffled/internal/audit"
)

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
