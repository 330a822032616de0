package sqlite

import (
	"context"
	"errors"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// PutAccess implements [ledger.AccessStore].
func (s *Store) PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error {
	return s.transact(ctx, func(w *writer) error {
		head, err := store.ScanAccessHead(w.stmts[store.SQLLastAccess].QueryRow(int64(id)))
		if err != nil && !errors.Is(notFound(err), ledger.ErrNotFound) {
			return err
		}
		_, err = w.exec(store.SQLNewAccess, store.NewAccessArgs(id, a, head)...)
		switch {
		case isForeignKey(err):
			return ledger.ErrNotFound
		case isTaken(err):
			return ledger.ErrExists
		}
		return err
	})
}

// DropAccess implements [ledger.AccessStore].
func (s *Store) DropAccess(ctx context.Context, id ledger.ID, before int64, limit int) (n int, err error) {
	err = s.transact(ctx, func(w *writer) error {
		dropped, err := w.exec(sqlDropAccess, int64(id), before, limit)
		n = int(dropped)
		return err
	})
	return n, err
}
