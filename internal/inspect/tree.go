package inspect

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// chunkLevels are the levels of the tree inside a chunk: 0, the leaves, to 8,
// its one node above all of them.
const chunkLevels = 9

// subtree is the part of the tree over one chunk: complete nodes by level.
type subtree [chunkLevels][]tlog.Hash

// newSubtree pairs up the leaves of a chunk, 1 to Width of them.
func newSubtree(hasher *treeHasher, leaves []tlog.Hash) (s subtree) {
	nodes := make([]tlog.Hash, Width)
	s[0] = leaves
	for level := 1; level < chunkLevels; level++ {
		below := s[level-1]
		n := len(below) / 2
		for i := range n {
			hasher.nodeHash(&nodes[i], &below[2*i], &below[2*i+1])
		}
		s[level], nodes = nodes[:n:n], nodes[n:]
	}
	return s
}

// top returns the node over all of a full chunk.
func (s *subtree) top() tlog.Hash { return s[chunkLevels-1][0] }

// edge is the right edge of the tree above the chunks: what roots at sizes to
// come still need. It belongs to the fold.
type edge struct {
	chunks int64               // folded
	nodes  map[int64]tlog.Hash // by tlog's storage index: the newest nodes of levels 8 and up
	tiles  [][]byte            // the newest hashes of the tile levels 1, 2 …, less than Width of each
	full   func(full fullTile) // called with each tile of level 1 and up that is complete
	now    *subtree            // of the chunk that is being folded
}

// fullTile is a tile that is complete.
type fullTile struct {
	level  int
	index  uint64
	hashes []byte
}

func newEdge() *edge { return &edge{nodes: make(map[int64]tlog.Hash)} }

// add makes the node over a full chunk part of the edge.
func (e *edge) add(top tlog.Hash) {
	level, n, h := chunkLevels-1, e.chunks, top
	e.tile(level, n, h)
	e.nodes[tlog.StoredHashIndex(level, n)] = h
	for n&1 == 1 {
		left := tlog.StoredHashIndex(level, n-1)
		h = tlog.NodeHash(e.nodes[left], h)
		delete(e.nodes, left)
		delete(e.nodes, tlog.StoredHashIndex(level, n))
		level, n = level+1, n>>1
		e.tile(level, n, h)
		e.nodes[tlog.StoredHashIndex(level, n)] = h
	}
	e.chunks++
}

// tile appends a node of every eighth level to the tile it stands in.
func (e *edge) tile(level int, n int64, h tlog.Hash) {
	if level%8 != 0 {
		return
	}
	l := level/8 - 1
	if l == len(e.tiles) {
		e.tiles = append(e.tiles, nil)
	}
	e.tiles[l] = append(e.tiles[l], h[:]...)
	if len(e.tiles[l]) == Width*tlog.HashSize {
		if e.full != nil {
			e.full(fullTile{level: level / 8, index: uint64(n) / Width, hashes: e.tiles[l]})
		}
		e.tiles[l] = nil
	}
}

// root returns the root of the first size entries, which end in the chunk that
// is being folded.
func (e *edge) root(size uint64) (tlog.Hash, error) { return tlog.TreeHash(int64(size), e) }

// ReadHashes implements tlog.HashReader.
func (e *edge) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		var ok bool
		if hashes[i], ok = e.node(tlog.SplitStoredHashIndex(x)); !ok {
			return nil, fmt.Errorf("node %d is not kept", x)
		}
	}
	return hashes, nil
}

// node returns a node at the edge or in the chunk that is being folded, or one
// that this chunk completes.
func (e *edge) node(level int, n int64) (h tlog.Hash, ok bool) {
	if h, ok = e.nodes[tlog.StoredHashIndex(level, n)]; ok {
		return h, true
	}
	if level >= chunkLevels {
		left, ok := e.node(level-1, 2*n)
		if !ok {
			return h, false
		}
		right, ok := e.node(level-1, 2*n+1)
		return tlog.NodeHash(left, right), ok
	}
	if e.now == nil {
		return h, false
	}
	k := n - e.chunks<<(chunkLevels-1-level)
	if k < 0 || k >= int64(len(e.now[level])) {
		return h, false
	}
	return e.now[level][k], true
}
