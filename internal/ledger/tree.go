package ledger

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// tileHeight is that of C2SP tlog-tiles: 256 hashes wide.
const (
	tileHeight = 8
	tileWidth  = 1 << tileHeight
)

// tree is the right edge of a ledger's Merkle tree: the nodes of the tiles that are not full yet, by tlog's storage
// index. Every new node, the root and the proofs of new entries can be computed from them, at any size of the ledger.
type tree struct {
	size   int64
	nodes  map[int64]tlog.Hash
	leaves []tlog.Hash // the newest leaf hashes; that of entry n is at n mod recentLeaves
	known  int64       // leaves has none below this entry
}

// recentLeaves is how many leaf hashes are kept. Authentic compares stored rows with them.
const recentLeaves = 1 << 16

func newTree() *tree {
	return &tree{nodes: make(map[int64]tlog.Hash), leaves: make([]tlog.Hash, recentLeaves)}
}

// edgeAt returns the tree of the first size entries. It reads the nodes of the tiles that are not full at that size.
func edgeAt(under tlog.HashReader, size uint64) (*tree, error) {
	var nodes []int64
	for level := 0; size>>level > 0; level++ {
		tile := size >> (level - level%tileHeight) &^ (tileWidth - 1) // first hash of the last tile's lowest row
		for n := tile >> (level % tileHeight); n < size>>level; n++ {
			nodes = append(nodes, tlog.StoredHashIndex(level, int64(n)))
		}
	}
	hashes, err := under.ReadHashes(nodes)
	if err != nil {
		return nil, fmt.Errorf("reading the right edge at size %d: %w", size, err)
	}
	t := newTree()
	t.size, t.known = int64(size), int64(size)
	for i, n := range nodes {
		t.nodes[n] = hashes[i]
	}
	return t, nil
}

// leaf returns the leaf hash of a recent entry.
func (t *tree) leaf(index int64) (h tlog.Hash, ok bool) {
	if index < t.known || index >= t.size || index < t.size-recentLeaves {
		return h, false
	}
	return t.leaves[index%recentLeaves], true
}

// growth is a tree with more leaves. The tree that it grew from does not change before grow.
type growth struct {
	from  *tree
	size  int64
	base  int64       // storage index of the first new node
	fresh []tlog.Hash // new nodes, in storage order
}

// extend returns the growth of t by leaves.
func (t *tree) extend(leaves []tlog.Hash) (*growth, error) {
	g := &growth{from: t, size: t.size, base: tlog.StoredHashCount(t.size)}
	for _, leaf := range leaves {
		hashes, err := tlog.StoredHashesForRecordHash(g.size, leaf, g)
		if err != nil {
			return nil, fmt.Errorf("extending the tree: %w", err)
		}
		g.fresh = append(g.fresh, hashes...)
		g.size++
	}
	return g, nil
}

// ReadHashes implements tlog.HashReader, of the tree and of what was added.
func (g *growth) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		if x >= g.base {
			if x-g.base >= int64(len(g.fresh)) {
				return nil, fmt.Errorf("node %d is not in the tree", x)
			}
			hashes[i] = g.fresh[x-g.base]
			continue
		}
		h, ok := g.from.nodes[x]
		if !ok {
			return nil, fmt.Errorf("node %d is not at the right edge", x)
		}
		hashes[i] = h
	}
	return hashes, nil
}

func (g *growth) root() (tlog.Hash, error) { return tlog.TreeHash(g.size, g) }

// tiles returns the tiles that the growth made full.
func (g *growth) tiles() ([]Tile, error) {
	var full []Tile
	for _, t := range tlog.NewTiles(tileHeight, g.from.size, g.size) {
		if t.W != tileWidth {
			continue
		}
		data, err := tlog.ReadTileData(t, g)
		if err != nil {
			return nil, fmt.Errorf("making tile %d/%d: %w", t.L, t.N, err)
		}
		full = append(full, Tile{Level: t.L, Index: uint64(t.N), Data: data})
	}
	return full, nil
}

// grow adds g to the tree and drops the nodes of the full tiles, which g.tiles returned.
func (t *tree) grow(g *growth, full []Tile) {
	for i, h := range g.fresh {
		t.nodes[g.base+int64(i)] = h
	}
	for n := t.size; n < g.size; n++ {
		t.leaves[n%recentLeaves] = g.fresh[tlog.StoredHashIndex(0, n)-g.base]
	}
	t.size = g.size
	for _, f := range full {
		for r := range tileHeight {
			first := int64(f.Index) << (tileHeight - r)
			for n := first; n < first+1<<(tileHeight-r); n++ {
				delete(t.nodes, tlog.StoredHashIndex(f.Level*tileHeight+r, n))
			}
		}
	}
}

// partial returns the first w hashes of a tile that is not full; false if the right edge does not have them all.
func (t *tree) partial(level int, index int64, w int) ([]byte, bool) {
	data := make([]byte, 0, w*tlog.HashSize)
	for i := range int64(w) {
		h, ok := t.nodes[tlog.StoredHashIndex(level*tileHeight, index<<tileHeight+i)]
		if !ok {
			return nil, false
		}
		data = append(data, h[:]...)
	}
	return data, true
}
