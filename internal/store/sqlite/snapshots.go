package sqlite

import (
	"context"
	"errors"
	"math"

	"shuffled/internal/ledger"
)

const (
	sqlHasSnapshot  = `SELECT idx FROM snapshots WHERE ledger = ? AND idx = ?`
	sqlNewSnapshot  = `INSERT INTO snapshots (ledger, idx, state) VALUES (?, ?, ?)`
	sqlDropSnapshot = `DELETE FROM snapshots WHERE ledger = ?1 AND idx <= (
SELECT idx FROM snapshots WHERE ledger = ?1 AND idx < ?2 ORDER BY idx DESC LIMIT 1 OFFSET ?3)`

	sqlSnapshotBelow = `SELECT idx, state FROM snapshots WHERE ledger = ? AND idx < ? ORDER BY idx DESC LIMIT 1`
)

// PutSnapshot implements [ledger.Snapshots].
func (s *Store) PutSnapshot(ctx context.Context, id ledger.ID, snapshot ledger.Snapshot) error {
	index := int64(snapshot.Index)
	return s.transact(ctx, func(w *writer) error {
		if _, err := w.exec(sqlDropSnapshot, int64(id), index, ledger.KeptSnapshots-1); err != nil {
			return err
		}
		err := notFound(w.stmts[sqlHasSnapshot].QueryRow(int64(id), index).Scan(&index))
		if !errors.Is(err, ledger.ErrNotFound) {
			return err
		}
		_, err = w.exec(sqlNewSnapshot, int64(id), index, snapshot.State)
		if isForeignKey(err) {
			return ledger.ErrNotFound
		}
		return err
	})
}

// SnapshotBelow implements [ledger.Snapshots].
func (s *Store) SnapshotBelow(ctx context.Context, id ledger.ID, below uint64) (found ledger.Snapshot, err error) {
	args := []any{int64(id), int64(min(below, math.MaxInt64))}
	err = s.one(ctx, sqlSnapshotBelow, args, func(row scanner) error { return row.Scan(&found.Index, &found.State) })
	return found, err
}
