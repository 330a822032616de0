package bundle

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// maxLevels is how many levels of tiles a ledger of the largest size has: no checkpoint that was read is of a larger.
const maxLevels = 7

// Edge is the right edge of a ledger's tree: the hashes of the tile of each level that is
// not full yet. Package tlog computes nodes and roots.
type Edge struct {
	size  uint64
	tiles [maxLevels][]byte
}

// Size returns how many entries the tree has.
func (e *Edge) Size() uint64 { return e.size }

// Full takes a tile that is full now, and owns its hashes.
type Full func(level int, index uint64, hashes []byte) error

// Add appends hashes of a level, all in one tile, and hands over every tile that becomes full. At level 0 they are
// those of entries. At level 1 each is of Width entries, of which nothing else is known.
func (e *Edge) Add(level int, hashes []byte, full Full) error {
	e.size += uint64(len(hashes)/tlog.HashSize) << (tileHeight * level)
	e.tiles[level] = append(e.tiles[level], hashes...)
	for ; len(e.tiles[level]) == Width*tlog.HashSize; level++ {
		data, index, top := e.tiles[level], hashesAt(e.size, level)/Width-1, topOf(e.tiles[level])
		e.tiles[level] = nil // data is the receiver's from here on
		e.tiles[level+1] = append(e.tiles[level+1], top[:]...)
		if err := full(level, index, data); err != nil {
			return err
		}
	}
	return nil
}

// Partial hands over the tiles that are not full.
func (e *Edge) Partial(each Full) error {
	for level, data := range e.tiles {
		if len(data) == 0 {
			continue
		}
		if err := each(level, hashesAt(e.size, level)/Width, data); err != nil {
			return err
		}
	}
	return nil
}

// hashesAt returns how many hashes the tiles of a level hold in all.
func hashesAt(size uint64, level int) uint64 { return size >> (tileHeight * level) }

// topOf returns the node above a full tile.
func topOf(data []byte) tlog.Hash {
	var half [2]tlog.Hash
	for i := range half { // no error: the tile is full
		at := tlog.StoredHashIndex(tileHeight-1, int64(i))
		half[i], _ = tlog.HashFromTile(tlog.Tile{H: tileHeight, W: Width}, data, at)
	}
	return tlog.NodeHash(half[0], half[1])
}

// root returns the root of the tree.
func (e *Edge) root() (tlog.Hash, error) { return treeHash(e.size, e.tile) }

// tile returns the tile of a level that is not full.
func (e *Edge) tile(level int, index uint64) ([]byte, error) {
	if index != hashesAt(e.size, level)/Width {
		return nil, fmt.Errorf("tile %d/%d is not at the right edge", level, index)
	}
	return e.tiles[level], nil
}

// forest reads the nodes of a tree of this size from the tiles of a directory. It keeps one tile of each level: roots
// of ascending sizes need no more. What it reads is not authenticated.
type forest struct {
	fsys fs.FS
	size uint64
	kept [maxLevels]struct {
		index uint64
		data  []byte
	}
}

func (f *forest) tile(level int, index uint64) ([]byte, error) {
	k := &f.kept[level]
	if k.data != nil && k.index == index {
		return k.data, nil
	}
	data, err := readTile(f.fsys, level, index, widthOf(hashesAt(f.size, level), index))
	if err == nil {
		k.index, k.data = index, data
	}
	return data, err
}

// rootAt returns the root of the first size entries.
func (f *forest) rootAt(size uint64) (tlog.Hash, error) {
	if size == 0 || size > f.size {
		return tlog.Hash{}, fmt.Errorf("%w: a checkpoint of size %d in a ledger of %d entries", audit.ErrMalformed,
			size, f.size)
	}
	return treeHash(size, f.tile)
}

// treeHash returns the root of the first size entries. It finds nodes in the tiles that hold them.
func treeHash(size uint64, tile func(level int, index uint64) ([]byte, error)) (tlog.Hash, error) {
	return tlog.TreeHash(int64(size), tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			t := tlog.TileForIndex(tileHeight, x)
			data, err := tile(t.L, uint64(t.N))
			if err != nil {
				return nil, err
			}
			t.W = len(data) / tlog.HashSize
			if hashes[i], err = tlog.HashFromTile(t, data, x); err != nil {
				return nil, err
			}
		}
		return hashes, nil
	}))
}

// edgeOf reads the right edge of the tree of this size from a directory.
func edgeOf(fsys fs.FS, size uint64) (*Edge, error) {
	e := &Edge{size: size}
	for level := range e.tiles {
		hashes := hashesAt(size, level)
		if width := widthOf(hashes, hashes/Width); width > 0 {
			data, err := readTile(fsys, level, hashes/Width, width)
			if err != nil {
				return nil, err
			}
			e.tiles[level] = data
		}
	}
	return e, nil
}

// readTile reads a tile with this many hashes, at least one.
func readTile(fsys fs.FS, level int, index uint64, width int) ([]byte, error) {
	name := TilePath(level, index, width)
	b, err := readFile(fsys, name, int64(width)*tlog.HashSize)
	// In a mirror that was copied while it grew only the full tile may be there (docs/SPEC.md section 13.1).
	if width < Width && errors.Is(err, fs.ErrNotExist) {
		if full, more := readTile(fsys, level, index, Width); more == nil {
			return full[:width*tlog.HashSize], nil
		}
	}
	if err == nil && len(b) != width*tlog.HashSize {
		return nil, fmt.Errorf("reading %s: %w: %d bytes, not %d", name, audit.ErrMalformed, len(b),
			width*tlog.HashSize)
	}
	return b, err
}
