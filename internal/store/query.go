package store

import (
	"context"
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/ledger"
)

// Scanner is one row of a result.
type Scanner interface{ Scan(dest ...any) error }

// Query runs one statement, whose parameters are $1, $2 …, and hands over its rows. Rows that are read behind the
// barrier (Barrier) are durable when it returns nil.
type Query func(ctx context.Context, sql string, args []any, each func(Scanner) error) error

// All returns the rows of a statement.
func All[T any](ctx context.Context, q Query, scan func(Scanner) (T, error), sql string, args ...any) ([]T, error) {
	var list []T
	err := q(ctx, sql, args, func(row Scanner) error {
		v, err := scan(row)
		list = append(list, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// One returns the row of a statement that has at most one, ledger.ErrNotFound if there is none.
func One[T any](ctx context.Context, q Query, scan func(Scanner) (T, error), sql string, args ...any) (v T, err error) {
	found := false
	err = q(ctx, sql, args, func(row Scanner) (err error) {
		found = true
		v, err = scan(row)
		return err
	})
	if err == nil && !found {
		err = ledger.ErrNotFound
	}
	return v, err
}

// Only reads the one column of a row.
func Only[T any](row Scanner) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// ScanRow reads the columns of an entry.
func ScanRow(row Scanner) (r ledger.Row, err error) {
	var tag []byte
	err = row.Scan(&r.Index, &r.Time, (*uint8)(&r.Type), &r.Serial, &r.Shuffle, &r.Table, &tag, &r.Entry, &r.Kept,
		&r.GameRef)
	copy(r.KeyTag[:], tag)
	return r, err
}

// ScanHead reads size, root and checkpoint.
func ScanHead(row Scanner) (h ledger.Head, err error) {
	var root []byte
	if err := row.Scan(&h.Size, &root, &h.Checkpoint); err != nil {
		return ledger.Head{}, err
	}
	if len(root) != tlog.HashSize {
		return ledger.Head{}, errors.New("the stored root has not 32 bytes")
	}
	h.Root = tlog.Hash(root)
	return h, nil
}

func scanInfo(row Scanner) (i ledger.Info, err error) {
	err = row.Scan(&i.Name, &i.Origin)
	return i, err
}

func scanCommit(row Scanner) (c ledger.CommitEntry, err error) {
	err = row.Scan(&c.Index, &c.Commit, &c.Close)
	return c, err
}
