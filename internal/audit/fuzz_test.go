package audit

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// seeds adds a corpus and fails when there is none.
func seeds[T any](f *testing.F, atLeast int, corpus []T) {
	f.Helper()
	if len(corpus) < atLeast {
		f.Fatalf("only %d seeds", len(corpus))
	}
	for _, s := range corpus {
		f.Add(s)
	}
}

// FuzzParseEntry: whatever parses encodes to the same bytes, and says the same
// to the legality of an empty ledger and of one that has begun.
func FuzzParseEntry(f *testing.F) {
	v := loadEntries(f)
	var corpus [][]byte
	for _, c := range v.Good {
		corpus = append(corpus, c.Bytes)
	}
	for _, c := range v.Bad {
		if len(c.Bytes) < 2000 {
			corpus = append(corpus, c.Bytes)
		}
	}
	seeds(f, 200, corpus)
	begun := newStory().entries
	f.Fuzz(func(t *testing.T, b []byte) {
		mustBeCanonical(t, b)
		e, err := ParseEntry(b)
		if err != nil {
			return
		}
		m := model{}
		for _, next := range []Entry{begun[0].entry(), begun[1].entry()} {
			if got, want := codeOf(fold(t, m).Apply(e)), m.rule(e); got != want {
				t.Fatalf("after %d entries: %s, want %s: %+v", len(m), got, want, e.Body)
			}
			m = append(m, next)
		}
		if got, want := codeOf(fold(t, m).Apply(e)), m.rule(e); got != want {
			t.Fatalf("after two entries: %s, want %s: %+v", got, want, e.Body)
		}
	})
}

// FuzzCheckShuffle: any entries at any indexes get a verdict.
func FuzzCheckShuffle(f *testing.F) {
	seeds(f, 200, ledgerSeeds(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		var placed []Placed
		index := uint64(0)
		for i, e := range unframed(b) {
			if e.Body == nil {
				return
			}
			placed = append(placed, Placed{index, e})
			index += 1 + uint64(b[i])%3
		}
		err := CheckShuffle(placed)
		if rule := codeOf(err); rule != holds && !slices.Contains(rules, rule) && faultOf(err) != malformed &&
			faultOf(err) != unknown {
			t.Fatal(err)
		}
	})
}

// FuzzParseContext: whatever parses encodes to the same bytes, and has a tape within the limits.
func FuzzParseContext(f *testing.F) {
	var corpus [][]byte
	for _, c := range loadEntries(f).Good {
		if c.Entry.Commit != nil {
			corpus = append(corpus, c.Entry.Commit.Context.bytes())
		}
	}
	seeds(f, 20, corpus)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ParseContext(b)
		if err != nil {
			if got := faultOf(err); got != malformed && got != unknown {
				t.Fatal(got)
			}
			return
		}
		if again := c.Encode(); !bytes.Equal(again, b) {
			t.Fatalf("%x parses to %+v, which encodes to %x", b, c, again)
		}
		if n := c.Recipe.TapeLen(); n < 52 || n > 32_768 || c.Recipe.Positions() < 1 || c.Recipe.Positions() > 4096 {
			t.Fatalf("%d positions, a tape of %d bytes", c.Recipe.Positions(), n)
		}
	})
}

// FuzzParseReceipt: whatever parses has the same text.
func FuzzParseReceipt(f *testing.F) {
	var corpus []string
	for _, c := range loadReceipts(f).Receipts {
		if len(c.Text) < 4000 {
			corpus = append(corpus, c.Text)
		}
	}
	seeds(f, 60, corpus)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReceipt(text)
		if err != nil {
			// Unknown is a later version of the receipt, and only that.
			if f := faultOf(err); f != malformed &&
				(f != unknown || !strings.HasPrefix(text, "c2sp.org/tlog-proof@v")) {
				t.Fatal(err)
			}
			return
		}
		if r.Text() != text || len(r.Entry) == 0 || r.Index > maxInteger || len(r.Proof) > 63 {
			t.Fatalf("%q reads as %+v", text, r)
		}
		if c, err := CheckpointText(r.Checkpoint); err == nil && r.CheckInclusion(c) == nil && r.Index >= c.Size {
			t.Fatalf("included at %d of %d", r.Index, c.Size)
		}
	})
}

// FuzzParseCheckpoint: whatever parses has the same text, and so a signed one that opens has a text that was signed.
func FuzzParseCheckpoint(f *testing.F) {
	v := loadReceipts(f)
	var corpus []string
	for _, c := range v.Checkpoints {
		if len(c.Signed) < 4000 {
			corpus = append(corpus, c.Signed)
		}
	}
	h := newHouse()
	for n := 1; n <= 11; n++ {
		corpus = append(corpus, h.text(n), h.cosigned(n))
	}
	seeds(f, 40, corpus)
	key := houseVerifier(f, v.VKey)
	signed := make(map[string]bool)
	for _, c := range v.Checkpoints {
		if c.Step == proved {
			signed[refCheckpoint(c.Origin, c.Size, c.Root)] = true
		}
	}
	for n := 1; n <= 11; n++ {
		signed[h.text(n)] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCheckpoint(text); err == nil && c.Text() != text {
			t.Fatalf("%q reads as %+v", text, c)
		} else if err != nil && faultOf(err) != malformed {
			t.Fatal(err)
		}
		if c, err := OpenCheckpoint([]byte(text), key); err == nil && !signed[c.Text()] {
			t.Fatalf("%q opens, and was never signed", text)
		}
	})
}

// FuzzParseTranscript: whatever parses has the same bytes, and the reference's.
func FuzzParseTranscript(f *testing.F) {
	v := loadTranscripts(f)
	var corpus [][]byte
	for _, c := range append(v.Good, v.Bad...) {
		corpus = append(corpus, []byte(c.Text))
	}
	seeds(f, 40, corpus)
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := ParseTranscript(b)
		if err != nil {
			if got := faultOf(err); got != malformed && got != unknown {
				t.Fatal(got)
			}
			return
		}
		if again, err := tr.Marshal(); err != nil || !bytes.Equal(again, b) || refTranscript(tr) != string(b) {
			t.Fatalf("%q is written as %q, %v", b, again, err)
		}
		for _, c := range tr.Cards {
			if _, err := c.Opening(); err != nil && faultOf(err) != malformed {
				t.Fatal(err)
			}
		}
	})
}

// FuzzHashes compares the pure hashes with the reference.
func FuzzHashes(f *testing.F) {
	v := loadHashes(f)
	n := 0
	for i, c := range v.Commitments {
		tag := v.KeyTags[i%len(v.KeyTags)]
		f.Add([]byte(c.Context), []byte(c.Tape), tag.Origin, tag.Identity, tag.Table, tag.Key)
		n++
	}
	for _, c := range v.KeyTags {
		f.Add([]byte{1}, []byte(bytesOf("tape", 60)), c.Origin, c.Identity, c.Table, c.Key)
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
		salts, values := bytesOf(string(seed), 32*int(n)), make([]uint32, n)
		var leaves [][]byte
		for i := range values {
			values[i] = uint32(len(seed)) << (i % 32)
			leaves = append(leaves, refLeaf(tag[:], uint16(i), values[i], salts[32*i:32*i+32]))
		}
		tree := NewDeckTree(tag, values, salts)
		root, o := tree.Root(), tree.Open(int(p))
		if !bytes.Equal(root[:], refRoot(leaves)) ||
			!refOpens(tag[:], root[:], int(n), int(p), o.Value, o.Salt[:], path(o.Proof)) || o.Check(tag, root,
			int(n)) != nil {
			t.Fatalf("position %d of %d: root %x, opening %+v", p, n, root, o)
		}
	})
}
