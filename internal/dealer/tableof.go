package dealer

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// Table returns the name of the table that a shuffle is of, which never changes.
// It reads the commit only: what is wrong with the rest of the shuffle, or with its
// tape, does not matter. ErrNotFound for an id that is no commit.
func (d *Dealer) Table(ctx context.Context, id uint64) (string, error) {
	for row, err := range d.cfg.Store.Rows(ctx, d.cfg.Ledger.ID(), id, id+1) {
		if err != nil {
			return "", fmt.Errorf("reading shuffle %d: %w", id, ledger.Unavailable(err))
		}
		if row.Index != id {
			return "", fmt.Errorf("%w: entry %d in the place of shuffle %d", ledger.ErrFrozen, row.Index, id)
		}
		if err := d.cfg.Ledger.Authentic(ctx, []ledger.Row{row}); err != nil {
			return "", fmt.Errorf("reading shuffle %d: %w", id, err)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return "", fmt.Errorf("reading entry %d: %w", id, err)
		}
		if c, ok := e.Body.(*audit.Commit); ok {
			return c.Context.Table, nil
		}
	}
	return "", fmt.Errorf("shuffle %d: %w", id, ErrNotFound)
}
