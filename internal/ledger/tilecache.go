package ledger

import (
	"fmt"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
)

// TileCache keeps tiles and entry bundles in memory, of all ledgers that share it,
// up to a number of bytes: an LRU cache. What it keeps never changes, and was
// authenticated: the ledger puts nothing else into it. Safe for concurrent use.
type TileCache struct {
	most    int64              // bytes
	flights singleflight.Group // of what is read from the store, by tile and share

	mu    sync.Mutex
	bytes int64
	tiles *simplelru.LRU[tileKey, *cachedTile]
}

// tileKey names a full tile; at level -1 an entry bundle.
type tileKey struct {
	ledger ID
	level  int
	index  int64
}

// cachedTile is what is kept of a tile. A bundle at the ledger's right edge may hold
// fewer entries than 256: those that were there when it was read.
type cachedTile struct {
	key   tileKey
	data  []byte // not changed
	width int
}

// tileOverhead is about what a kept tile takes alongside its data, in bytes.
const tileOverhead = 256

func (t *cachedTile) bytes() int64 { return int64(cap(t.data)) + tileOverhead }

// NewTileCache returns a cache that keeps at most so many bytes.
func NewTileCache(bytes int64) *TileCache {
	c := &TileCache{most: bytes}
	c.tiles, _ = simplelru.NewLRU(math.MaxInt, func(_ tileKey, t *cachedTile) { c.bytes -= t.bytes() })
	return c
}

// get returns what is kept of a tile, or data nil.
func (c *TileCache) get(key tileKey) (data []byte, width int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tiles.Get(key)
	if !ok {
		return nil, 0
	}
	return t.data, t.width
}

// put keeps a tile, unless more of it is kept or it is larger than the cache, and
// drops those that were not used for the longest time to make room.
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

// flight names the reading of a tile. Readers do not join a dealer's, nor dealers a
// reader's, for which they would wait behind readers.
func (k tileKey) flight(reader bool) string {
	return fmt.Sprintf("%d/%d/%d/%t", k.ledger, k.level, k.index, reader)
}
