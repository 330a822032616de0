package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"
)

// Tile returns the hashes of a tile in C2SP tlog-tiles form. It returns ErrNotFound for a tile of another height or
// with hashes beyond the newest checkpoint, and ErrFrozen for a stored tile that is not the ledger's. A full tile comes
// from the cache, and so does the beginning of one. The caller does not change the result.
func (l *Core) Tile(ctx context.Context, t tlog.Tile) ([]byte, error) {
	if err := l.reachTile(ctx, t); err != nil {
		return nil, err
	}
	return l.sharedTile(ctx, t)
}

// sharedTile returns a tile of the published head, from the cache if the ledger has the full
// tile. Otherwise it is of the right edge, which is in memory.
func (l *Core) sharedTile(ctx context.Context, t tlog.Tile) ([]byte, error) {
	if full := l.Head().Size>>((t.L+1)*tileHeight) > uint64(t.N); !full {
		data, err := l.tileData(ctx, t)
		return data, Unavailable(err)
	}
	data, _, err := l.kept(ctx, tileKey{l.id, t.L, t.N}, tileWidth, l.loadTile)
	if err != nil {
		return nil, err
	}
	return data[:t.W*tlog.HashSize], nil
}

// EntryBundle returns the entries of a level −1 tile in C2SP tlog-tiles form. The errors are
// those of Tile. While a bundle is in the cache, the store is asked only for entries that are
// not in it. The caller does not change the result.
func (l *Core) EntryBundle(ctx context.Context, t tlog.Tile) ([]byte, error) {
	if t.L != -1 {
		return nil, ErrNotFound
	}
	if err := l.reachTile(ctx, tlog.Tile{H: t.H, L: 0, N: t.N, W: t.W}); err != nil {
		return nil, err
	}
	data, width, err := l.kept(ctx, tileKey{l.id, -1, t.N}, t.W, l.loadBundle)
	if err != nil || width == t.W {
		return data, err
	}
	end := 0
	for range t.W {
		end += 2 + int(binary.BigEndian.Uint16(data[end:]))
	}
	return data[:end], nil
}

// kept returns a tile of at least so many hashes or entries from the cache. If the cache does not have it, load reads
// it, once for all who ask at the same time. A caller that leaves does not end the reading.
func (l *Core) kept(ctx context.Context, key tileKey, width int,
	load func(context.Context, tileKey) (*cachedTile, error)) ([]byte, int, error) {
	for {
		if data, w := l.cfg.Tiles.get(key); w >= width {
			return data, w, nil
		}
		flight := l.cfg.Tiles.flights.Of(ctx).DoChan(fmt.Sprint(key), func() (any, error) {
			loading, cancel := context.WithTimeout(Detached(ctx), StoreTimeout)
			defer cancel()
			t, err := load(loading, key)
			if err == nil {
				l.cfg.Tiles.put(t)
			}
			return t, err
		})
		r, err := Await(ctx, flight, "the store has not answered for a tile")
		if err != nil {
			return nil, 0, err
		}
		Began(ctx)
		if r.Err != nil {
			return nil, 0, Unavailable(r.Err)
		}
		// A flight that began earlier may bring fewer. The next brings what the head covers now.
		if t := r.Val.(*cachedTile); t.width >= width {
			return t.data, t.width, nil
		}
	}
}

// loadTile reads a full tile and authenticates it against the head. The full tiles that it
// reads for that are kept as well.
func (l *Core) loadTile(ctx context.Context, key tileKey) (*cachedTile, error) {
	head := l.Head()
	found := &cachedTile{key: key, width: tileWidth}
	reader := new(tileReader)
	reader.tile = func(t tlog.Tile) ([]byte, error) {
		if data, width := l.cfg.Tiles.get(tileKey{l.id, t.L, t.N}); width >= t.W {
			return data[:t.W*tlog.HashSize], nil
		}
		return l.tileData(ctx, t)
	}
	reader.saved = func(t tlog.Tile, data []byte) {
		at := tileKey{l.id, t.L, t.N}
		if at == key {
			found.data = data
		}
		if t.W == tileWidth {
			l.cfg.Tiles.put(&cachedTile{at, data, tileWidth})
		}
	}
	_, err := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, reader).
		ReadHashes([]int64{tlog.StoredHashIndex(key.level*tileHeight, key.index*tileWidth)})
	if err != nil && reader.read {
		err = fmt.Errorf("%w: tile %d/%d, or one above it: %w", ErrFrozen, key.level, key.index, err)
	}
	return found, err
}

// loadBundle reads the entries of a bundle that the head covers and the cache does not have,
// and compares each with its leaf hash.
func (l *Core) loadBundle(ctx context.Context, key tileKey) (*cachedTile, error) {
	bundle, have := l.cfg.Tiles.get(key)
	from := uint64(key.index) * tileWidth
	width := int(min(tileWidth, l.Head().Size-from))
	leaves, err := l.Tile(ctx, tlog.Tile{H: tileHeight, L: 0, N: key.index, W: width})
	if err != nil {
		return nil, err
	}
	bundle = slices.Clip(bundle) // others read it: append makes a copy
	next := from + uint64(have)
	for row, err := range l.cfg.Store.Rows(ctx, l.id, next, from+uint64(width)) {
		if err == nil && row.Index == next {
			leaf := tlog.RecordHash(row.Entry)
			if at := (next - from) * tlog.HashSize; leaf != tlog.Hash(leaves[at:at+tlog.HashSize]) {
				return nil, fmt.Errorf("%w: the row of entry %d is not that entry", ErrFrozen, next)
			}
			bundle, err = torchwood.AppendTileEntry(bundle, row.Entry)
			next++
		}
		if err != nil {
			return nil, fmt.Errorf("reading entry %d: %w", next, err)
		}
	}
	if next != from+uint64(width) {
		return nil, fmt.Errorf("%w: entry %d is missing", ErrFrozen, next)
	}
	return &cachedTile{key, bundle, width}, nil
}

// tileData reads a tile from the right edge or from the store. If neither has it, it is a partial tile of durable
// entries that are not folded here yet. Then it is computed from what is below it.
func (l *Core) tileData(ctx context.Context, t tlog.Tile) ([]byte, error) {
	if data, ok := l.shown.Tree.partial(t.L, t.N, t.W); ok {
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
func (l *Core) hashRows(ctx context.Context, t tlog.Tile) ([]byte, error) {
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
func (l *Core) hashTiles(ctx context.Context, t tlog.Tile) ([]byte, error) {
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

// tileReader is a tlog.TileReader of the ledger. tlog authenticates every tile against the root
// that it was given. A tileReader belongs to one goroutine.
type tileReader struct {
	tile  func(tlog.Tile) ([]byte, error)
	saved func(t tlog.Tile, data []byte) // takes authentic tiles; nil: nobody does
	read  bool                           // every tile was read
}

// maxOwnTiles bounds what the reader of ownTiles keeps, to half a MiB.
const maxOwnTiles = 64

// OwnTiles returns a reader for a head that is not published here. The head may be of another
// history, so that the tiles do not go into the cache.
func (l *Core) OwnTiles(ctx context.Context) *tileReader {
	own := make(map[tlog.Tile][]byte)
	return &tileReader{tile: func(t tlog.Tile) ([]byte, error) {
		if data := own[t]; data != nil {
			return data, nil
		}
		data, err := l.tileData(ctx, t)
		if err != nil {
			return nil, err
		}
		if len(own) == maxOwnTiles {
			clear(own)
		}
		own[t] = data
		return data, nil
	}}
}

// Height implements tlog.TileReader.
func (r *tileReader) Height() int { return tileHeight }

// ReadTiles implements tlog.TileReader.
func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	var errs []error
	for i, t := range tiles {
		var err error
		if data[i], err = r.tile(t); err != nil {
			errs = append(errs, err)
		}
	}
	r.read = len(errs) == 0
	return data, errors.Join(errs...)
}

// SaveTiles implements tlog.TileReader.
func (r *tileReader) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	if r.saved == nil {
		return
	}
	for i, t := range tiles {
		r.saved(t, data[i])
	}
}
