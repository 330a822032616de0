package openings

import (
	"bytes"
	"testing"

	"shuffled/internal/audit/spec"
)

// FuzzParseTranscript: whatever parses has the same bytes, and the reference's.
func FuzzParseTranscript(f *testing.F) {
	v := loadTranscripts(f)
	var corpus [][]byte
	for _, c := range append(v.Good, v.Bad...) {
		corpus = append(corpus, []byte(c.Text))
	}
	spec.Seeds(f, 40, corpus)
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := ParseTranscript(b)
		if err != nil {
			if got := spec.FaultOf(err); got != spec.Malformed && got != spec.Unknown {
				t.Fatal(got)
			}
			return
		}
		if again, err := tr.Marshal(); err != nil || !bytes.Equal(again, b) || refTranscript(tr) != string(b) {
			t.Fatalf("%q is written as %q, %v", b, again, err)
		}
		for _, c := range tr.Cards {
			if _, err := c.Opening(); err != nil && spec.FaultOf(err) != spec.Malformed {
				t.Fatal(err)
			}
		}
	})
}

// FuzzHashes compares the pure hashes with the reference.
func FuzzHashes(f *testing.F) {
	n := 0
	for i, c := range spec.WholeContexts() {
		key := spec.KeyTagCases()[i].Key
		f.Add(c.Bytes(), []byte(spec.BytesOf("tape", 129)), spec.SampleOrigin, "dealer-1", "table-7", key)
		n++
	}
	for _, c := range spec.KeyTagCases() {
		f.Add([]byte{1}, []byte(spec.BytesOf("tape", 60)), spec.SampleOrigin, "dealer-1", "table-7", c.Key)
		n++
	}
	if n < 15 {
		f.Fatalf("only %d seeds", n)
	}
	f.Fuzz(func(t *testing.T, context, tape []byte, origin, identity, table, key string) {
		if len(context) > 65_535 || len(origin) > 255 || len(identity) > 255 || len(table) > 255 || len(key) > 255 {
			return // no caller has such: the prefixes could not hold their lengths
		}
		holdHashes(t, context, tape, origin, identity, table, key)
	})
}

// FuzzDeckTree compares deck root and an opening with the recursive definition.
func FuzzDeckTree(f *testing.F) {
	sizes := []uint16{1, 2, 3, 4, 5, 7, 8, 9, 52, 63, 64, 65, 104, 416, 4095, 4096}
	for _, n := range sizes {
		f.Add(n, n-1, []byte{byte(n)})
	}
	f.Fuzz(func(t *testing.T, n, p uint16, seed []byte) {
		if n == 0 || n > 4096 || p >= n {
			return
		}
		tag := LeafTag([32]byte{byte(p)}, seed)
		salts, values := spec.BytesOf(string(seed), 32*int(n)), make([]uint32, n)
		var leaves [][]byte
		for i := range values {
			values[i] = uint32(len(seed)) << (i % 32)
			leaves = append(leaves, spec.Leaf(tag[:], uint16(i), values[i], salts[32*i:32*i+32]))
		}
		tree := NewDeckTree(tag, values, salts)
		root, o := tree.Root(), tree.Open(int(p))
		if !bytes.Equal(root[:], spec.Root(leaves)) ||
			!spec.Opens(tag[:], root[:], int(n), int(p), o.Value, o.Salt[:], spec.Hashes(o.Proof)) || o.Check(tag, root,
			int(n)) != nil {
			t.Fatalf("position %d of %d: root %x, opening %+v", p, n, root, o)
		}
	})
}
