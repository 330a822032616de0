package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/shuffle"
)

// TestDeckRootIsTlogs: both functions give the root of tlog's tree for every number of positions.
func TestDeckRootIsTlogs(t *testing.T) {
	most := shuffle.MaxCards
	if testing.Short() {
		most = 300
	}
	tape := bytesOf("tape", 300)
	for n := 1; n <= most; n++ {
		if n > 260 && n%97 != 0 && n&(n-1) != 0 && (n+1)&n != 0 && n != most {
			continue
		}
		var commitment [32]byte
		binary.BigEndian.PutUint32(commitment[5:], uint32(n))
		commitment = sha256.Sum256(commitment[:])
		tape := tape[:1+n%len(tape)]
		context := bytesOf("context", n%70)
		tag := LeafTag(commitment, context)
		salts := Salts(commitment, tape, n)
		values := make([]uint32, n)
		var nodes []tlog.Hash
		for p := range values {
			values[p] = uint32(p)*2654435761 + uint32(n)
			more, err := tlog.StoredHashesForRecordHash(int64(p), leafHash(tag, p, values[p], salts[32*p:]),
				storedHashes(nodes))
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, more...)
		}
		want, err := tlog.TreeHash(int64(n), storedHashes(nodes))
		if err != nil {
			t.Fatal(err)
		}
		if got := DeckRoot(commitment, context, tape, values); got != want {
			t.Fatalf("%d positions: root %v, want %v", n, got, want)
		}
		if got := NewDeckTree(tag, values, salts).Root(); got != want {
			t.Fatalf("%d positions: root %v of the tree, want %v", n, got, want)
		}
	}
}

// storedHashes reads nodes in tlog's storage order.
type storedHashes []tlog.Hash

func (r storedHashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = r[x]
	}
	return out, nil
}

func BenchmarkDeckRoot(b *testing.B) {
	r := shuffle.Recipe{Cards: 52, Take: 52}
	tape := bytesOf("tape", r.TapeLen())
	out, err := r.Run(tape)
	if err != nil {
		b.Fatal(err)
	}
	commitment := [32]byte(bytesOf("commitment", 32))
	context := bytesOf("context", 200)
	b.ReportAllocs()
	for b.Loop() {
		DeckRoot(commitment, context, tape, out.Values)
	}
}
