package audit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// receiptCase is a receipt of the data file.
type receiptCase struct {
	Name  string     `json:"name"`
	VKey  string     `json:"vkey,omitempty"` // in place of the file's
	Text  string     `json:"text"`
	Step  string     `json:"step"`
	Index uint64     `json:"index,omitempty"`
	Size  uint64     `json:"size,omitempty"`
	Entry spec.Hexed `json:"entry,omitempty"`
}

// checkpointCase is a checkpoint of the data file.
type checkpointCase struct {
	Name   string     `json:"name"`
	VKey   string     `json:"vkey,omitempty"`
	Signed string     `json:"signed"`
	Step   string     `json:"step"`
	Origin string     `json:"origin,omitempty"`
	Size   uint64     `json:"size,omitempty"`
	Root   spec.Hexed `json:"root,omitempty"`
}

type receiptVectors struct {
	spec.VectorHead
	VKey        string           `json:"vkey"`
	Receipts    []receiptCase    `json:"receipts"`
	Checkpoints []checkpointCase `json:"checkpoints"`
}

var receiptHead = spec.NewHead("receipts",
	"Receipts and signed checkpoints, docs/SPEC.md section 7. vkey is the C2SP verifier key that is trusted, unless a case has its own.",
	"step is the first step of section 10.1 that fails, with vkey trusted: format, entries, signature or inclusion; proved where all hold; cannot judge where something is unknown (section 1.4). Of a checkpoint alone: format or signature.",
	"The cosignatures are of witness.example/w1 and w2, keys that nobody needs to know.")

type receiptCases struct {
	v *receiptVectors
	h *spec.House
}

func makeReceipts() receiptVectors {
	v := receiptVectors{VectorHead: receiptHead, VKey: spec.VKey(spec.SampleOrigin, spec.Signer(spec.HouseKey))}
	c := receiptCases{&v, spec.NewHouse()}
	c.good()
	c.otherForms()
	c.otherContents()
	c.checkpoints()
	return v
}

func (c receiptCases) add(name, step, text string) {
	c.v.Receipts = append(c.v.Receipts, receiptCase{Name: name, Text: text, Step: step})
}

func (c receiptCases) good() {
	add := func(name string, i, n int, signed string) {
		c.v.Receipts = append(c.v.Receipts, receiptCase{Name: name, Text: c.h.Receipt(i, n, signed), Step: proved,
			Index: uint64(i), Size: uint64(n), Entry: c.h.Entries[i]})
	}
	add("the genesis alone: no hashes", 0, 1, c.h.Signed(1))
	for _, p := range [][2]int{{0, 2}, {1, 2}, {2, 3}, {4, 5}, {3, 8}, {7, 8}} {
		add(fmt.Sprintf("entry %d of %d", p[0], p[1]), p[0], p[1], c.h.Signed(p[1]))
	}
	for i := range 11 {
		add(fmt.Sprintf("entry %d of 11, cosigned", i), i, 11, c.h.Cosigned(11))
	}
	text := c.h.Text(11)
	add("a rotation: signed by the new key and by the trusted one", 5, 11,
		spec.Note(text, spec.Sign(text, spec.SampleOrigin, spec.Signer("2")), spec.Sign(text, spec.SampleOrigin,
			spec.Signer(spec.HouseKey))))
}

// otherForms are texts that say the same in another way, or nothing.
func (c receiptCases) otherForms() {
	good := c.h.Receipt(5, 11, c.h.Cosigned(11))
	lines := strings.Split(good, "\n")
	bad := func(name, text string) { c.add(name, stepFormat, text) }
	replace := func(name, old, with string) {
		if !strings.Contains(good, old) {
			panic("nothing to replace: " + old)
		}
		bad(name, strings.Replace(good, old, with, 1))
	}
	bad("empty", "")
	bad("only the first line", lines[0]+"\n")
	bad("cut in the checkpoint's text", good[:len(good)-len(c.h.Cosigned(11))+30])
	bad("without its last newline", good[:len(good)-1])
	bad("a newline more", good+"\n")
	bad("a space in front", " "+good)
	bad("a byte order mark in front", "\ufeff"+good)
	bad("lines end in carriage returns", strings.ReplaceAll(good, "\n", "\r\n"))
	c.add("version 2", cannotJudge, strings.Replace(good, "@v1", "@v2", 1))
	c.add("a version of ten digits, and nothing else", cannotJudge, "c2sp.org/tlog-proof@v9999999999\n")
	bad("a version of eleven digits", "c2sp.org/tlog-proof@v99999999999\n")
	replace("no version", "@v1", "")
	replace("version 0", "@v1", "@v0")
	replace("a version with a leading zero", "@v1", "@v02")
	replace("a later version that is not all of the line", "@v1", "@v2 ")
	bad("a later version without the end of the line", "c2sp.org/tlog-proof@v2")
	bad("more bytes than a receipt may have, of a later version",
		strings.Replace(good, "@v1", "@v2", 1)+strings.Repeat("x", 132_626))
	replace("no extra line", lines[1]+"\n", "")
	replace("an empty extra line", lines[1], "extra ")
	replace("two extra lines", lines[1], lines[1]+"\n"+lines[1])
	replace("extra in capitals", "extra ", "Extra ")
	replace("two spaces after extra", "extra ", "extra  ")
	replace("a space after the entry", lines[1], lines[1]+" ")
	replace("padding that the entry's base64 does not need", lines[1], lines[1]+"=")
	replace("index and extra exchanged", lines[1]+"\n"+lines[2], lines[2]+"\n"+lines[1])
	replace("no index", "index 5\n", "")
	replace("an empty index", "index 5", "index ")
	replace("a leading zero in the index", "index 5", "index 05")
	replace("a plus sign at the index", "index 5", "index +5")
	replace("a negative index", "index 5", "index -5")
	replace("an index in hexadecimal", "index 5", "index 0x5")
	replace("an index with an exponent", "index 5", "index 5e0")
	replace("index 2^53", "index 5", "index 9007199254740992")
	replace("index 2^64", "index 5", "index 18446744073709551616")
	replace("no blank line", "\n\n"+spec.SampleOrigin, "\n"+spec.SampleOrigin)
	replace("two blank lines", "\n\n"+spec.SampleOrigin, "\n\n\n"+spec.SampleOrigin)
	replace("a hash of 31 bytes", lines[3], spec.Base64(make([]byte, 31)))
	replace("a hash of 33 bytes", lines[3], spec.Base64(make([]byte, 33)))
	replace("a hash in hexadecimal", lines[3], spec.Hexed(make([]byte, 32)).String())
	replace("a hash without padding", lines[3], strings.TrimRight(lines[3], "="))
	replace("a hash in the other base64 alphabet", lines[3],
		strings.NewReplacer("+", "-", "/", "_").Replace(spec.Base64(make([]byte, 29))+"+//="))
	last := lines[3][:len(lines[3])-2]
	replace("a hash with stray bits in its last character", lines[3], last+string(lines[3][len(lines[3])-2]+1)+"=")
	bad("64 hashes", spec.Receipt(c.h.Entries[5], 5, slices.Repeat([][]byte{make([]byte, 32)}, 64), c.h.Signed(11)))
	bad("no checkpoint", spec.Receipt(c.h.Entries[5], 5, nil, ""))
	replace("a checkpoint with a leading zero in its size", "\n11\n", "\n011\n")
	replace("a checkpoint with an extension line", "\n11\n"+spec.Base64(spec.Root(c.h.Leaves))+"\n",
		"\n11\n"+spec.Base64(spec.Root(c.h.Leaves))+"\nextension\n")
	replace("a checkpoint with a root of 31 bytes", spec.Base64(spec.Root(c.h.Leaves)), spec.Base64(make([]byte, 31)))
	replace("a checkpoint without a blank line before its signatures", "\n\n—", "\n—")
	bad("an entry of 48,001 bytes", spec.Receipt(make([]byte, 48_001), 5, nil, c.h.Signed(11)))
	bad("a checkpoint of 65,536 bytes", spec.Receipt(c.h.Entries[5], 5, spec.Path(5, c.h.Leaves),
		spec.LongCheckpoint(65_536)))
	text := c.h.Text(11)
	bad("a witness's signature in front of the ledger's", c.h.Receipt(5, 11, spec.Note(text,
		spec.Cosign(text, "witness.example/w1", spec.Signer("w1"), 1), spec.Sign(text, spec.SampleOrigin,
			spec.Signer(spec.HouseKey)))))
}

// otherContents are in good form and say something that does not hold.
func (c receiptCases) otherContents() {
	h, signed := c.h, c.h.Cosigned(11)
	way := func(i int) [][]byte { return spec.Path(i, h.Leaves) }
	c.add("an entry that is malformed", stepEntries, spec.Receipt(h.Entries[5][:20], 5, way(5), signed))
	c.add("an entry of random bytes of version 1", stepEntries, spec.Receipt([]byte{1, 2, 3}, 5, way(5), signed))
	c.add("an entry of version 2", cannotJudge, spec.Receipt([]byte{2, 2, 3}, 5, way(5), signed))
	c.add("an entry of a type that is not listed", cannotJudge, spec.Receipt([]byte{1, 99}, 5, way(5), signed))

	text := h.Text(11)
	c.add("signed by another key of the same name", stepSignature,
		h.Receipt(5, 11, spec.Note(text, spec.Sign(text, spec.SampleOrigin, spec.Signer("9")))))
	c.add("signed for a smaller checkpoint", stepSignature,
		h.Receipt(5, 11, spec.Note(text, spec.Sign(h.Text(10), spec.SampleOrigin, spec.Signer(spec.HouseKey)))))
	c.add("a size that was not signed", stepSignature, h.Receipt(5, 11, strings.Replace(signed, "\n11\n", "\n12\n", 1)))
	c.add("a root that was not signed", stepSignature,
		h.Receipt(5, 11, strings.Replace(signed, spec.Base64(spec.Root(h.Leaves)),
			spec.Base64(spec.Root(h.Leaves[:10])), 1)))
	other := strings.Replace(text, spec.SampleOrigin, "casino.example/other", 1)
	c.add("signed by the trusted key, of another origin", stepSignature,
		h.Receipt(5, 11, spec.Note(other, spec.Sign(other, "casino.example/other", spec.Signer(spec.HouseKey)))))
	c.add("of another origin, under the trusted key's name", stepFormat,
		h.Receipt(5, 11, spec.Note(other, spec.Sign(other, spec.SampleOrigin, spec.Signer(spec.HouseKey)))))
	c.v.Receipts = append(c.v.Receipts, receiptCase{Name: "another key is trusted",
		VKey: spec.VKey(spec.SampleOrigin, spec.Signer("2")),
		Text: h.Receipt(5, 11, signed), Step: stepSignature})

	c.add("another entry", stepInclusion, spec.Receipt(h.Entries[6], 5, way(5), signed))
	c.add("another index", stepInclusion, spec.Receipt(h.Entries[5], 4, way(5), signed))
	c.add("an index at the size", stepInclusion, spec.Receipt(h.Entries[10], 11, way(10), signed))
	c.add("an index past the size", stepInclusion, spec.Receipt(h.Entries[5], spec.MaxInteger, way(5), signed))
	c.add("another entry's proof", stepInclusion, spec.Receipt(h.Entries[5], 5, way(6), signed))
	c.add("no proof", stepInclusion, spec.Receipt(h.Entries[5], 5, nil, signed))
	c.add("a hash less", stepInclusion, spec.Receipt(h.Entries[5], 5, way(5)[1:], signed))
	c.add("a hash more", stepInclusion, spec.Receipt(h.Entries[5], 5, append(way(5), make([]byte, 32)), signed))
	swapped := way(5)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	c.add("two hashes exchanged", stepInclusion, spec.Receipt(h.Entries[5], 5, swapped, signed))
	c.add("the proof of a smaller checkpoint", stepInclusion,
		spec.Receipt(h.Entries[5], 5, spec.Path(5, h.Leaves[:8]), signed))
	flipped := h.Receipt(5, 11, signed)
	at := strings.Index(flipped, "index 5\n") + len("index 5\n")
	c.add("a hash with one character changed", stepInclusion, flipped[:at]+swapLetter(flipped[at])+flipped[at+1:])
}

func swapLetter(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

func (c receiptCases) checkpoints() {
	h := c.h
	add := func(name, step, signed string) {
		c.v.Checkpoints = append(c.v.Checkpoints, checkpointCase{Name: name, Signed: signed, Step: step})
	}
	for _, n := range []int{1, 2, 11} {
		c.v.Checkpoints = append(c.v.Checkpoints,
			checkpointCase{Name: fmt.Sprintf("size %d", n), Signed: h.Signed(n), Step: proved,
				Origin: spec.SampleOrigin, Size: uint64(n), Root: spec.Root(h.Leaves[:n])})
	}
	sign := func(text string) string {
		return spec.Note(text, spec.Sign(text, spec.SampleOrigin, spec.Signer(spec.HouseKey)))
	}
	huge := spec.Checkpoint(spec.SampleOrigin, spec.MaxInteger, spec.Root(nil))
	c.v.Checkpoints = append(c.v.Checkpoints,
		checkpointCase{Name: "the largest size", Signed: sign(huge), Step: proved,
			Origin: spec.SampleOrigin, Size: spec.MaxInteger, Root: spec.Root(nil)})
	root := spec.Base64(spec.Root(h.Leaves))
	for _, b := range [][2]string{
		{"a leading zero", "\n011\n" + root + "\n"}, {"a plus sign", "\n+11\n" + root + "\n"},
		{"no size", "\n\n" + root + "\n"},
		{"size 2^53", "\n9007199254740992\n" + root + "\n"}, {"size 2^64", "\n18446744073709551616\n" + root + "\n"},
		{"a size in hexadecimal", "\n0xb\n" + root + "\n"}, {"a space after the size", "\n11 \n" + root + "\n"},
		{"a root of 31 bytes", "\n11\n" + spec.Base64(make([]byte, 31)) + "\n"},
		{"a root without padding", "\n11\n" + strings.TrimRight(root, "=") + "\n"},
		{"no root", "\n11\n"}, {"an extension line", "\n11\n" + root + "\nmore\n"},
		{"a blank line at the end", "\n11\n" + root + "\n\n"},
	} {
		add(b[0], stepFormat, sign(spec.SampleOrigin+b[1]))
	}
	add("no origin", stepFormat, sign("\n11\n"+root+"\n"))
	add("no signature block", stepFormat, h.Text(11))
	add("a signature block without signatures", stepFormat, h.Text(11)+"\n")
	add("signed by another key", stepSignature, spec.Note(h.Text(11), spec.Sign(h.Text(11), spec.SampleOrigin,
		spec.Signer("9"))))
	add("the signature of another text", stepSignature,
		spec.Note(h.Text(11), spec.Sign(h.Text(2), spec.SampleOrigin, spec.Signer(spec.HouseKey))))
	add("a signature line with a hyphen", stepFormat, strings.Replace(h.Signed(11), "—", "-", 1))
	add("a signature line with two spaces", stepFormat, strings.Replace(h.Signed(11), "— ", "—  ", 1))
	add("no newline at the end", stepFormat, strings.TrimRight(h.Signed(11), "\n"))
	add("a longer one than a reader takes", stepFormat, spec.LongCheckpoint(65_536))
}

func TestReceiptVectorsAreTheReferences(t *testing.T) {
	v := makeReceipts()
	spec.HoldVectors(t, "receipts", spec.EncodeVectors(t, v.VectorHead, "vkey", v.VKey, "receipts", v.Receipts,
		"checkpoints", v.Checkpoints))
}

func loadReceipts(t testing.TB) (v receiptVectors) {
	t.Helper()
	spec.LoadVectors(t, "receipts", &v.VectorHead, &v)
	spec.WantCases(t, "receipts", 70, v.Receipts, func(c receiptCase) string { return c.Name })
	spec.WantCases(t, "checkpoints", 20, v.Checkpoints, func(c checkpointCase) string { return c.Name })
	for i := range v.Receipts {
		if v.Receipts[i].VKey == "" {
			v.Receipts[i].VKey = v.VKey
		}
	}
	return v
}

func TestReceiptVectors(t *testing.T) {
	v := loadReceipts(t)
	count := make(map[string]int)
	for _, c := range v.Receipts {
		if step := receiptStep(t, c.Text, c.VKey); step != c.Step {
			t.Errorf("%s: %s, want %s", c.Name, step, c.Step)
		}
		if c.Step == proved {
			r, err := audit.ParseReceipt(c.Text)
			if err != nil || r.Index != c.Index || spec.Hexed(r.Entry).String() != c.Entry.String() {
				t.Errorf("%s: read as %+v, %v", c.Name, r, err)
			}
			if k, err := audit.CheckpointText(r.Checkpoint); err != nil || k.Size != c.Size {
				t.Errorf("%s: a checkpoint %+v, %v", c.Name, k, err)
			}
		}
		count[c.Step]++
	}
	for _, step := range []string{proved, stepFormat, stepEntries, stepSignature, stepInclusion, cannotJudge} {
		if count[step] < 2 {
			t.Errorf("only %d receipts end at %s", count[step], step)
		}
	}
}

func TestCheckpointVectors(t *testing.T) {
	v := loadReceipts(t)
	key := spec.HouseVerifier(t, v.VKey)
	for _, c := range v.Checkpoints {
		// CheckpointText does not look at signatures, and so not at their form.
		_, formErr := audit.CheckpointText([]byte(c.Signed))
		got, err := audit.OpenCheckpoint([]byte(c.Signed), key)
		switch {
		case formErr != nil && (c.Step != stepFormat || spec.FaultOf(formErr) != spec.Malformed):
			t.Errorf("%s: the form: %v, want %s", c.Name, formErr, c.Step)
		case (err == nil) != (c.Step == proved):
			t.Errorf("%s: %v, want %s", c.Name, err, c.Step)
		case c.Step == stepSignature && !errors.Is(err, audit.ErrSignature):
			t.Errorf("%s: %v", c.Name, err)
		case c.Step == proved && got != audit.Checkpoint{Origin: c.Origin, Size: c.Size, Root: tlog.Hash(c.Root)}:
			t.Errorf("%s: %+v", c.Name, got)
		}
	}
}
