package sqlite

import (
	"context"
	"errors"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// RecallMark implements [ledger.RecallStore].
func (s *Store) RecallMark(ctx context.Context, id ledger.ID) (m ledger.RecallMark, err error) {
	err = s.query(ctx, sqlRecallMark, []any{int64(id)}, func(row scanner) error { return row.Scan(&m.Next, &m.Dropped) })
	return m, err
}

// PutRecall implements [ledger.RecallStore].
func (s *Store) PutRecall(ctx context.Context, id ledger.ID, old ledger.RecallMark, step ledger.RecallStep) error {
	return s.transact(ctx, func(w *writer) error {
		var mark ledger.RecallMark
		err := notFound(w.stmts[sqlRecallMark].QueryRow(int64(id)).Scan(&mark.Next, &mark.Dropped))
		switch {
		case err != nil && !errors.Is(err, ledger.ErrNotFound):
			return err
		case mark != old:
			return ledger.ErrStale
		}
		if _, err := w.exec(sqlMoveMark, int64(id), int64(step.Next)); isForeignKey(err) {
			return ledger.ErrNotFound
		} else if err != nil {
			return err
		}
		return w.recall(id, step)
	})
}

// recall adds a step whose mark is in place.
func (w *writer) recall(id ledger.ID, step ledger.RecallStep) error {
	for _, c := range step.Commits {
		if _, err := w.exec(sqlNewRecall, int64(id), int64(c.ID), c.Table, int64(c.Serial), c.Committed, c.CloseBy,
			c.GameRef, c.Draw, int64(c.Parent), c.Closed, int64(c.Outcome), int64(c.Reason)); err != nil {
			return err
		}
	}
	for _, c := range step.Closes {
		if _, err := w.exec(sqlCloseRecall, c.Time, int64(c.Outcome), int64(c.Reason), int64(id), int64(c.ID)); err != nil {
			return err
		}
	}
	for _, gone := range step.Outdated {
		if _, err := w.exec(sqlRemoveRecall, int64(id), int64(gone)); err != nil {
			return err
		}
	}
	return nil
}

// Recall implements [ledger.RecallStore].
func (s *Store) Recall(ctx context.Context, id ledger.ID, q ledger.RecallQuery) ([]ledger.Recalled, error) {
	return store.Recall(q, func(by store.RecallBy, q ledger.RecallQuery) (list []ledger.Recalled, err error) {
		args := []any{int64(id), int64(q.After), q.From, q.To, q.Table, int64(q.Serial), q.GameRef, q.State, q.Limit}
		err = s.query(ctx, sqlRecall[by], args, func(row scanner) error {
			r, err := store.ScanRecalled(row)
			list = append(list, r)
			return err
		})
		return list, err
	})
}

// CountRecall implements [ledger.RecallStore].
func (s *Store) CountRecall(ctx context.Context, id ledger.ID, before int64) (int, error) {
	return s.count(ctx, sqlCountRecall, int64(id), before)
}

// DropRecall implements [ledger.RecallStore].
func (s *Store) DropRecall(ctx context.Context, id ledger.ID, before int64, limit int) (n int, err error) {
	err = s.transact(ctx, func(w *writer) error {
		if _, err := w.exec(sqlRaiseDropped, int64(id), before); isForeignKey(err) {
			return ledger.ErrNotFound
		} else if err != nil {
			return err
		}
		dropped, err := w.exec(sqlDropRecall, int64(id), before, limit)
		n = int(dropped)
		return err
	})
	return n, err
}

// count runs a statement that returns one number.
func (s *Store) count(ctx context.Context, text string, args ...any) (n int, err error) {
	err = s.one(ctx, text, args, func(row scanner) error { return row.Scan(&n) })
	return n, err
}
