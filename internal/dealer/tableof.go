package dealer

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
)

// Table returns the name of the table that a shuffle is of, which never changes.
// It reads the commit only: what is wrong with the rest of the shuffle, or with its
// tape, does not matter. ErrNotFound for an id that is no commit.
func (d *Dealer) Table(ctx context.Context, id uint64) (string, error) {
	rows, err := d.rows(ctx, d.visible, id)
	if err != nil { // what a glance does not find says nothing
		rows, err = d.rows(ctx, d.durable, id)
	}
	if err != nil {
		return "", err
	}
	if err := d.cfg.Ledger.Authentic(ctx, rows[:1]); err != nil {
		return "", fmt.Errorf("shuffle %d: %w", id, err)
	}
	e, err := audit.ParseEntry(rows[0].Entry)
	if err != nil {
		return "", fmt.Errorf("reading entry %d: %w", id, err)
	}
	c, ok := e.Body.(*audit.Commit)
	if !ok {
		return "", fmt.Errorf("shuffle %d: %w", id, ErrNotFound)
	}
	return c.Context.Table, nil
}
