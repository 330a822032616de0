package ledger

import (
	"container/list"
	"fmt"
	"sync"

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
	order list.List // of *cachedTile, the one that was used last in front
	byKey map[tileKey]*list.Element
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

// NewTileCache returns a cache that keeps at most so many bytes.
func NewTileCache(bytes int64) *TileCache {
	return &TileCache{most: bytes, byKey: make(map[tileKey]*list.Element)}
}

// get returns what is kept of a tile, or data nil.
func (c *TileCache) get(key tileKey) (data []byte, width int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil, 0
	}
	c.order.MoveToFront(e)
	t := e.Value.(*cachedTile)
	return t.data, t.width
}

// put keeps a tile, unless more of it is kept or it is larger than the cache, and
// drops those that were not used for the longest time to make room.
func (c *TileCache) put(key tileKey, data []byte, width int) {
	size := int64(cap(data)) + tileOverhead
	if size > c.most {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		if e.Value.(*cachedTile).width >= width {
			return
		}
		c.drop(e)
	}
	c.byKey[key] = c.order.PushFront(&cachedTile{key, data, width})
	for c.bytes += size; c.bytes > c.most; {
		c.drop(c.order.Back())
	}
}

// drop forgets a tile.
func (c *TileCache) drop(e *list.Element) {
	t := c.order.Remove(e).(*cachedTile)
	delete(c.byKey, t.key)
	c.bytes -= int64(cap(t.data)) + tileOverhead
}

// flight names the reading of a tile. Readers do not join a dealer's, nor dealers a
// reader's, for which they would wait behind readers.
func (k tileKey) flight(reader bool) string {
	return fmt.Sprintf("%d/%d/%d/%t", k.ledger, k.level, k.index, reader)
}
