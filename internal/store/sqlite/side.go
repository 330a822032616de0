package sqlite

import (
	"context"
	"errors"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// put adds a row: ledger.ErrExists if its key is taken, ledger.ErrNotFound if it is of no
// ledger.
func (w *writer) put(text string, args ...any) error {
	_, err := w.exec(text, args...)
	switch {
	case isForeignKey(err):
		return ledger.ErrNotFound
	case isTaken(err):
		return ledger.ErrExists
	}
	return err
}

// PutCosigned implements [ledger.Cosigned].
func (s *Store) PutCosigned(ctx context.Context, id ledger.ID, h ledger.Head) error {
	return s.transact(ctx, func(w *writer) error { return w.putCosigned(id, h) })
}

func (w *writer) putCosigned(id ledger.ID, h ledger.Head) error {
	return w.put(sqlNewCosigned, int64(id), store.Number(h.Size), h.Root[:], h.Checkpoint)
}

// PutLate implements [ledger.Cosigned].
func (s *Store) PutLate(ctx context.Context, id ledger.ID, h ledger.Head) error {
	return s.transact(ctx, func(w *writer) error {
		return w.put(sqlNewLate, int64(id), store.Number(h.Size), h.Root[:], h.Checkpoint)
	})
}

// PutHandover implements [ledger.Cosigned].
func (s *Store) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	newest := int64(0)
	return s.transact(ctx, func(w *writer) error {
		err := notFound(w.stmts[sqlNewestCosigned].QueryRow(int64(id)).Scan(&newest))
		switch {
		case err == nil && uint64(newest) >= from:
			return ledger.ErrStale
		case err != nil && !errors.Is(err, ledger.ErrNotFound):
			return err
		}
		return w.putCosigned(id, h)
	})
}

// CosignedAtMost implements [ledger.Cosigned].
func (s *Store) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (ledger.Head, error) {
	if err := s.sound(); err != nil {
		return ledger.Head{}, err
	}
	return store.One(ctx, s.query, store.ScanHead, sqlCosignedAtMost, int64(id), store.Number(size))
}

// PutTerms implements [ledger.TermsKeeper].
func (s *Store) PutTerms(ctx context.Context, id ledger.ID, t ledger.Terms) error {
	return s.transact(ctx, func(w *writer) error {
		return w.put(sqlNewTerms, int64(id), t.Hash[:], int64(t.Kind), t.Bytes)
	})
}

// PutStatement implements [ledger.Statements].
func (s *Store) PutStatement(ctx context.Context, id ledger.ID, shuffle uint64, n int, note []byte) error {
	return s.transact(ctx, func(w *writer) error {
		return w.put(store.SQLNewStatement, int64(id), store.Number(shuffle), n, note)
	})
}

// PutAccess implements [ledger.AccessStore].
func (s *Store) PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error {
	return s.transact(ctx, func(w *writer) error {
		head, err := store.ScanAccessHead(w.stmts[store.SQLLastAccess].QueryRow(int64(id)))
		if err != nil && !errors.Is(notFound(err), ledger.ErrNotFound) {
			return err
		}
		return w.put(store.SQLNewAccess, store.NewAccessArgs(id, a, head)...)
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
