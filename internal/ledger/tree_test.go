package ledger

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"strconv"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/keys"
)

// fullTree keeps every node for ever: the naive tree alongside ours.
type fullTree []tlog.Hash

func (f fullTree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = f[x]
	}
	return out, nil
}

func (f *fullTree) add(t *testing.T, n int64, leaf tlog.Hash) {
	t.Helper()
	hashes, err := tlog.StoredHashesForRecordHash(n, leaf, f)
	if err != nil {
		t.Fatal(err)
	}
	*f = append(*f, hashes...)
}

func testLeaf(n int64) tlog.Hash { return sha256.Sum256(strconv.AppendInt(nil, n, 10)) }

// TestTreeAgainstFullTree grows a tree in steps of every kind past two levels of
// tiles and holds root, proofs and tiles against a tree that forgets nothing.
func TestTreeAgainstFullTree(t *testing.T) {
	t.Parallel()
	var full fullTree
	tr := newTree()
	r := rand.New(rand.NewPCG(1, 2))
	size := int64(0)
	end := int64(70_000)
	if testing.Short() {
		end = 3_000
	}
	for size < end {
		step := []int64{1, 1, 2, 7, 255, 256, 257, 1024}[r.IntN(8)]
		leaves := make([]tlog.Hash, step)
		for i := range leaves {
			leaves[i] = testLeaf(size + int64(i))
			full.add(t, size+int64(i), leaves[i])
		}
		g, err := tr.Extend(leaves)
		if err != nil {
			t.Fatal(err)
		}
		checkGrowth(t, g, full, size)
		tiles, err := g.Tiles()
		if err != nil {
			t.Fatal(err)
		}
		for _, tile := range tiles {
			want, err := tlog.ReadTileData(tlog.Tile{H: tileHeight, L: tile.Level, N: int64(tile.Index), W: tileWidth},
				full)
			if err != nil || !bytes.Equal(want, tile.Data) {
				t.Fatalf("tile %d/%d at size %d differs (%v)", tile.Level, tile.Index, g.Size, err)
			}
		}
		tr.Grow(g)
		size += step
		checkEdge(t, tr, full)
	}
}

func checkGrowth(t *testing.T, g *Growth, full fullTree, from int64) {
	t.Helper()
	root, err := g.Root()
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := tlog.TreeHash(g.Size, full); root != want {
		t.Fatalf("the root at size %d differs", g.Size)
	}
	for _, index := range []int64{from, g.Size - 1} {
		proof, err := tlog.ProveRecord(g.Size, index, g)
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckRecord(proof, g.Size, root, index, testLeaf(index)); err != nil {
			t.Fatalf("the proof of %d in %d: %v", index, g.Size, err)
		}
	}
}

// checkEdge: partial tiles are served from memory, and nothing else is kept.
func checkEdge(t *testing.T, tr *tree, full fullTree) {
	t.Helper()
	kept := 0
	for level := 0; tr.Size>>(level*tileHeight) > 0; level++ {
		hashes := tr.Size >> (level * tileHeight)
		w := int(hashes % tileWidth)
		kept += 2 * w
		if w == 0 {
			continue
		}
		got, ok := tr.partial(level, hashes/tileWidth, w)
		want, err := tlog.ReadTileData(tlog.Tile{H: tileHeight, L: level, N: hashes / tileWidth, W: w}, full)
		if err != nil || !ok || !bytes.Equal(got, want) {
			t.Fatalf("partial tile of level %d at size %d differs (%v)", level, tr.Size, err)
		}
	}
	for _, n := range []int64{0, tr.Size - recentLeaves - 1, tr.Size - recentLeaves, tr.Size / 2, tr.Size - 1,
		tr.Size} {
		known := n >= 0 && n < tr.Size && n >= tr.Size-recentLeaves
		if h, ok := tr.leaf(n); ok != known || ok && h != testLeaf(n) {
			t.Fatalf("leaf %d at size %d: known %t, want %t", n, tr.Size, ok, known)
		}
	}
	if len(tr.Nodes) > kept {
		t.Fatalf("%d nodes are kept at size %d, at most %d are needed", len(tr.Nodes), tr.Size, kept)
	}
}

// TestTileCache: what is kept takes no more bytes than it may, what was used last
// stays, and of a bundle the most that was read.
func TestTileCache(t *testing.T) {
	t.Parallel()
	const size = 1000
	c := NewTileCache(3 * (size + tileOverhead))
	key := func(n int64) tileKey { return tileKey{ledger: 1, level: 0, index: n} }
	tile := func(n int64) []byte { return bytes.Repeat([]byte{byte(n)}, size) }
	for n := range int64(3) {
		c.put(&cachedTile{key(n), tile(n), tileWidth})
	}
	if data, _ := c.get(key(0)); data == nil { // now 1 is the oldest
		t.Fatal("nothing is kept")
	}
	c.put(&cachedTile{key(3), tile(3), tileWidth})
	for n, want := range map[int64]bool{0: true, 1: false, 2: true, 3: true} {
		data, width := c.get(key(n))
		if kept := data != nil; kept != want || kept && (width != tileWidth || !bytes.Equal(data, tile(n))) {
			t.Errorf("tile %d: %t of width %d", n, kept, width)
		}
	}
	for n := range int64(100) {
		c.put(&cachedTile{key(n), tile(n), tileWidth})
		if c.bytes > c.most || c.tiles.Len() > 3 {
			t.Fatalf("%d bytes of %d in %d tiles", c.bytes, c.most, c.tiles.Len())
		}
	}
	large := tileKey{ledger: 2, level: -1}
	c.put(&cachedTile{large, make([]byte, 4*size), 7})
	if data, _ := c.get(large); data != nil || c.tiles.Len() != 3 {
		t.Error("a bundle larger than the cache is kept, or others made room for it")
	}
	c.put(&cachedTile{large, make([]byte, 10), 7})
	c.put(&cachedTile{large, make([]byte, 5), 3})
	if data, width := c.get(large); width != 7 || len(data) != 10 {
		t.Errorf("of a bundle %d entries are kept in %d bytes", width, len(data))
	}
	c.put(&cachedTile{large, make([]byte, 20), 9})
	if data, width := c.get(large); width != 9 || len(data) != 20 {
		t.Errorf("of a bundle that grew %d entries are kept in %d bytes", width, len(data))
	}
	if _, width := c.get(tileKey{ledger: 3, level: -1}); width != 0 {
		t.Error("another ledger's bundle")
	}
}

// BenchmarkSignHead signs the checkpoint of a batch, without and with the line of ML-DSA-44.
func BenchmarkSignHead(b *testing.B) {
	short, err := keys.GenerateSigning("bench.example/main")
	if err != nil {
		b.Fatal(err)
	}
	long, err := keys.GenerateMLDSA("bench.example/main")
	if err != nil {
		b.Fatal(err)
	}
	for name, signers := range map[string][]note.Signer{"Ed25519": {short.Signer()},
		"both": {short.Signer(), long.At(0)}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := SignHead(1_000_000, tlog.Hash{1}, signers...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
