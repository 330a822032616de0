package store

import (
	"cmp"
	"context"
	"errors"
	"math"

	"shuffled/internal/ledger"
)

// The statements on access records.
const (
	SQLNewAccess = `INSERT INTO access_records (ledger, time, request, token, method, path, seq, prev)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	SQLLastAccess = `SELECT seq, prev, time, request, token, method, path FROM access_records
WHERE ledger = $1 ORDER BY seq DESC LIMIT 1`

	SQLAccess = `SELECT time, request, token, method, path FROM access_records
WHERE ledger = $1 AND time >= $2 AND time < $3 AND (time, request) > (CAST($4 AS bigint), CAST($5 AS text))
ORDER BY time, request LIMIT $6`

	// OverdueAccess are the access records of ledger $1 from the beginning of the chain up to the first that is of the
	// time $2 or later. The newest stays.
	OverdueAccess = `FROM access_records WHERE ledger = $1 AND time < $2
    AND seq < coalesce((SELECT min(seq) FROM access_records WHERE ledger = $1 AND time >= $2), 9223372036854775807)
    AND seq < (SELECT max(seq) FROM access_records WHERE ledger = $1)`

	SQLCountAccess = `SELECT count(*) ` + OverdueAccess
)

// PutAccess implements [ledger.AccessStore]. Only one record can be the next of the chain, so this process adds one at
// a time.
func (c *Common) PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error {
	if err := c.chain.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.chain.Release(1)
	for {
		head, err := c.AccessHead(ctx, id)
		if err != nil {
			return err
		}
		_, err = c.db.Note(ctx, SQLNewAccess, int64(id), a.Time, a.Request, a.Token, a.Method, a.Path,
			int64(head.Count+1), head.Hash[:])
		if !errors.Is(err, ledger.ErrStale) {
			return err
		} // else another daemon added the next one; ctx ends this
	}
}

// AccessHead implements [ledger.AccessStore].
func (c *Common) AccessHead(ctx context.Context, id ledger.ID) (ledger.AccessHead, error) {
	h, err := One(ctx, c.db.Query, scanAccessHead, SQLLastAccess, int64(id))
	if errors.Is(err, ledger.ErrNotFound) {
		return ledger.AccessHead{}, nil
	}
	return h, err
}

// AccessRecords implements [ledger.AccessStore].
func (c *Common) AccessRecords(ctx context.Context, id ledger.ID, q ledger.AccessQuery) ([]ledger.Access, error) {
	from, to := max(q.From, q.After.Time), cmp.Or(q.To, math.MaxInt64)
	return All(ctx, c.db.Query, func(row Scanner) (a ledger.Access, err error) {
		err = row.Scan(&a.Time, &a.Request, &a.Token, &a.Method, &a.Path)
		return a, err
	}, SQLAccess, int64(id), from, to, q.After.Time, q.After.Request, q.Limit)
}

// CountAccess implements [ledger.AccessStore].
func (c *Common) CountAccess(ctx context.Context, id ledger.ID, before int64) (int, error) {
	return One(ctx, c.db.Query, Only[int], SQLCountAccess, int64(id), before)
}

// DropAccess implements [ledger.AccessStore].
func (c *Common) DropAccess(ctx context.Context, id ledger.ID, before int64, limit int) (int, error) {
	n, err := c.db.Note(ctx, c.db.DropAccess, int64(id), before, limit)
	return int(n), err
}

// scanAccessHead reads the newest access record, and returns the end of the chain.
func scanAccessHead(row Scanner) (ledger.AccessHead, error) {
	var (
		seq  int64
		prev []byte
		a    ledger.Access
	)
	if err := row.Scan(&seq, &prev, &a.Time, &a.Request, &a.Token, &a.Method, &a.Path); err != nil {
		return ledger.AccessHead{}, err
	}
	if seq < 1 || len(prev) != 32 {
		return ledger.AccessHead{}, errors.New("the newest access record has no number or no hash")
	}
	return ledger.AccessHead{Count: uint64(seq) - 1, Hash: [32]byte(prev)}.Next(a), nil
}
