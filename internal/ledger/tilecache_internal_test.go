package ledger

import (
	"bytes"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/keys"
)

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
