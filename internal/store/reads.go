package store

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"

	"shuffled/internal/ledger"
)

// Reads are the methods of a store that need no more than to read what is visible, without the barrier. Both stores
// embed it.
type Reads struct{ query Query }

// NewReads returns the reads of a store that runs its statements with query.
func NewReads(query Query) Reads { return Reads{query} }

// Ledgers implements [ledger.Store].
func (r Reads) Ledgers(ctx context.Context) ([]ledger.Info, error) {
	return All(ctx, r.query, scanInfo, SQLLedgers)
}

// Rows implements [ledger.Store]. A range of more than one part is cut at the ledger's size as it is now: entries below
// that are never changed and none are added, so the parts are those of one snapshot.
func (r Reads) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	to = min(to, math.MaxInt64)
	cut := from >= to || to-from <= chunk
	return parts(from, func(at uint64) ([]ledger.Row, uint64, error) {
		if !cut {
			size, err := r.Size(ctx, id)
			if err != nil {
				return nil, at, err
			}
			to, cut = min(to, size), true
		}
		if at >= to {
			return nil, at, nil
		}
		next := at + min(chunk, to-at)
		rows, err := All(ctx, r.query, ScanRow, SQLRows, int64(id), int64(at), int64(next))
		return rows, next, err
	})
}

// CheckpointAfter implements [ledger.Finder].
func (r Reads) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (ledger.Head, error) {
	return One(ctx, r.query, ScanHead, SQLCheckpointAfter, int64(id), Number(index))
}

// Tile implements [ledger.Finder].
func (r Reads) Tile(ctx context.Context, id ledger.ID, level int, index uint64) ([]byte, error) {
	if level < 0 || level > math.MaxInt16 || index > math.MaxInt64 {
		return nil, ledger.ErrNotFound
	}
	return One(ctx, r.query, Only[[]byte], SQLTile, int64(id), int16(level), int64(index))
}

// Deck implements [ledger.Finder].
func (r Reads) Deck(ctx context.Context, id ledger.ID, hash [32]byte) ([]string, error) {
	list, err := One(ctx, r.query, Only[[]byte], SQLDeck, int64(id), hash[:])
	if err != nil {
		return nil, err
	}
	return DecodeDeck(list)
}

// Terms implements [ledger.Finder].
func (r Reads) Terms(ctx context.Context, id ledger.ID, hash [32]byte) (ledger.Terms, error) {
	return One(ctx, r.query, func(row Scanner) (ledger.Terms, error) {
		t := ledger.Terms{Hash: hash}
		err := row.Scan(&t.Kind, &t.Bytes)
		return t, err
	}, SQLTerms, int64(id), hash[:])
}

// Statements implements [ledger.Statements].
func (r Reads) Statements(ctx context.Context, id ledger.ID, shuffle uint64) ([][]byte, error) {
	return All(ctx, r.query, Only[[]byte], SQLStatements, int64(id), Number(shuffle))
}

// CosignedFrom implements [ledger.Cosigned].
func (r Reads) CosignedFrom(ctx context.Context, id ledger.ID, size uint64) iter.Seq2[ledger.Head, error] {
	return parts(size, func(at uint64) ([]ledger.Head, uint64, error) {
		if at > math.MaxInt64 {
			return nil, at, nil
		}
		heads, err := All(ctx, r.query, ScanHead, SQLCosignedFrom, int64(id), int64(at), chunk)
		if len(heads) < chunk {
			return heads, at, err
		}
		return heads, heads[chunk-1].Size + 1, err
	})
}

// LateFrom implements [ledger.Cosigned].
func (r Reads) LateFrom(ctx context.Context, id ledger.ID, size uint64, n int) ([]ledger.Head, error) {
	return All(ctx, r.query, ScanHead, SQLLateFrom, int64(id), Number(size), n)
}

// NewestLate implements [ledger.Cosigned].
func (r Reads) NewestLate(ctx context.Context, id ledger.ID, n int) ([]ledger.Head, error) {
	return All(ctx, r.query, ScanHead, SQLNewestLate, int64(id), n)
}

// Size implements [ledger.CommitFinder].
func (r Reads) Size(ctx context.Context, id ledger.ID) (uint64, error) {
	n, err := One(ctx, r.query, Only[uint64], SQLSize, int64(id))
	if errors.Is(err, ledger.ErrNotFound) {
		return 0, nil
	}
	return n, err
}

// EntryAt implements [ledger.CommitFinder].
func (r Reads) EntryAt(ctx context.Context, id ledger.ID, size uint64, time int64) (uint64, error) {
	n, err := One(ctx, r.query, Only[uint64], RecallEntryAt, int64(id), time, firstStep(size))
	return min(n, size), err
}

// Commits implements [ledger.CommitFinder].
func (r Reads) Commits(ctx context.Context, id ledger.ID, q ledger.CommitQuery) ([]ledger.CommitEntry, error) {
	sql, args := commitsOf(id, q)
	list, err := All(ctx, r.query, scanCommit, sql, args...)
	for len(list) > 0 && list[0].Index < q.From {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].Index >= q.To {
		list = list[:len(list)-1]
	}
	return list, err
}

// AccessHead implements [ledger.AccessStore].
func (r Reads) AccessHead(ctx context.Context, id ledger.ID) (ledger.AccessHead, error) {
	h, err := One(ctx, r.query, ScanAccessHead, SQLLastAccess, int64(id))
	if errors.Is(err, ledger.ErrNotFound) {
		return ledger.AccessHead{}, nil
	}
	return h, err
}

// AccessRecords implements [ledger.AccessStore].
func (r Reads) AccessRecords(ctx context.Context, id ledger.ID, q ledger.AccessQuery) ([]ledger.Access, error) {
	from, to := max(q.From, q.After.Time), q.To
	to = cmp.Or(to, math.MaxInt64)
	return All(ctx, r.query, scanAccess, SQLAccess, int64(id), from, to, q.After.Time, q.After.Request, q.Limit)
}

// CountAccess implements [ledger.AccessStore].
func (r Reads) CountAccess(ctx context.Context, id ledger.ID, before int64) (int, error) {
	return One(ctx, r.query, Only[int], SQLCountAccess, int64(id), before)
}

// chunk is the number of entries that are read at a time.
const chunk = 512

// parts yields what read returns of a place and what follows it, up to the place that read does not pass. Each part is
// read by one short statement and held in memory before it is yielded. One long statement would keep an old snapshot
// alive, so that PostgreSQL could not clean up the heads nor SQLite reset its write-ahead log, and hold a connection
// while the caller works.
func parts[T any](at uint64, read func(at uint64) (part []T, next uint64, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for at, end := at, false; !end; {
			part, next, err := read(at)
			for _, v := range part {
				if !yield(v, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			at, end = next, next == at
		}
	}
}
