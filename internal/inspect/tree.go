package inspect

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/bundle"
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
	bundle.Edge
	now   *subtree            // of the chunk that is being folded
	known map[int64]tlog.Hash // nodes above the chunks that were asked for, by tlog's storage index
}

// knownNodes bounds the memory of nodes. One that was forgotten is computed again.
const knownNodes = 1 << 10

func newEdge() *edge { return &edge{known: make(map[int64]tlog.Hash)} }

// root returns the root of the first size entries, which end in the chunk that
// is being folded.
func (e *edge) root(size uint64) (tlog.Hash, error) { return tlog.TreeHash(int64(size), e) }

// ReadHashes implements tlog.HashReader.
func (e *edge) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	hashes = make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		if hashes[i], err = e.node(tlog.SplitStoredHashIndex(x)); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// node returns a node at the edge or in the chunk that is being folded, or one
// that this chunk completes.
func (e *edge) node(level int, n int64) (h tlog.Hash, err error) {
	chunks := int64(e.Size() / Width)
	if level < chunkLevels {
		if k := n - chunks<<(chunkLevels-1-level); k >= 0 {
			if e.now == nil || k >= int64(len(e.now[level])) {
				return h, fmt.Errorf("node %d of level %d is not kept", n, level)
			}
			return e.now[level][k], nil
		}
	} else if (n+1)<<(level-chunkLevels+1) > chunks {
		left, err := e.node(level-1, 2*n)
		if err != nil {
			return h, err
		}
		right, err := e.node(level-1, 2*n+1)
		return tlog.NodeHash(left, right), err
	}
	x := tlog.StoredHashIndex(level, n)
	if h, ok := e.known[x]; ok {
		return h, nil
	}
	hashes, err := e.Edge.ReadHashes([]int64{x})
	if err != nil {
		return h, err
	}
	if len(e.known) == knownNodes {
		clear(e.known)
	}
	e.known[x] = hashes[0]
	return hashes[0], nil
}
