package postgres

import (
	"context"

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
	n := len(step.Commits)
	ids, tables, serials, times, closeBys := make([]int64, n), make([]string, n), make([]int64, n), make([]int64, n), make([]int64, n)
	refs, draws, parents := make([]string, n), make([]bool, n), make([]int64, n)
	closed, outcomes, reasons := make([]int64, n), make([]int16, n), make([]int16, n)
	for i, c := range step.Commits {
		ids[i], tables[i], serials[i], times[i], closeBys[i] = int64(c.ID), c.Table, int64(c.Serial), c.Committed, c.CloseBy
		refs[i], draws[i], parents[i] = c.GameRef, c.Draw, int64(c.Parent)
		closed[i], outcomes[i], reasons[i] = c.Closed, int16(c.Outcome), int16(c.Reason)
	}
	n = len(step.Closes)
	later, ends, as, why := make([]int64, n), make([]int64, n), make([]int16, n), make([]int16, n)
	for i, c := range step.Closes {
		later[i], ends[i], as[i], why[i] = int64(c.ID), c.Time, int16(c.Outcome), int16(c.Reason)
	}
	outdated := make([]int64, len(step.Outdated))
	for i, gone := range step.Outdated {
		outdated[i] = int64(gone)
	}
	moved, err := s.count(ctx, sqlPutRecall, int64(id), int64(old.Next), old.Dropped, int64(step.Next),
		ids, tables, serials, times, closeBys, refs, draws, parents, closed, outcomes, reasons,
		later, ends, as, why, outdated)
	switch {
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	case err == nil && moved == 0:
		return ledger.ErrStale
	}
	return err
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
func (s *Store) DropRecall(ctx context.Context, id ledger.ID, before int64, limit int) (int, error) {
	n, err := s.count(ctx, sqlDropRecall, int64(id), before, limit)
	if isCode(err, codeForeignKey) {
		err = ledger.ErrNotFound
	}
	return n, err
}

// count runs a statement that returns one number.
func (s *Store) count(ctx context.Context, sql string, args ...any) (n int, err error) {
	err = s.one(ctx, sql, args, func(row scanner) error { return row.Scan(&n) })
	return n, err
}
