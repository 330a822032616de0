package terms

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

func carWheel(t testing.TB) *Document {
	return must[*Document](t)(NewWheel([]Label{{"nothing", 9989}, {"a car", 10}, {"a trip", 1}}))
}

func TestLabel(t *testing.T) {
	d := carWheel(t)
	for value, want := range map[uint32]string{1: "nothing", 9989: "nothing", 9990: "a car", 9999: "a car",
		10_000: "a trip", 10_001: "", 0: "nothing"} {
		if got := d.Label(value); got != want {
			t.Errorf("%d shows %q, want %q", value, got, want)
		}
	}
}

func TestDocumentOf(t *testing.T) {
	d := carWheel(t)
	context := func(change func(*audit.Context)) *audit.Context {
		c := &audit.Context{Recipe: shuffle.Recipe{Ranges: []uint32{10_000, 10_000}},
			Terms: &audit.Terms{Kind: audit.TermsWheel, Hash: d.Hash()}}
		change(c)
		return c
	}
	for name, c := range map[string]struct {
		want   string
		change func(*audit.Context)
	}{
		"as committed": {"", func(*audit.Context) {}},
		"no terms":     {"no terms", func(c *audit.Context) { c.Terms = nil }},
		"another kind": {"the document is a wheel, and the terms are a pay_table",
			func(c *audit.Context) { c.Terms.Kind = audit.TermsPayTable }},
		"another hash": {"hash", func(c *audit.Context) { c.Terms.Hash[31]++ }},
		"other ranges": {"add up to 10000, and the draws are from 1 to 9999",
			func(c *audit.Context) { c.Recipe.Ranges = []uint32{9999, 9999} }},
	} {
		err := d.Of(context(c.change))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestMaxDocument: 65,536 bytes, and not one more.
func TestMaxDocument(t *testing.T) {
	var parts []any
	for i := range 949 {
		parts = append(parts, fmt.Sprintf("%064d", i), 1)
	}
	largest := wheel(append(parts, strings.Repeat("y", 48), 1)...) // 2 + 949·69 + 53
	if len(largest) != 65_536 {
		t.Fatal(len(largest))
	}
	over := wheel(append(parts, strings.Repeat("y", 49), 1)...)
	text := bytes.Repeat([]byte("a"), 65_537)
	for _, c := range []struct {
		kind audit.TermsKind
		b    []byte
		want string
	}{
		{audit.TermsWheel, largest, "ok"}, {audit.TermsWheel, over, "malformed"},
		{audit.TermsPayTable, text[:65_536], "ok"}, {audit.TermsPayTable, text, "malformed"},
	} {
		if _, err := Parse(c.kind, c.b); verdict(err) != c.want {
			t.Errorf("a %s of %d bytes: %v, want %s", c.kind, len(c.b), err, c.want)
		}
	}
	labels := make([]Label, 949, 950)
	for i := range labels {
		labels[i] = Label{fmt.Sprintf("%064d", i), 1}
	}
	if _, err := NewWheel(append(labels, Label{strings.Repeat("y", 49), 1})); err == nil {
		t.Error("a wheel of 65,537 bytes is made")
	}
	if _, err := NewWheel(append(labels, Label{strings.Repeat("y", 48), 1})); err != nil {
		t.Error(err)
	}
}

// FuzzParse: whatever parses has the same bytes, and every value its label.
func FuzzParse(f *testing.F) {
	for _, c := range load(f).Documents {
		b, err := hex.DecodeString(c.Document)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(audit.ParseTermsKind(c.Kind)), b)
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		d, err := Parse(audit.TermsKind(kind), b)
		if err != nil {
			if verdict(err) != "malformed" {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(d.Bytes(), b) {
			t.Fatalf("%x has the bytes %x", b, d.Bytes())
		}
		if d.Kind == audit.TermsWheel && (d.Label(1) != d.Wheel[0].Label || d.Total() < 1 ||
			d.Label(d.Total()) != d.Wheel[len(d.Wheel)-1].Label || d.Label(d.Total()+1) != "") {
			t.Fatalf("%+v", d)
		}
	})
}
