package ledger

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
)

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
