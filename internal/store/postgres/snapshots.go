package postgres

import (
	"context"
	"fmt"
	"math"

	"shuffled/internal/ledger"
)

const (
	// sqlPutSnapshot drops what is older than the $4 newest before it.
	sqlPutSnapshot = `
WITH old AS (
    DELETE FROM snapshots WHERE ledger = $1 AND idx <= (
        SELECT s.idx FROM snapshots s WHERE s.ledger = $1 AND s.idx < $2 ORDER BY s.idx DESC OFFSET $4 LIMIT 1)
)
INSERT INTO snapshots (ledger, idx, state) VALUES ($1, $2, $3) ON CONFLICT (ledger, idx) DO NOTHING`

	sqlSnapshotBelow = `SELECT idx, state FROM snapshots WHERE ledger = $1 AND idx < $2 ORDER BY idx DESC LIMIT 1`
)

// PutSnapshot implements [ledger.Snapshots].
func (s *Store) PutSnapshot(ctx context.Context, id ledger.ID, snapshot ledger.Snapshot) error {
	_, err := s.exec(ctx, sqlPutSnapshot, int64(id), int64(snapshot.Index), snapshot.State, ledger.KeptSnapshots-1)
	if isCode(err, codeForeignKey) {
		return ledger.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("keeping a snapshot: %w", err)
	}
	return nil
}

// SnapshotBelow implements [ledger.Snapshots].
func (s *Store) SnapshotBelow(ctx context.Context, id ledger.ID, below uint64) (found ledger.Snapshot, err error) {
	args := []any{int64(id), int64(min(below, math.MaxInt64))}
	err = s.one(ctx, sqlSnapshotBelow, args, func(row scanner) error { return row.Scan(&found.Index, &found.State) })
	return found, err
}
