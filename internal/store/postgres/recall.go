package postgres

import (
	"context"
	"errors"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// Size implements [ledger.CommitFinder].
func (s *Store) Size(ctx context.Context, id ledger.ID) (uint64, error) {
	n, err := s.count(ctx, sqlSize, int64(id))
	if errors.Is(err, ledger.ErrNotFound) {
		return 0, nil
	}
	return uint64(n), err
}

// EntryAt implements [ledger.CommitFinder].
func (s *Store) EntryAt(ctx context.Context, id ledger.ID, size uint64, time int64) (uint64, error) {
	n, err := s.count(ctx, store.RecallEntryAt, store.EntryAtArgs(id, size, time)...)
	return min(uint64(n), size), err
}

// Commits implements [ledger.CommitFinder].
func (s *Store) Commits(ctx context.Context, id ledger.ID, q ledger.CommitQuery) (list []ledger.CommitEntry, err error) {
	sql, args := store.CommitsOf(id, q)
	err = s.query(ctx, sql, args, func(row scanner) error {
		c, err := store.ScanCommit(row)
		list = append(list, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return store.CutCommits(q, list), nil
}

// count runs a statement that returns one number.
func (s *Store) count(ctx context.Context, sql string, args ...any) (n int, err error) {
	err = s.one(ctx, sql, args, func(row scanner) error { return row.Scan(&n) })
	return n, err
}
