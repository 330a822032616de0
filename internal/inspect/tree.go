package inspect

import (
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/bundle"
)

// chunkLevels is the number of levels of the tree in a chunk, from the leaves at level 0 to the one node at level 8.
const chunkLevels = 9

// subtree is the complete nodes over one chunk, by level.
type subtree [chunkLevels][]tlog.Hash

// newSubtree makes the nodes over the leaves of a chunk, 1 to Width of them.
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

// edge is the right edge of the tree above the chunks: the nodes that roots at later sizes
// need. It belongs to the fold.
type edge struct {
	bundle.Edge
	peaks []tlog.Hash // roots of the largest full trees over the chunks before now, from the left
	now   *subtree    // of the chunk that is being folded
}

// addTop appends a full chunk of which only the node over all of it is known.
func (e *edge) addTop(top tlog.Hash, full bundle.Full) error {
	e.peaks = append(e.peaks, top)
	for chunks := e.Size() / Width; chunks%2 == 1; chunks /= 2 { // as many pairs as the new chunk completes
		n := len(e.peaks) - 2
		e.peaks = append(e.peaks[:n], tlog.NodeHash(e.peaks[n], e.peaks[n+1]))
	}
	return e.AddTop(top, full)
}

// root returns the root of the first size entries, which end in the chunk that is being folded.
func (e *edge) root(size uint64) (root tlog.Hash, ok bool) {
	if e.now == nil || size < e.Size()+1 || size > e.Size()+uint64(len(e.now[0])) {
		return root, false
	}
	in := size - e.Size() // entries of the chunk
	for level := range e.now {
		if in>>level&1 == 1 {
			root, ok = join(e.now[level][in>>level-1], root, ok), true
		}
	}
	for _, peak := range slices.Backward(e.peaks) {
		root = join(peak, root, true)
	}
	return root, true
}

// join returns the node over a full tree and the tree that follows it, or left if none does.
func join(left, right tlog.Hash, follows bool) tlog.Hash {
	if !follows {
		return left
	}
	return tlog.NodeHash(left, right)
}
