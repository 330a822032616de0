package store

import (
	"context"
	"errors"
	"iter"
	"math"

	"shuffled/internal/ledger"
)

// PutCosigned implements [ledger.Cosigned]. A checkpoint that is there already is read behind the barrier before it is
// acknowledged.
func (c *Common) PutCosigned(ctx context.Context, id ledger.ID, h ledger.Head) error {
	err := c.put(ctx, ledger.ErrExists, SQLNewCosigned, headArgs(id, h)...)
	if errors.Is(err, ledger.ErrExists) {
		if _, err := One(ctx, c.db.Query, Only[int64], SQLHasCosigned, int64(id), Number(h.Size)); err != nil {
			return err
		}
	}
	return err
}

// PutLate implements [ledger.Cosigned].
func (c *Common) PutLate(ctx context.Context, id ledger.ID, h ledger.Head) error {
	return c.put(ctx, ledger.ErrExists, SQLNewLate, headArgs(id, h)...)
}

// PutHandover implements [ledger.Cosigned].
func (c *Common) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	return c.put(ctx, ledger.ErrStale, SQLNewHandover, append(headArgs(id, h), Number(from))...)
}

// PutTerms implements [ledger.TermsKeeper]. A document that is there already is read behind the barrier before it is
// acknowledged.
func (c *Common) PutTerms(ctx context.Context, id ledger.ID, t ledger.Terms) error {
	err := c.put(ctx, ledger.ErrExists, SQLNewTerms, int64(id), t.Hash[:], int64(t.Kind), t.Bytes)
	if errors.Is(err, ledger.ErrExists) {
		_, err = One(ctx, c.db.Query, Only[int64], SQLHasTerms, int64(id), t.Hash[:])
	}
	return err
}

// PutStatement implements [ledger.Statements].
func (c *Common) PutStatement(ctx context.Context, id ledger.ID, shuffle uint64, n int, note []byte) error {
	_, err := c.db.Note(ctx, SQLNewStatement, int64(id), Number(shuffle), n, note)
	return err
}

// put adds one row of evidence. If the row is not added because another one is in its place, the error is taken.
func (c *Common) put(ctx context.Context, taken error, sql string, args ...any) error {
	n, err := c.db.Keep(ctx, sql, args...)
	if err == nil && n == 0 || errors.Is(err, ledger.ErrExists) {
		return taken
	}
	return err
}

func headArgs(id ledger.ID, h ledger.Head) []any {
	return []any{int64(id), Number(h.Size), h.Root[:], h.Checkpoint}
}

// CosignedAtMost implements [ledger.Cosigned].
func (c *Common) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (ledger.Head, error) {
	return One(ctx, c.db.Query, ScanHead, SQLCosignedAtMost, int64(id), Number(size))
}

// CosignedFrom implements [ledger.Cosigned].
func (c *Common) CosignedFrom(ctx context.Context, id ledger.ID, size uint64) iter.Seq2[ledger.Head, error] {
	return parts(size, func(at uint64) ([]ledger.Head, uint64, error) {
		if at > math.MaxInt64 {
			return nil, at, nil
		}
		heads, err := All(ctx, c.db.Query, ScanHead, SQLCosignedFrom, int64(id), int64(at), chunk)
		if len(heads) < chunk {
			return heads, at, err
		}
		return heads, heads[chunk-1].Size + 1, err
	})
}

// LateFrom implements [ledger.Cosigned].
func (c *Common) LateFrom(ctx context.Context, id ledger.ID, size uint64, n int) ([]ledger.Head, error) {
	return All(ctx, c.db.Query, ScanHead, SQLLateFrom, int64(id), Number(size), n)
}

// NewestLate implements [ledger.Cosigned].
func (c *Common) NewestLate(ctx context.Context, id ledger.ID, n int) ([]ledger.Head, error) {
	return All(ctx, c.db.Query, ScanHead, SQLNewestLate, int64(id), n)
}
