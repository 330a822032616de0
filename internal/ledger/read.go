package ledger

import (
	"context"
	"errors"
	"fmt"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// Receipt returns the receipt of an entry as text, under the best checkpoint
// there is (HeadFor); ErrNotFound for an index at or above the ledger's size. One
// that another daemon wrote a moment ago is folded first.
func (l *Ledger) Receipt(ctx context.Context, index uint64) (string, error) {
	if err := l.reachEntry(ctx, index); err != nil {
		return "", err
	}
	head := l.HeadFor(index)
	row, err := l.row(ctx, index)
	if err != nil {
		return "", err
	}
	return l.ReceiptUnder(ctx, row, head)
}

// row reads an entry that the ledger has.
func (l *Ledger) row(ctx context.Context, index uint64) (Row, error) {
	for row, err := range l.cfg.Store.Rows(ctx, l.id, index, index+1) {
		if err != nil {
			return Row{}, Unavailable(fmt.Errorf("reading entry %d: %w", index, err))
		}
		return row, nil
	}
	return Row{}, fmt.Errorf("%w: entry %d is missing", ErrFrozen, index)
}

// ReceiptUnder returns the receipt of a stored entry under a head whose size is
// above its index. Under the head of CheckpointAfter it is the receipt that was
// given first, byte for byte.
func (l *Ledger) ReceiptUnder(ctx context.Context, row Row, head Head) (string, error) {
	receipts, err := l.ReceiptsUnder(ctx, []Row{row}, head)
	if err != nil {
		return "", err
	}
	return receipts[0], nil
}

// ReceiptsUnder is ReceiptUnder for many entries, for which it reads a tile once.
func (l *Ledger) ReceiptsUnder(ctx context.Context, rows []Row, head Head) ([]string, error) {
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.tileReader(ctx))
	receipts := make([]string, len(rows))
	for i, row := range rows {
		proof, err := tlog.ProveRecord(int64(head.Size), int64(row.Index), reader)
		if errors.Is(err, ErrNotFound) {
			// The head covers them: a database that lost its tail.
			return nil, fmt.Errorf("%w: what proves entry %d at size %d is missing: %v", ErrFrozen, row.Index, head.Size, err)
		}
		if err != nil {
			return nil, Unavailable(fmt.Errorf("proving entry %d: %w", row.Index, err))
		}
		r := audit.Receipt{Index: row.Index, Entry: row.Entry, Proof: proof, Checkpoint: head.Checkpoint}
		if err := r.CheckInclusion(audit.Checkpoint{Size: head.Size, Root: head.Root}); err != nil {
			return nil, fmt.Errorf("%w: stored entry %d: %w", ErrFrozen, row.Index, err)
		}
		receipts[i] = r.Text()
	}
	return receipts, nil
}

// Head returns the newest durable head that this daemon knows.
func (l *Ledger) Head() Head { return *l.published.Load() }

// HeadFor returns the head to prove the entries up to index under: the newest
// one that the witnesses cosigned, if it covers them, else the newest.
func (l *Ledger) HeadFor(index uint64) Head {
	if h, ok := l.Cosigned(); ok && h.Size > index {
		return h
	}
	return l.Head()
}

// FirstReceipt returns the receipt that an entry got when it was written, byte
// for byte. The checkpoint comes from the store, so its signature is checked.
func (l *Ledger) FirstReceipt(ctx context.Context, row Row) (string, error) {
	receipts, err := l.FirstReceipts(ctx, []Row{row})
	if err != nil {
		return "", err
	}
	return receipts[0], nil
}

// FirstReceipts is FirstReceipt for entries that were written in one batch: at
// least one, ascending.
func (l *Ledger) FirstReceipts(ctx context.Context, rows []Row) ([]string, error) {
	first, last := rows[0].Index, rows[len(rows)-1].Index
	head, err := l.cfg.Store.CheckpointAfter(ctx, l.id, first)
	if err != nil {
		return nil, Unavailable(fmt.Errorf("reading the checkpoint after entry %d: %w", first, err))
	}
	c, err := audit.OpenCheckpoint(head.Checkpoint, l.keys.Load().at(head.Size))
	if err != nil {
		return nil, fmt.Errorf("%w: the checkpoint after entry %d: %w", ErrFrozen, first, err)
	}
	if c.Size != head.Size || c.Root != head.Root || head.Size <= last {
		return nil, fmt.Errorf("%w: the checkpoint after entry %d is of another head", ErrFrozen, first)
	}
	return l.ReceiptsUnder(ctx, rows, head)
}

// Authentic reports whether stored rows are entries of this ledger, each at its
// index under a head that we checked. What a row says is believed only then: a
// database can be given rows that no head covers, and genuine ones in the wrong
// place. Rows that another daemon just wrote are caught up with first.
func (l *Ledger) Authentic(ctx context.Context, rows []Row) error {
	for _, row := range rows {
		if row.Index < l.Head().Size {
			continue
		}
		if err := l.refresh(ctx, row.Index+1); err != nil {
			return err
		}
		if size := l.Head().Size; row.Index >= size {
			return fmt.Errorf("%w: a row %d above the head of size %d", ErrFrozen, row.Index, size)
		}
	}
	head := l.Head()
	var older []Row
	for _, row := range rows {
		l.edge.RLock()
		leaf, known := l.tree.leaf(int64(row.Index))
		l.edge.RUnlock()
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

// Tile returns the hashes of a tile in C2SP tlog-tiles form; ErrNotFound for a
// tile of another height or with hashes beyond the newest checkpoint.
func (l *Ledger) Tile(ctx context.Context, t tlog.Tile) ([]byte, error) {
	if err := l.reachTile(ctx, t); err != nil {
		return nil, err
	}
	data, err := l.tileData(ctx, t)
	return data, Unavailable(err)
}

// EntryBundle returns the entries of a level −1 tile in C2SP tlog-tiles form;
// ErrNotFound as for Tile.
func (l *Ledger) EntryBundle(ctx context.Context, t tlog.Tile) ([]byte, error) {
	if t.L != -1 {
		return nil, ErrNotFound
	}
	if err := l.reachTile(ctx, tlog.Tile{H: t.H, L: 0, N: t.N, W: t.W}); err != nil {
		return nil, err
	}
	from := uint64(t.N) * tileWidth
	var bundle []byte
	next := from
	for row, err := range l.cfg.Store.Rows(ctx, l.id, from, from+uint64(t.W)) {
		if err == nil && row.Index == next {
			bundle, err = torchwood.AppendTileEntry(bundle, row.Entry)
			next++
		}
		if err != nil {
			return nil, Unavailable(fmt.Errorf("reading entry %d: %w", next, err))
		}
	}
	if next != from+uint64(t.W) {
		return nil, fmt.Errorf("%w: entry %d is missing", ErrFrozen, next)
	}
	return bundle, nil
}

// tileData reads a tile from the edge or from the store. What neither holds is a
// tile that is not full, of entries that are durable but not yet folded here:
// just written, or written by another daemon. It is computed from what is below.
func (l *Ledger) tileData(ctx context.Context, t tlog.Tile) ([]byte, error) {
	l.edge.RLock()
	data, ok := l.tree.partial(t.L, t.N, t.W)
	l.edge.RUnlock()
	if ok {
		return data, nil
	}
	data, err := l.cfg.Store.Tile(ctx, l.id, t.L, uint64(t.N))
	switch {
	case errors.Is(err, ErrNotFound) && t.L == 0:
		return l.hashRows(ctx, t)
	case errors.Is(err, ErrNotFound):
		return l.hashTiles(ctx, t)
	case err != nil:
		return nil, fmt.Errorf("reading tile %d/%d: %w", t.L, t.N, err)
	case len(data) != tileWidth*tlog.HashSize:
		return nil, fmt.Errorf("%w: tile %d/%d has %d bytes", ErrFrozen, t.L, t.N, len(data))
	}
	return data[:t.W*tlog.HashSize], nil
}

// hashRows computes a tile of level 0 from its entries.
func (l *Ledger) hashRows(ctx context.Context, t tlog.Tile) ([]byte, error) {
	from := uint64(t.N) * tileWidth
	data := make([]byte, 0, t.W*tlog.HashSize)
	for row, err := range l.cfg.Store.Rows(ctx, l.id, from, from+uint64(t.W)) {
		if err != nil {
			return nil, fmt.Errorf("reading entries from %d: %w", from, err)
		}
		h := tlog.RecordHash(row.Entry)
		data = append(data, h[:]...)
	}
	if len(data) != t.W*tlog.HashSize {
		return nil, fmt.Errorf("entries from %d: %w", from, ErrNotFound)
	}
	return data, nil
}

// hashTiles computes a tile from the full tiles below it.
func (l *Ledger) hashTiles(ctx context.Context, t tlog.Tile) ([]byte, error) {
	data := make([]byte, 0, t.W*tlog.HashSize)
	for n := t.N * tileWidth; n < t.N*tileWidth+int64(t.W); n++ {
		below := tlog.Tile{H: tileHeight, L: t.L - 1, N: n, W: tileWidth}
		d, err := l.tileData(ctx, below)
		if err != nil {
			return nil, err
		}
		// The root of a tile joins its two halves, which tlog computes.
		level := below.L*tileHeight + tileHeight - 1
		left, err := tlog.HashFromTile(below, d, tlog.StoredHashIndex(level, 2*n))
		if err != nil {
			return nil, err
		}
		right, err := tlog.HashFromTile(below, d, tlog.StoredHashIndex(level, 2*n+1))
		if err != nil {
			return nil, err
		}
		root := tlog.NodeHash(left, right)
		data = append(data, root[:]...)
	}
	return data, nil
}

// tileReader adapts the ledger to tlog, which authenticates every tile against
// the root that it was given.
func (l *Ledger) tileReader(ctx context.Context) tlog.TileReader {
	return tileReader{ctx, l, make(map[tlog.Tile][]byte)}
}

type tileReader struct {
	ctx  context.Context
	l    *Ledger
	kept map[tlog.Tile][]byte // what was read: proofs under one head share most tiles
}

// maxKept bounds what a reader keeps, to half a MiB: a shuffle of thousands of deals
// may stand in as many tiles.
const maxKept = 64

func (r tileReader) Height() int { return tileHeight }

func (r tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	var errs []error
	for i, t := range tiles {
		if data[i] = r.kept[t]; data[i] != nil {
			continue
		}
		var err error
		if data[i], err = r.l.tileData(r.ctx, t); err != nil {
			errs = append(errs, err)
			continue
		}
		if len(r.kept) == maxKept {
			clear(r.kept)
		}
		r.kept[t] = data[i]
	}
	return data, errors.Join(errs...)
}

func (r tileReader) SaveTiles([]tlog.Tile, [][]byte) {}
