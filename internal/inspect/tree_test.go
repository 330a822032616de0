package inspect

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"

	"golang.org/x/mod/sumdb/tlog"
)

// TestEdge: at every size the edge gives the root that tlog computes from all nodes,
// and hands over the tiles that tlog makes of them.
func TestEdge(t *testing.T) {
	t.Parallel()
	const size = Width*Width + 3*Width + 17
	random := rand.New(rand.NewPCG(1, 2))
	all := make(storage, 0, 2*size)
	leaves := make([]tlog.Hash, size)
	for i := range leaves {
		binary.BigEndian.PutUint64(leaves[i][:], random.Uint64())
		nodes, err := tlog.StoredHashesForRecordHash(int64(i), leaves[i], all)
		must(t, err)
		all = append(all, nodes...)
	}
	tiles := 0
	compare := func(level int, index uint64, hashes []byte) error {
		tile := tlog.Tile{H: 8, L: level, N: int64(index), W: len(hashes) / tlog.HashSize}
		want, err := tlog.ReadTileData(tile, all)
		if err != nil || !bytes.Equal(hashes, want) {
			t.Errorf("tile %d/%d of %d hashes is another, %v", level, index, tile.W, err)
		}
		tiles++
		return nil
	}
	e, hasher := new(edge), newTreeHasher()
	for first := 0; first < size; first += Width {
		end := min(first+Width, size)
		now := newSubtree(hasher, leaves[first:end])
		e.now = &now
		for _, n := range []int{first + 1, first + 1 + random.IntN(end-first), end} {
			got, ok := e.root(uint64(n))
			if want, _ := tlog.TreeHash(int64(n), all); !ok || got != want {
				t.Fatalf("the root at %d is another, %t", n, ok)
			}
		}
		if end-first == Width {
			must(t, e.addTop(now.top(), compare))
		}
		e.now = nil
	}
	if _, ok := e.root(Width + 5); ok {
		t.Error("the edge gave a root that only forgotten nodes lead to")
	}
	if e.Size() != size/Width*Width || tiles != 1 {
		t.Errorf("%d entries, %d full tiles above the leaves", e.Size(), tiles)
	}
	must(t, e.Partial(compare))
	if tiles != 3 { // of the levels 1 and 2
		t.Errorf("%d tiles", tiles)
	}
}

// storage is all nodes of a tree, in tlog's order.
type storage []tlog.Hash

func (s storage) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	for _, x := range indexes {
		hashes = append(hashes, s[x])
	}
	return hashes, nil
}

// TestTreeHasher holds the fast tree against the plain one, for every number of positions up to 260 and some more, with
// buffers that were used before, and without the shortcut.
func TestTreeHasher(t *testing.T) {
	t.Parallel()
	if !fastTrees() {
		t.Error("the state of SHA-256 is not where it is expected: deck roots are right, but slow")
	}
	fast, plain := newTreeHasher(), new(treeHasher)
	for n := shuffle.MaxCards; n >= 1; n-- {
		if n > 260 && n%397 != 0 && n&(n-1) != 0 && (n+1)&n != 0 {
			continue
		}
		commitment := sha256.Sum256(binary.BigEndian.AppendUint32(nil, uint32(n)))
		tape, values := commitment[:], make([]uint32, n)
		for p := range values {
			values[p] = uint32(p)*2654435761 + uint32(n)
		}
		context := binary.BigEndian.AppendUint32(nil, uint32(n))
		want := openings.DeckRoot(commitment, context, tape, values)
		if got := fast.deckRoot(commitment, context, tape, values); got != want {
			t.Fatalf("%d positions: root %v, want %v", n, got, want)
		}
		if got := plain.deckRoot(commitment, context, tape, values); got != want {
			t.Fatalf("%d positions: root %v without the shortcut, want %v", n, got, want)
		}
	}
}

// TestTreeHasherNodes: a node's hash may take the place of its left part.
func TestTreeHasherNodes(t *testing.T) {
	t.Parallel()
	left, right := tlog.RecordHash([]byte("left")), tlog.RecordHash([]byte("right"))
	for name, hasher := range map[string]*treeHasher{"fast": fastTreeHasher(), "plain": new(treeHasher)} {
		got := left
		for range 3 {
			want := tlog.NodeHash(got, right)
			if hasher.nodeHash(&got, &got, &right); got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
}
