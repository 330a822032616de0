package openings

import (
	"crypto/sha256"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// benchReceipt is the receipt of that entry in a ledger of about a million.
func benchReceipt(tb testing.TB) audit.Receipt {
	e, _, _ := spec.BenchCommit(tb)
	b, err := e.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	r := audit.Receipt{Index: 1_000_003, Entry: b}
	for i := range 20 {
		r.Proof = append(r.Proof, tlog.Hash(spec.BytesOf("hash", 32*(i+1))[32*i:]))
	}
	text := audit.Checkpoint{Origin: spec.SampleOrigin, Size: 1_000_055, Root: r.Proof[0]}.Text()
	r.Checkpoint = []byte(text + "\n— " + spec.SampleOrigin + " " + string(make([]byte, 92)) + "\n")
	return r
}

// BenchmarkCommitBytes takes each pure function that makes a commit of 52 cards
// or reads one, except those of packages shuffle, entropy and seal.
func BenchmarkCommitBytes(b *testing.B) {
	e, tape, values := spec.BenchCommit(b)
	c := e.Body.(*audit.Commit)
	context := c.Context.Encode()
	entry, err := e.Encode()
	if err != nil {
		b.Fatal(err)
	}
	salts := Salts(c.Commitment, tape, len(values))
	tag := TagOf(c)
	tree, receipt := NewDeckTree(tag, values, salts), benchReceipt(b)
	head := audit.Checkpoint{Origin: spec.SampleOrigin, Size: 1_000_055, Root: tree.Root()}
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"key-tag", func() {
			audit.KeyTag(spec.SampleOrigin, "dealer-1", "table-7",
				"0199a1c2-7b3d-7c11-8e4f-0123456789ab")
		}},
		{"context-encode", func() { context = c.Context.Encode() }},
		{"commitment", func() { Commitment(context, tape) }},
		{"salts", func() { salts = Salts(c.Commitment, tape, len(values)) }},
		{"deck-tree", func() { tree = NewDeckTree(tag, values, salts) }},
		{"open", func() { tree.Open(17) }},
		{"entry-encode", func() { entry, _ = e.Encode() }},
		{"entry-parse", func() { _, err = audit.ParseEntry(entry) }},
		{"record-hash", func() { tlog.RecordHash(entry) }},
		{"receipt-text", func() { _ = receipt.Text() }},
		{"checkpoint-text", func() { _ = head.Text() }},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				part.run()
			}
		})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCompression is one block of SHA-256, by Sum256 and as a midstate is
// hashed: what the rest is measured against.
func BenchmarkCompression(b *testing.B) {
	b.Run("leaf-of-55-bytes", func(b *testing.B) {
		salt := make([]byte, 32)
		for b.Loop() {
			leafHash(Tag{}, 1, 2, salt)
		}
	})
	b.Run("node-of-65-bytes", func(b *testing.B) {
		var l, r tlog.Hash
		for b.Loop() {
			l = tlog.NodeHash(l, r)
		}
	})
	b.Run("block-of-1024", func(b *testing.B) {
		d, blocks := sha256.New(), make([]byte, 64*1024)
		for b.Loop() {
			d.Write(blocks)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/block")
	})
}
