package store

import (
	"context"
	"errors"
	"fmt"
	"math"

	"shuffled/internal/ledger"
)

// ByKeyTags implements [ledger.Finder].
func (c *Common) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) ([]ledger.Row, error) {
	return All(ctx, c.db.Query, ScanRow, c.db.ByKeyTags, int64(id), listOf(tags))
}

// TakenSlots implements [ledger.Finder].
func (c *Common) TakenSlots(ctx context.Context, id ledger.ID, slots ...[32]byte) ([][32]byte, error) {
	return stored(ctx, c.db.Query, SQLSlots, id, listOf(slots))
}

// Duplicate explains an append that a constraint refused: it returns a *ledger.DuplicateError with those key tags and
// slots of the batch that stand in the ledger, or nil if none does. Other errors are of q.
func Duplicate(ctx context.Context, q Query, id ledger.ID, b ledger.Batch) error {
	tags, err := stored(ctx, q, SQLKeyTags, id, keyTags(b))
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

// keyTags returns the key tags of a batch in order.
func keyTags(b ledger.Batch) (tags [][]byte) {
	for i := range b.Rows {
		if b.Rows[i].Serial != 0 { // a commit
			tags = append(tags, b.Rows[i].KeyTag[:])
		}
	}
	return tags
}

// listOf returns hashes as a statement takes them.
func listOf(hashes [][32]byte) [][]byte {
	all := make([][]byte, len(hashes))
	for i := range hashes {
		all[i] = hashes[i][:]
	}
	return all
}

// ByShuffles implements [ledger.Finder].
func (c *Common) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, shuffles ...uint64) (
	[][]ledger.Row, error) {
	var ids []int64
	for _, shuffle := range shuffles {
		if shuffle <= math.MaxInt64 {
			ids = append(ids, int64(shuffle))
		}
	}
	found := make(map[uint64][]ledger.Row)
	err := c.db.Shuffles(ctx, standing, []any{int64(id), ids}, func(row Scanner) error {
		r, err := ScanRow(row)
		of := r.Shuffle
		if of == 0 { // a commit
			of = r.Index
		}
		found[of] = append(found[of], r)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([][]ledger.Row, len(shuffles))
	missing := false
	for i, shuffle := range shuffles {
		if rows := found[shuffle]; len(rows) > 0 && rows[0].Index == shuffle {
			list[i] = rows
		} else {
			missing = true // no commit has this index
		}
	}
	if missing && standing == ledger.Durable {
		// No row was found, so none was locked: a server that was left behind in a failover lacks rows, too.
		return list, c.db.Query(ctx, SQLBarrier, []any{int64(id)}, func(Scanner) error { return nil })
	}
	return list, nil
}
