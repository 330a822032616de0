package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
)

// Row reads an entry that the ledger has. It does not check that the row is that entry (Authentic).
func (l *Core) Row(ctx context.Context, index uint64) (Row, error) {
	for row, err := range l.cfg.Store.Rows(ctx, l.id, index, index+1) {
		switch {
		case err != nil:
			return Row{}, Unavailable(fmt.Errorf("reading entry %d: %w", index, err))
		case row.Index != index:
			return Row{}, fmt.Errorf("%w: the database shows entry %d instead of entry %d", ErrFrozen, row.Index, index)
		}
		return row, nil
	}
	return Row{}, fmt.Errorf("%w: the database does not show entry %d", ErrUnavailable, index)
}

// ReceiptUnder returns the receipt of a stored entry under a head whose size is above its index. Under the head of
// CheckpointAfter it is, byte for byte, the receipt that Append returned.
func (l *Core) ReceiptUnder(ctx context.Context, row Row, head Head) (string, error) {
	receipts, err := l.ReceiptsUnder(ctx, []Row{row}, head)
	if err != nil {
		return "", err
	}
	return receipts[0].Text(), nil
}

// ReceiptsUnder is ReceiptUnder for many entries. Those that are proved together share the
// reading and authentication of tiles.
func (l *Core) ReceiptsUnder(ctx context.Context, rows []Row, head Head) ([]audit.Receipt, error) {
	shared := &tileReader{tile: func(t tlog.Tile) ([]byte, error) { return l.sharedTile(ctx, t) }}
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, shared)
	receipts := make([]audit.Receipt, 0, len(rows))
	for some := range slices.Chunk(rows, provedAtOnce) {
		proofs, err := prove(some, head.Size, reader)
		if errors.Is(err, ErrNotFound) {
			// The head covers them: the database lost its tail.
			return nil, fmt.Errorf("%w: a part of the proof of entry %d at size %d is missing: %v", ErrFrozen, some[0].Index,
				head.Size, err)
		}
		if err != nil {
			return nil, Unavailable(fmt.Errorf("proving entry %d: %w", some[0].Index, err))
		}
		for i, row := range some {
			r := audit.Receipt{Index: row.Index, Entry: row.Entry, Proof: proofs[i], Checkpoint: head.Checkpoint}
			if err := r.CheckInclusion(audit.Checkpoint{Size: head.Size, Root: head.Root}); err != nil {
				return nil, fmt.Errorf("%w: stored entry %d: %w", ErrFrozen, row.Index, err)
			}
			receipts = append(receipts, r)
		}
	}
	return receipts, nil
}

// provedAtOnce is how many entries are proved together. It bounds how many tiles are in
// memory: the deals of one shuffle may stand in thousands of tiles of 8 KiB.
const provedAtOnce = 128

// prove returns the inclusion proofs of entries. It reads the hashes of all proofs at once,
// because every reading authenticates its tiles anew.
func prove(rows []Row, size uint64, reader tlog.HashReader) ([]tlog.RecordProof, error) {
	var need []int64
	note := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		need = append(need, indexes...)
		return make([]tlog.Hash, len(indexes)), nil
	})
	for _, row := range rows {
		if _, err := tlog.ProveRecord(int64(size), int64(row.Index), note); err != nil {
			return nil, err
		}
	}
	slices.Sort(need)
	need = slices.Compact(need)
	var hashes []tlog.Hash
	var err error
	if len(need) > 0 {
		if hashes, err = reader.ReadHashes(need); err != nil {
			return nil, err
		}
	}
	known := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			at, _ := slices.BinarySearch(need, index)
			found[i] = hashes[at]
		}
		return found, nil
	})
	proofs := make([]tlog.RecordProof, len(rows))
	for i, row := range rows {
		if proofs[i], err = tlog.ProveRecord(int64(size), int64(row.Index), known); err != nil {
			return nil, err
		}
	}
	return proofs, nil
}

// FirstReceipt returns the receipt that Append returned for an entry, byte for byte.
func (l *Core) FirstReceipt(ctx context.Context, row Row) (string, error) {
	head, err := l.FirstHead(ctx, row.Index)
	if err != nil {
		return "", err
	}
	return l.ReceiptUnder(ctx, row, head)
}

// FirstHead returns the oldest head that covers the entry. Its checkpoint comes from the store, so it is verified.
func (l *Core) FirstHead(ctx context.Context, index uint64) (Head, error) {
	head, err := l.cfg.Store.CheckpointAfter(ctx, l.id, index)
	if err != nil {
		return Head{}, Unavailable(fmt.Errorf("reading the checkpoint after entry %d: %w", index, err))
	}
	c, err := audit.OpenCheckpoint(head.Checkpoint, l.SignedBy(head.Size)...)
	if err != nil {
		return Head{}, fmt.Errorf("%w: the checkpoint after entry %d: %w", ErrFrozen, index, err)
	}
	if c.Size != head.Size || c.Root != head.Root || head.Size <= index {
		return Head{}, fmt.Errorf("%w: the checkpoint after entry %d is of another head", ErrFrozen, index)
	}
	return head, nil
}

// Authentic returns nil if each stored row is the entry at its index, under a head that this daemon checked. What a row
// says is believed only then: somebody may have put rows into the database that no head covers, or genuine rows in the
// wrong place. Rows that another daemon wrote are folded first.
func (l *Core) Authentic(ctx context.Context, rows []Row) error {
	for _, row := range rows {
		if err := l.cover(ctx, row.Index); err != nil {
			return err
		}
		if size := l.Head().Size; row.Index >= size {
			return fmt.Errorf("%w: entry %d is stored above the head of size %d", ErrFrozen, row.Index, size)
		}
	}
	head := l.Head()
	var older []Row
	for _, row := range rows {
		leaf, known := l.shown.Tree.leaf(int64(row.Index))
		if known && leaf != tlog.RecordHash(row.Entry) {
			return fmt.Errorf("%w: the row of entry %d is not that entry", ErrFrozen, row.Index)
		}
		if !known {
			older = append(older, row)
		}
	}
	_, err := l.ReceiptsUnder(ctx, older, head)
	return err
}

// Entries returns the entries from ≤ index < to, which must be below the head known here. It
// checks that each stored row is the entry at its index.
func (l *Core) Entries(ctx context.Context, from, to uint64) ([]rules.Placed, error) {
	rows := make([]Row, 0, to-from)
	for row, err := range l.cfg.Store.Rows(ctx, l.id, from, to) {
		if err != nil {
			return nil, Unavailable(fmt.Errorf("reading entry %d: %w", from+uint64(len(rows)), err))
		}
		if row.Index != from+uint64(len(rows)) {
			return nil, fmt.Errorf("%w: the database shows entry %d instead of entry %d", ErrFrozen, row.Index,
				from+uint64(len(rows)))
		}
		rows = append(rows, row)
	}
	if n := uint64(len(rows)); n != to-from {
		return nil, fmt.Errorf("%w: the database does not show entry %d", ErrUnavailable, from+n)
	}
	if err := l.Authentic(ctx, rows); err != nil {
		return nil, err
	}
	entries := make([]rules.Placed, len(rows))
	for i, row := range rows {
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", row.Index, err)
		}
		entries[i] = rules.Placed{Index: row.Index, Entry: e}
	}
	return entries, nil
}

// RootAt computes the root of the first size entries, at least 1, from the
// stored tiles and entries, authenticated by a head that covers them.
func (l *Core) RootAt(ctx context.Context, head Head, size uint64) (tlog.Hash, error) {
	if size == head.Size {
		return head.Root, nil
	}
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.OwnTiles(ctx))
	root, err := tlog.TreeHash(int64(size), reader)
	if err != nil {
		return tlog.Hash{}, fmt.Errorf("computing the root at size %d: %w", size, err)
	}
	return root, nil
}

// Extends reports whether head extends a checkpoint of at least one entry.
func (l *Core) Extends(ctx context.Context, head Head, c audit.Checkpoint) (bool, error) {
	if c.Size > head.Size {
		return false, nil
	}
	root, err := l.RootAt(ctx, head, c.Size)
	return err == nil && root == c.Root, err
}

// KeyHistory returns what the newest entries known here say of keys. The caller does not change it.
func (l *Core) KeyHistory() *trust.History { return l.shown.Keys.Load() }

// maxHandovers is how many signing keys a transcript has room for (docs/SPEC.md section 8).
const maxHandovers = 1024

// Handovers returns, for each signing key after the genesis's whose entry a head covers, the receipt of that entry
// under the head, and the checkpoint that both keys signed. With these a verifier that trusts an older key follows to
// the key in force. If there are more than a transcript has room for, it returns none.
func (l *Core) Handovers(ctx context.Context, head Head) (all []audit.Handover, err error) {
	signing := l.shown.Keys.Load().Signing[1:]
	if len(signing) > maxHandovers {
		return nil, nil
	}
	var rows []Row
	for _, k := range signing {
		if k.Index >= head.Size {
			break
		}
		first, err := l.handover(ctx, k.Index)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{Index: k.Index, Entry: first.Entry})
		all = append(all, audit.Handover{Checkpoint: string(first.Checkpoint)})
	}
	head.Checkpoint = nil
	receipts, err := l.ReceiptsUnder(ctx, rows, head)
	for i, r := range receipts {
		all[i].Receipt = r.Text()
	}
	return all, err
}

// handover returns the first receipt of a signing key's entry.
func (l *Core) handover(ctx context.Context, index uint64) (first audit.Receipt, err error) {
	if known, ok := l.handovers.Load(index); ok {
		return known.(audit.Receipt), nil
	}
	row, err := l.Row(ctx, index)
	if err != nil {
		return first, err
	}
	text, err := l.FirstReceipt(ctx, row)
	if err == nil {
		first, err = audit.ParseReceipt(text)
	}
	if err == nil {
		l.handovers.Store(index, first)
	}
	return first, err
}
