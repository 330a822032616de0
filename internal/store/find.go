package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"shuffled/internal/ledger"
)

// tagLoaders return what finds commits by key tags. A dealer's question does not wait for a stranger's.
func tagLoaders(db DB) ledger.Apart[*loader] {
	ask := func(ctx context.Context, keys []key) (map[key][]ledger.Row, error) {
		ids, tags := make([]int64, len(keys)), make([][]byte, len(keys))
		for i := range keys {
			ids[i], tags[i] = int64(keys[i].of), keys[i].tag[:]
		}
		found := make(map[key][]ledger.Row)
		err := db.Query(ctx, db.ByKeyTags, []any{ids, tags}, func(row Scanner) error {
			of, r, err := ScanRow(row)
			found[key{of: of, tag: r.KeyTag}] = []ledger.Row{r}
			return err
		})
		return found, err
	}
	return ledger.NewApart(&loader{most: maxKeyTags, ask: ask}, &loader{most: maxKeyTags, ask: ask})
}

// shuffleLoaders return what finds the entries of shuffles, those of one in order.
func shuffleLoaders(db DB, s ledger.Standing) ledger.Apart[*loader] {
	ask := func(ctx context.Context, keys []key) (map[key][]ledger.Row, error) {
		ledgers, ids := make([]int64, len(keys)), make([]int64, len(keys))
		for i, k := range keys {
			ledgers[i], ids[i] = int64(k.of), int64(k.id)
		}
		found := make(map[key][]ledger.Row)
		err := db.Shuffles(ctx, s, []any{ledgers, ids}, func(row Scanner) error {
			of, r, err := ScanRow(row)
			k := key{of: of, id: cmp.Or(r.Shuffle, r.Index)} // of a commit its own index
			found[k] = append(found[k], r)
			return err
		})
		return found, err
	}
	return ledger.NewApart(&loader{most: maxShuffles, ask: ask}, &loader{most: maxShuffles, ask: ask})
}

// ByKeyTags implements [ledger.Store].
func (c *Common) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) (rows []ledger.Row, err error) {
	keys := make([]key, len(tags))
	for i, tag := range tags {
		keys[i] = key{of: id, tag: tag}
	}
	found, err := c.tags.Of(ctx).find(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		rows = append(rows, found[k]...)
	}
	return rows, nil
}

// TakenSlots implements [ledger.Store].
func (c *Common) TakenSlots(ctx context.Context, id ledger.ID, slots ...[32]byte) ([][32]byte, error) {
	hashes := make([][]byte, len(slots)) // as a statement takes them
	for i := range slots {
		hashes[i] = slots[i][:]
	}
	return stored(ctx, c.db.Query, SQLSlots, id, hashes)
}

// Duplicate explains an append that a constraint refused: it returns a *ledger.DuplicateError with those key tags and
// slots of the batch that stand in the ledger, or nil if none does. Other errors are of q.
func Duplicate(ctx context.Context, q Query, id ledger.ID, b ledger.Batch) error {
	var keys [][]byte
	for i := range b.Rows {
		if b.Rows[i].Serial != 0 { // a commit
			keys = append(keys, b.Rows[i].KeyTag[:])
		}
	}
	tags, err := stored(ctx, q, SQLKeyTags, id, keys)
	if err == nil {
		var taken [][32]byte
		slots, _ := Slots(b)
		if taken, err = stored(ctx, q, SQLSlots, id, slots); err == nil && len(tags)+len(taken) > 0 {
			return &ledger.DuplicateError{Tags: tags, Slots: taken}
		}
	}
	if err != nil {
		return fmt.Errorf("looking for the idempotency keys and slots of a refused batch: %w", err)
	}
	return nil
}

// stored returns those hashes that a statement finds, in the order of the list.
func stored(ctx context.Context, q Query, sql string, id ledger.ID, hashes [][]byte) (found [][32]byte, err error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	has := make(map[[32]byte]bool)
	err = q(ctx, sql, []any{int64(id), hashes}, func(row Scanner) error {
		hash, err := Only[[]byte](row)
		if err == nil && len(hash) != 32 {
			err = errors.New("a stored hash has not 32 bytes")
		}
		if err == nil {
			has[[32]byte(hash)] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, hash := range hashes {
		if has[[32]byte(hash)] {
			found = append(found, [32]byte(hash))
		}
	}
	return found, nil
}

// ByShuffles implements [ledger.Store].
func (c *Common) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, shuffles ...uint64) (
	[][]ledger.Row, error) {
	keys := make([]key, len(shuffles))
	for i, shuffle := range shuffles {
		keys[i] = key{of: id, id: shuffle}
	}
	found, err := c.shuffles[standing].Of(ctx).find(ctx, keys...)
	if err != nil {
		return nil, err
	}
	list := make([][]ledger.Row, len(shuffles))
	for i, k := range keys {
		if rows := found[k]; len(rows) > 0 && rows[0].Index == k.id { // else no commit has this index
			list[i] = rows
		}
	}
	return list, nil
}

// PutCosigned implements [ledger.Store]. A checkpoint that is there already is read behind the barrier before it is
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

// PutLate implements [ledger.Store].
func (c *Common) PutLate(ctx context.Context, id ledger.ID, h ledger.Head) error {
	return c.put(ctx, ledger.ErrExists, SQLNewLate, headArgs(id, h)...)
}

// PutHandover implements [ledger.Store].
func (c *Common) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	return c.put(ctx, ledger.ErrStale, SQLNewHandover, append(headArgs(id, h), Number(from))...)
}

// PutTerms implements [ledger.Store]. A document that is there is read behind the barrier before it is acknowledged.
func (c *Common) PutTerms(ctx context.Context, id ledger.ID, t ledger.Terms) error {
	err := c.put(ctx, ledger.ErrExists, SQLNewTerms, int64(id), t.Hash[:], int64(t.Kind), t.Bytes)
	if errors.Is(err, ledger.ErrExists) {
		_, err = One(ctx, c.db.Query, Only[int64], SQLHasTerms, int64(id), t.Hash[:])
	}
	return err
}

// PutStatement implements [ledger.Store].
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

// CosignedAtMost implements [ledger.Store].
func (c *Common) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (ledger.Head, error) {
	return One(ctx, c.db.Query, ScanHead, SQLCosignedAtMost, int64(id), Number(size))
}

// CosignedFrom implements [ledger.Store].
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

// LateFrom implements [ledger.Store].
func (c *Common) LateFrom(ctx context.Context, id ledger.ID, size uint64, n int) ([]ledger.Head, error) {
	return All(ctx, c.db.Query, ScanHead, SQLLateFrom, int64(id), Number(size), n)
}

// NewestLate implements [ledger.Store].
func (c *Common) NewestLate(ctx context.Context, id ledger.ID, n int) ([]ledger.Head, error) {
	return All(ctx, c.db.Query, ScanHead, SQLNewestLate, int64(id), n)
}
