package inspect

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"hash"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/bundle"
)

// treeHasher computes what openings.DeckRoot and tlog.NodeHash compute (TestTreeHasher)
// in two thirds of the time, for audits of millions of shuffles.
//
// When crypto/sha256 hashes many short strings, it spends as much time on padding and copies as on blocks. The
// treeHasher pads the strings once, and reads the hash from the state after whole blocks. If that state is not where it
// is expected, it calls the plain functions.
//
// A treeHasher belongs to one goroutine.
type treeHasher struct {
	h     hash.Hash
	inner encoding.BinaryAppender // h, to read its state; nil: the plain functions are called
	state [128]byte
	leaf  [64]byte  // a leaf's 55 bytes, padded
	node  [128]byte // a node's 65 bytes, padded
	level []tlog.Hash
}

func newTreeHasher() *treeHasher {
	if fastTrees() {
		return fastTreeHasher()
	}
	return new(treeHasher)
}

// fastTrees reports whether a treeHasher gives the root of the plain tree.
var fastTrees = sync.OnceValue(func() bool {
	t, values := fastTreeHasher(), []uint32{2, 0, 1}
	return t.inner != nil && t.deckRoot([32]byte{}, nil, nil, values) == openings.DeckRoot([32]byte{}, nil, nil, values)
})

func fastTreeHasher() *treeHasher {
	t := &treeHasher{h: sha256.New()}
	t.inner, _ = t.h.(encoding.BinaryAppender)
	pad(t.leaf[:], 55)
	t.node[0] = 0x01
	pad(t.node[:], 65)
	return t
}

// pad ends a message of n bytes as FIPS 180-4 section 5.1.1 says.
func pad(blocks []byte, n int) {
	blocks[n] = 0x80
	binary.BigEndian.PutUint64(blocks[len(blocks)-8:], uint64(8*n))
}

// sum hashes blocks, which are padded.
func (t *treeHasher) sum(blocks []byte, to *tlog.Hash) {
	t.h.Reset()
	t.h.Write(blocks)
	// Four bytes of magic, then the eight words of the state.
	state, _ := t.inner.AppendBinary(t.state[:0])
	copy(to[:], state[min(4, len(state)):])
}

// deckRoot is openings.DeckRoot. It does not clear the salts: the tape is disclosed.
func (t *treeHasher) deckRoot(commitment [32]byte, context, tape []byte, values []uint32) tlog.Hash {
	if t.inner == nil {
		return openings.DeckRoot(commitment, context, tape, values)
	}
	tag, salts := openings.LeafTag(commitment, context), openings.Salts(commitment, tape, len(values))
	copy(t.leaf[1:17], tag[:]) // docs/SPEC.md section 6.3
	level := t.level[:0]
	for p, v := range values {
		binary.BigEndian.PutUint16(t.leaf[17:], uint16(p))
		binary.BigEndian.PutUint32(t.leaf[19:], v)
		copy(t.leaf[23:55], salts[32*p:])
		level = append(level, tlog.Hash{})
		t.sum(t.leaf[:], &level[p])
	}
	t.level = level
	for n := len(level); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			t.nodeHash(&level[i], &level[2*i], &level[2*i+1])
		}
		if n%2 == 1 { // the last node has no neighbour and moves up
			level[n/2] = level[n-1]
		}
	}
	return level[0]
}

// nodeHash puts tlog.NodeHash(left, right) into to, which may be left.
func (t *treeHasher) nodeHash(to, left, right *tlog.Hash) {
	if t.inner == nil {
		*to = tlog.NodeHash(*left, *right)
		return
	}
	copy(t.node[1:33], left[:])
	copy(t.node[33:65], right[:])
	t.sum(t.node[:], to)
}

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
	return e.Add(1, top[:], full)
}

// root returns the root of the first size entries, which end in the chunk that is being folded. ok is false if it
// cannot be known: hashes of the chunk are lost, or those of an earlier chunk, where the edge ended then.
func (e *edge) root(size uint64) (root tlog.Hash, ok bool) {
	if e.now == nil || size < e.Size()+1 || size > e.Size()+uint64(len(e.now[0])) {
		return root, false
	}
	full := slices.Clone(e.peaks) // the full trees that make up the tree, from the left
	in := size - e.Size()         // entries of the chunk
	for level := chunkLevels - 1; level >= 0; level-- {
		if in>>level&1 == 1 {
			full = append(full, e.now[level][in>>level-1])
		}
	}
	root = full[len(full)-1]
	for _, left := range slices.Backward(full[:len(full)-1]) {
		root = tlog.NodeHash(left, root)
	}
	return root, true
}

// claim is a checkpoint of the other ledger that an entry of one ledger holds.
type claim struct {
	size, entry uint64
	root        tlog.Hash
}

const claimLen = 8 + 32 + 8

// heads compares claims with the tree of the ledger that src holds, in one pass over the hashes of its entries. It
// returns how many checkpoints have another root than the tree, and the first claim of the smallest of them.
func heads(ctx context.Context, src Source, size uint64, claims *workFiles) (first claim, count uint64, err error) {
	e, hasher := new(edge), newTreeHasher()
	var due []claim
	part := 0
	for n := uint64(0); n*Width < size; n++ {
		if err := ctx.Err(); err != nil {
			return first, count, err
		}
		leaves, err := leavesOf(ctx, src, n, int(min(Width, size-n*Width)))
		if err != nil {
			return first, count, err
		}
		tree := newSubtree(hasher, leaves)
		e.now = &tree
		for {
			for ; len(due) == 0 && part < workParts; part++ {
				if due, err = claimsOf(claims, part); err != nil {
					return first, count, err
				}
			}
			if len(due) == 0 {
				return first, count, nil
			}
			if due[0].size > n*Width+uint64(len(leaves)) {
				break
			}
			if root, ok := e.root(due[0].size); !ok || root != due[0].root {
				if count++; count == 1 || due[0].size == first.size && due[0].entry < first.entry {
					first = due[0]
				}
			}
			due = due[1:]
		}
		if len(leaves) == Width {
			if err := e.addTop(tree.top(), func(int, uint64, []byte) error { return nil }); err != nil {
				return first, count, err
			}
		}
	}
	return first, count, nil
}

// leavesOf reads the hashes of a chunk's entries again. It reads the entries if their tile is damaged or not kept: a
// database does not keep that of its last chunk.
func leavesOf(ctx context.Context, src Source, n uint64, width int) ([]tlog.Hash, error) {
	data, _, err := src.Tile(ctx, 0, n, width)
	if _, damaged := errors.AsType[*Damage](err); data != nil || err != nil && !damaged {
		return hashes(data), err
	}
	c, err := src.Chunk(ctx, n, width)
	leaves := make([]tlog.Hash, 0, width)
	for _, entry := range c.Entries {
		leaves = append(leaves, tlog.RecordHash(entry))
	}
	return leaves, err
}

// claim adds a checkpoint of a ledger of size entries that the entry of this index holds.
func (w *workFiles) claim(size uint64, h audit.Head, index uint64) {
	if h.Size >= 1 && h.Size <= size {
		c := append(binary.BigEndian.AppendUint64(nil, h.Size), h.Root[:]...)
		w.put(h.Size*(workParts-1)/size, binary.BigEndian.AppendUint64(c, index))
	}
}

// claimsOf reads a part, by size. It returns each checkpoint once, with the first entry that holds it.
func claimsOf(claims *workFiles, part int) (all []claim, err error) {
	b, err := claims.read(part)
	for ; len(b) > 0; b = b[claimLen:] {
		all = append(all, claim{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[40:]), tlog.Hash(b[8:40])})
	}
	slices.SortFunc(all, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.size, b.size), slices.Compare(a.root[:], b.root[:]), cmp.Compare(a.entry, b.entry))
	})
	return slices.CompactFunc(all, func(a, b claim) bool { return a.size == b.size && a.root == b.root }), err
}
