package ledger

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/singleflight"
)

// tileHeight is that of C2SP tlog-tiles: 256 hashes wide.
const (
	tileHeight = 8
	tileWidth  = 1 << tileHeight
)

// tree is the right edge of a ledger's Merkle tree: the nodes of the tiles that are not full yet, by tlog's storage
// index. Every new node, the root and the proofs of new entries can be computed from them, at any size of the ledger.
// The sequencer's goroutine alone has it grow, and computes from it; leaf and partial are for any.
type tree struct {
	mu     sync.RWMutex
	Size   int64
	Nodes  map[int64]tlog.Hash
	leaves []tlog.Hash // the newest leaf hashes; that of entry n is at n mod recentLeaves
	Known  int64       // leaves has none below this entry
}

// recentLeaves is how many leaf hashes are kept. Authentic compares stored rows with them.
const recentLeaves = 1 << 16

func newTree() *tree {
	return &tree{Nodes: make(map[int64]tlog.Hash), leaves: make([]tlog.Hash, recentLeaves)}
}

// EdgeAt returns the tree of the first size entries. It reads the nodes of the tiles that are not full at that size.
func EdgeAt(under tlog.HashReader, size uint64) (*tree, error) {
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
	t.Size, t.Known = int64(size), int64(size)
	for i, n := range nodes {
		t.Nodes[n] = hashes[i]
	}
	return t, nil
}

// leaf returns the leaf hash of a recent entry.
func (t *tree) leaf(index int64) (h tlog.Hash, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if index < t.Known || index >= t.Size || index < t.Size-recentLeaves {
		return h, false
	}
	return t.leaves[index%recentLeaves], true
}

// Growth is a tree with more leaves. The tree that it grew from does not change before grow.
type Growth struct {
	from  *tree
	Size  int64
	base  int64       // storage index of the first new node
	fresh []tlog.Hash // new nodes, in storage order
}

// Extend returns the growth of t by leaves.
func (t *tree) Extend(leaves []tlog.Hash) (*Growth, error) {
	g := &Growth{from: t, Size: t.Size, base: tlog.StoredHashCount(t.Size)}
	for _, leaf := range leaves {
		hashes, err := tlog.StoredHashesForRecordHash(g.Size, leaf, g)
		if err != nil {
			return nil, fmt.Errorf("extending the tree: %w", err)
		}
		g.fresh = append(g.fresh, hashes...)
		g.Size++
	}
	return g, nil
}

// ReadHashes implements tlog.HashReader, of the tree and of what was added.
func (g *Growth) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		if x >= g.base {
			if x-g.base >= int64(len(g.fresh)) {
				return nil, fmt.Errorf("node %d is not in the tree", x)
			}
			hashes[i] = g.fresh[x-g.base]
			continue
		}
		h, ok := g.from.Nodes[x]
		if !ok {
			return nil, fmt.Errorf("node %d is not at the right edge", x)
		}
		hashes[i] = h
	}
	return hashes, nil
}

// Root returns the root of the grown tree.
func (g *Growth) Root() (tlog.Hash, error) { return tlog.TreeHash(g.Size, g) }

// full names the tiles that the growth made full.
func (g *Growth) full() []tlog.Tile {
	partial := func(t tlog.Tile) bool { return t.W != tileWidth }
	return slices.DeleteFunc(tlog.NewTiles(tileHeight, g.from.Size, g.Size), partial)
}

// Tiles returns the tiles that the growth made full.
func (g *Growth) Tiles() ([]Tile, error) {
	var full []Tile
	for _, t := range g.full() {
		data, err := tlog.ReadTileData(t, g)
		if err != nil {
			return nil, fmt.Errorf("making tile %d/%d: %w", t.L, t.N, err)
		}
		full = append(full, Tile{Level: t.L, Index: uint64(t.N), Data: data})
	}
	return full, nil
}

// Grow adds g, which is of this tree, and drops the nodes of the tiles that it made full.
func (t *tree) Grow(g *Growth) {
	t.mu.Lock()
	defer t.mu.Unlock()
	full := g.full()
	for i, h := range g.fresh {
		t.Nodes[g.base+int64(i)] = h
	}
	for n := t.Size; n < g.Size; n++ {
		t.leaves[n%recentLeaves] = g.fresh[tlog.StoredHashIndex(0, n)-g.base]
	}
	t.Size = g.Size
	for _, f := range full {
		for r := range tileHeight {
			first := f.N << (tileHeight - r)
			for n := first; n < first+1<<(tileHeight-r); n++ {
				delete(t.Nodes, tlog.StoredHashIndex(f.L*tileHeight+r, n))
			}
		}
	}
}

// partial returns the first w hashes of a tile that is not full; false if the right edge does not have them all.
func (t *tree) partial(level int, index int64, w int) ([]byte, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	data := make([]byte, 0, w*tlog.HashSize)
	for i := range int64(w) {
		h, ok := t.Nodes[tlog.StoredHashIndex(level*tileHeight, index<<tileHeight+i)]
		if !ok {
			return nil, false
		}
		data = append(data, h[:]...)
	}
	return data, true
}

// TileCache is an LRU cache of tiles and entry bundles, for all ledgers that share it, up to a number of bytes. A
// ledger puts only authentic tiles into it, and they never change. It is safe for concurrent use.
type TileCache struct {
	most    int64                      // bytes
	flights Apart[*singleflight.Group] // reads of the store, by tile

	mu    sync.Mutex
	bytes int64
	tiles *simplelru.LRU[tileKey, *cachedTile]
}

// tileKey names a full tile, or at level -1 an entry bundle.
type tileKey struct {
	ledger ID
	level  int
	index  int64
}

// cachedTile is a full tile, or the entries of a bundle that the head covered when it was read.
type cachedTile struct {
	key   tileKey
	data  []byte // not changed
	width int    // hashes or entries
}

// tileOverhead is about how many bytes a kept tile takes in addition to its data.
const tileOverhead = 256

func (t *cachedTile) bytes() int64 { return int64(cap(t.data)) + tileOverhead }

// NewTileCache returns a cache that keeps at most so many bytes.
func NewTileCache(bytes int64) *TileCache {
	c := &TileCache{most: bytes, flights: NewApart(new(singleflight.Group), new(singleflight.Group))}
	c.tiles, _ = simplelru.NewLRU(math.MaxInt, func(_ tileKey, t *cachedTile) { c.bytes -= t.bytes() })
	return c
}

// get returns what is kept of a tile; width 0 if nothing is.
func (c *TileCache) get(key tileKey) (data []byte, width int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tiles.Get(key)
	if !ok {
		return nil, 0
	}
	return t.data, t.width
}

// put keeps a tile, unless as much of it is kept or it is larger than the cache. To make room
// it drops those that were used least recently.
func (c *TileCache) put(t *cachedTile) {
	if t.bytes() > c.most {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.tiles.Peek(t.key); ok && kept.width >= t.width {
		return
	}
	c.tiles.Remove(t.key)
	c.tiles.Add(t.key, t)
	for c.bytes += t.bytes(); c.bytes > c.most; {
		c.tiles.RemoveOldest()
	}
}
