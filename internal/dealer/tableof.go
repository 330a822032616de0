package dealer

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// Table returns the name of a shuffle's table, which never changes. It checks only the commit, so that it answers also
// if another entry or the tape of the shuffle is damaged. ErrNotFound for an id that is no commit.
func (d *Dealer) Table(ctx context.Context, id uint64) (string, error) {
	row, err := d.commitOf(ctx, d.visible, id)
	if err != nil { // as in glance, no error comes from what may not be durable
		row, err = d.commitOf(ctx, d.durable, id)
	}
	if err != nil {
		return "", err
	}
	e, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return "", fmt.Errorf("reading entry %d: %w", id, err)
	}
	c, ok := e.Body.(*audit.Commit)
	if !ok {
		return "", fmt.Errorf("%w: the ledger has no shuffle %d", ErrNotFound, id)
	}
	return c.Context.Table, nil
}

// commitOf reads the row of a commit, and checks that it is of this ledger.
func (d *Dealer) commitOf(ctx context.Context, from shuffles, id uint64) (ledger.Row, error) {
	rows, err := d.rows(ctx, from, id)
	if err != nil {
		return ledger.Row{}, err
	}
	if err := d.cfg.Ledger.Authentic(ctx, rows[:1]); err != nil {
		return ledger.Row{}, fmt.Errorf("shuffle %d: %w", id, err)
	}
	return rows[0], nil
}
