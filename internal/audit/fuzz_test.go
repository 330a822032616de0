package audit_test

import (
	"bytes"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// FuzzParseEntry: whatever parses encodes to the same bytes.
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
	spec.Seeds(f, 200, corpus)
	f.Fuzz(func(t *testing.T, b []byte) { mustBeCanonical(t, b) })
}

// FuzzParseContext: whatever parses encodes to the same bytes, and has a tape within the limits.
func FuzzParseContext(f *testing.F) {
	var corpus [][]byte
	for _, c := range loadEntries(f).Good {
		if c.Entry.Commit != nil {
			corpus = append(corpus, c.Entry.Commit.Context.Bytes())
		}
	}
	spec.Seeds(f, 20, corpus)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := audit.ParseContext(b)
		if err != nil {
			if got := spec.FaultOf(err); got != spec.Malformed && got != spec.Unknown {
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
	spec.Seeds(f, 60, corpus)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := audit.ParseReceipt(text)
		if err != nil {
			// Unknown is a later version of the receipt, and only that.
			if f := spec.FaultOf(err); f != spec.Malformed &&
				(f != spec.Unknown || !strings.HasPrefix(text, "c2sp.org/tlog-proof@v")) {
				t.Fatal(err)
			}
			return
		}
		if r.Text() != text || len(r.Entry) == 0 || r.Index > spec.MaxInteger || len(r.Proof) > 63 {
			t.Fatalf("%q reads as %+v", text, r)
		}
		if c, err := audit.CheckpointText(r.Checkpoint); err == nil && r.CheckInclusion(c) == nil && r.Index >= c.Size {
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
	h := spec.NewHouse()
	for n := 1; n <= 11; n++ {
		corpus = append(corpus, h.Text(n), h.Cosigned(n))
	}
	spec.Seeds(f, 40, corpus)
	key := spec.HouseVerifier(f, v.VKey)
	signed := make(map[string]bool)
	for _, c := range v.Checkpoints {
		if c.Step == proved {
			signed[spec.Checkpoint(c.Origin, c.Size, c.Root)] = true
		}
	}
	for n := 1; n <= 11; n++ {
		signed[h.Text(n)] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := audit.ParseCheckpoint(text); err == nil && c.Text() != text {
			t.Fatalf("%q reads as %+v", text, c)
		} else if err != nil && spec.FaultOf(err) != spec.Malformed {
			t.Fatal(err)
		}
		if c, err := audit.OpenCheckpoint([]byte(text), key); err == nil && !signed[c.Text()] {
			t.Fatalf("%q opens, and was never signed", text)
		}
	})
}
