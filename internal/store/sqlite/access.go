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
		head, err := store.ScanAccessHead(w.stmts[sqlLastAccess].QueryRow(int64(id)))
		if err != nil && !errors.Is(notFound(err), ledger.ErrNotFound) {
			return err
		}
		_, err = w.exec(sqlNewAccess, int64(id), a.Time, a.Request, a.Token, a.Method, a.Path, int64(head.Count+1), head.Hash[:])
		switch {
		case isForeignKey(err):
			return ledger.ErrNotFound
		case isTaken(err):
			return ledger.ErrExists
		}
		return err
	})
}

// AccessHead implements [ledger.AccessStore].
func (s *Store) AccessHead(ctx context.Context, id ledger.ID) (h ledger.AccessHead, err error) {
	err = s.query(ctx, sqlLastAccess, []any{int64(id)}, func(row scanner) error {
		h, err = store.ScanAccessHead(row)
		return err
	})
	return h, err
}

// AccessRecords implements [ledger.AccessStore].
func (s *Store) AccessRecords(ctx context.Context, id ledger.ID, q ledger.AccessQuery) (list []ledger.Access, err error) {
	from := max(q.From, q.After.Time)
	err = s.query(ctx, sqlAccess, []any{int64(id), from, store.Until(q.To), q.After.Time, q.After.Request, q.Limit}, func(row scanner) error {
		a, err := store.ScanAccess(row)
		list = append(list, a)
		return err
	})
	return list, err
}

// CountAccess implements [ledger.AccessStore].
func (s *Store) CountAccess(ctx context.Context, id ledger.ID, before int64) (int, error) {
	return s.count(ctx, sqlCountAccess, int64(id), before)
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
