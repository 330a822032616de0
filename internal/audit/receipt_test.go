package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tlogproof "github.com/transparency-dev/formats/proof"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// TestReceiptsOfEveryEntry reads the reference's receipts of every entry under every size, and writes the same text.
func TestReceiptsOfEveryEntry(t *testing.T) {
	h := spec.NewHouse()
	vkey := spec.VKey(spec.SampleOrigin, spec.Signer(spec.HouseKey))
	for n := 1; n <= len(h.Entries); n++ {
		for i := range n {
			text := h.Receipt(i, n, h.Signed(n))
			if step := receiptStep(t, text, vkey); step != proved {
				t.Fatalf("entry %d of %d: %s", i, n, step)
			}
			r, err := audit.ParseReceipt(text)
			if err != nil {
				t.Fatal(err)
			}
			if r.Index != uint64(i) || !bytes.Equal(r.Entry, h.Entries[i]) || string(r.Checkpoint) != h.Signed(n) ||
				r.Text() != text {
				t.Fatalf("entry %d of %d: read as %+v", i, n, r)
			}
			c, err := audit.OpenCheckpoint(r.Checkpoint, spec.HouseVerifier(t, vkey))
			if err != nil || c != (audit.Checkpoint{Origin: spec.SampleOrigin, Size: uint64(n),
				Root: tlog.Hash(spec.Root(h.Leaves[:n]))}) || c.Text() != h.Text(n) {
				t.Fatalf("checkpoint of %d: %+v, %v", n, c, err)
			}
			if err := proof.VerifyInclusion(rfc6962.DefaultHasher, r.Index, c.Size, h.Leaves[i], spec.Hashes(r.Proof),
				c.Root[:]); err != nil {
				t.Fatalf("transparency-dev refuses entry %d of %d: %v", i, n, err)
			}
		}
	}
}

// The steps at which a receipt alone can fail (docs/SPEC.md section 10.1), and the two other ends.
const (
	proved        = "proved"
	stepFormat    = "format"
	stepEntries   = "entries"
	stepSignature = "signature"
	stepInclusion = "inclusion"
	cannotJudge   = "cannot judge"
)

// receiptStep is the step at which the package refuses a receipt.
func receiptStep(t testing.TB, text, vkey string) string {
	t.Helper()
	r, err := audit.ParseReceipt(text)
	if err != nil {
		return faultStep(t, err, stepFormat)
	}
	if _, err := audit.CheckpointText(r.Checkpoint); err != nil {
		return faultStep(t, err, stepFormat)
	}
	if _, err := audit.ParseEntry(r.Entry); err != nil {
		return faultStep(t, err, stepEntries)
	}
	c, err := audit.OpenCheckpoint(r.Checkpoint, spec.HouseVerifier(t, vkey))
	switch {
	case errors.Is(err, audit.ErrMalformed) && !errors.Is(err, audit.ErrSignature):
		return stepFormat
	case errors.Is(err, audit.ErrSignature) && !errors.Is(err, audit.ErrMalformed):
		return stepSignature
	case err != nil:
		t.Fatalf("opening a checkpoint: neither malformed nor unsigned: %v", err)
	}
	if err := r.CheckInclusion(c); err != nil {
		if !errors.Is(err, audit.ErrInclusion) {
			t.Fatalf("checking inclusion: %v", err)
		}
		return stepInclusion
	}
	return proved
}

func faultStep(t testing.TB, err error, step string) string {
	t.Helper()
	switch spec.FaultOf(err) {
	case spec.Malformed:
		return step
	case spec.Unknown:
		return cannotJudge
	}
	t.Fatalf("neither malformed nor unknown: %v", err)
	return ""
}

// TestReceiptTruncated cuts a receipt at every byte, and changes every byte.
func TestReceiptTruncated(t *testing.T) {
	h := spec.NewHouse()
	text, vkey := h.Receipt(4, 11, h.Cosigned(11)), spec.VKey(spec.SampleOrigin, spec.Signer(spec.HouseKey))
	if step := receiptStep(t, text, vkey); step != proved {
		t.Fatal(step)
	}
	whole := h.Receipt(4, 11, h.Signed(11)) // what is left without both witnesses
	one := strings.LastIndex(text[:len(text)-1], "\n") + 1
	for n := range text {
		if step := receiptStep(t, text[:n], vkey); step == proved && text[:n] != whole && n != one {
			t.Errorf("cut to %d of %d bytes it is proved", n, len(text))
		}
	}
	head := len(text) - len(h.Cosigned(11)) + len(h.Text(11))
	for i := range head { // all but the signatures
		for _, flip := range []byte{1, 0x20, 0x80} {
			b := []byte(text)
			b[i] ^= flip
			if step := receiptStep(t, string(b), vkey); step == proved {
				t.Errorf("with byte %d as %q it is proved", i, b[i])
			}
		}
	}
}

// TestReceiptLimits: entries, proofs, indexes and checkpoints at their limits and one above.
func TestReceiptLimits(t *testing.T) {
	signed := spec.NewHouse().Signed(11)
	hashes := func(n int) (path [][]byte) {
		for range n {
			path = append(path, make([]byte, 32))
		}
		return path
	}
	for _, c := range []struct {
		name string
		text string
		want string
	}{
		{"an entry of 48,000 bytes", spec.Receipt(make([]byte, 48_000), 1, nil, signed), ""},
		{"an entry of 48,001 bytes", spec.Receipt(make([]byte, 48_001), 1, nil, signed), spec.Malformed},
		{"an entry of one byte", spec.Receipt([]byte{1}, 1, nil, signed), ""},
		{"an empty entry", spec.Receipt(nil, 1, nil, signed), spec.Malformed},
		{"a proof of 63 hashes", spec.Receipt([]byte{1}, 1, hashes(63), signed), ""},
		{"a proof of 64 hashes", spec.Receipt([]byte{1}, 1, hashes(64), signed), spec.Malformed},
		{"index 2^53 − 1", spec.Receipt([]byte{1}, spec.MaxInteger, nil, signed), ""},
		{"index 2^53", spec.Receipt([]byte{1}, spec.MaxInteger+1, nil, signed), spec.Malformed},
		{"a checkpoint of 65,535 bytes", spec.Receipt([]byte{1}, 1, nil, spec.LongCheckpoint(65_535)), ""},
		{"a checkpoint of 65,536 bytes", spec.Receipt([]byte{1}, 1, nil, spec.LongCheckpoint(65_536)), spec.Malformed},
		{"everything at its limit", spec.Receipt(make([]byte, 48_000), spec.MaxInteger, hashes(63),
			spec.LongCheckpoint(65_535)),
			""},
		{"a receipt of a gigabyte's first megabytes", spec.Receipt([]byte{1}, 1, hashes(100_000), signed), spec.Malformed},
	} {
		r, err := audit.ParseReceipt(c.text)
		if spec.FaultOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && (r.Entry != nil || r.Checkpoint != nil) {
			t.Errorf("%s: a receipt with the error", c.name)
		}
	}
}

// TestCheckpointLimits: a signed checkpoint of 65,535 bytes is read, a longer one is malformed.
func TestCheckpointLimits(t *testing.T) {
	key := spec.HouseVerifier(t, spec.VKey(spec.SampleOrigin, spec.Signer(spec.HouseKey)))
	for n, want := range map[int]string{65_535: "", 65_536: spec.Malformed} {
		_, err := audit.OpenCheckpoint([]byte(spec.LongCheckpoint(n)), key)
		_, err2 := audit.CheckpointText([]byte(spec.LongCheckpoint(n)))
		if spec.FaultOf(err) != want || spec.FaultOf(err2) != want {
			t.Errorf("a checkpoint of %d bytes: %v, %v", n, err, err2)
		}
	}
}

// TestCheckpointRoundTrip: any origin, size and root has one text.
func TestCheckpointRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := audit.Checkpoint{Origin: spec.GenOrigin().Draw(t, "origin"), Size: spec.GenIndex(0).Draw(t, "size"),
			Root: tlog.Hash(spec.GenHash().Draw(t, "root"))}
		if want := spec.Checkpoint(c.Origin, c.Size, c.Root[:]); c.Text() != want {
			t.Fatalf("%q, want %q", c.Text(), want)
		}
		if back, err := audit.ParseCheckpoint(c.Text()); err != nil || back != c {
			t.Fatalf("%+v, %v", back, err)
		}
	})
}

// TestReceiptText: the text is what the tlog-proof library writes, for entries of
// every length modulo its lines, and for none.
func TestReceiptText(t *testing.T) {
	for n := -1; n < 300; n++ {
		r := audit.Receipt{Index: uint64(n+1) * 61_728_394_506_172, Checkpoint: spec.BytesOf("checkpoint", n+1)}
		if n >= 0 {
			r.Entry = spec.BytesOf("entry", n)
		}
		want := tlogproof.TLogProof{Index: r.Index, Checkpoint: r.Checkpoint, ExtraData: r.Entry}
		for i := range (n + 1) % 64 {
			h := [32]byte(spec.BytesOf(fmt.Sprint("hash ", i), 32))
			r.Proof, want.Hashes = append(r.Proof, h), append(want.Hashes, h)
		}
		if got := r.Text(); got != string(want.Marshal()) {
			t.Fatalf("an entry of %d bytes: %q, want %q", n, got, want.Marshal())
		}
	}
}

// TestCheckInclusion: an index at or above the size is outside, whatever the proof.
func TestCheckInclusion(t *testing.T) {
	h := spec.NewHouse()
	for n := 1; n <= 11; n++ {
		c := audit.Checkpoint{Origin: spec.SampleOrigin, Size: uint64(n), Root: tlog.Hash(spec.Root(h.Leaves[:n]))}
		for i := range n {
			good := audit.Receipt{Index: uint64(i), Entry: h.Entries[i]}
			for _, p := range spec.Path(i, h.Leaves[:n]) {
				good.Proof = append(good.Proof, tlog.Hash(p))
			}
			if err := good.CheckInclusion(c); err != nil {
				t.Fatalf("entry %d of %d: %v", i, n, err)
			}
			for what, r := range map[string]audit.Receipt{
				"another entry": {Index: good.Index, Entry: h.Entries[(i+1)%11], Proof: good.Proof, Checkpoint: nil},
				"no entry":      {Index: good.Index, Entry: nil, Proof: good.Proof, Checkpoint: nil},
				"index size":    {Index: uint64(n), Entry: good.Entry, Proof: good.Proof, Checkpoint: nil},
				"index 2^63":    {Index: 1 << 63, Entry: good.Entry, Proof: good.Proof, Checkpoint: nil},
				"another index": {Index: good.Index ^ 1, Entry: good.Entry, Proof: good.Proof, Checkpoint: nil},
				"one hash more": {Index: good.Index, Entry: good.Entry,
					Proof: append(good.Proof[:len(good.Proof):len(good.Proof)], tlog.Hash{}), Checkpoint: nil},
				"one hash less": {Index: good.Index, Entry: good.Entry,
					Proof: good.Proof[:max(0, len(good.Proof)-1)], Checkpoint: nil},
				"an entry changed": {Index: good.Index, Entry: append(bytes.Clone(good.Entry), 0), Proof: good.Proof,
					Checkpoint: nil},
			} {
				if what == "one hash less" && n == 1 {
					continue
				}
				if err := r.CheckInclusion(c); !errors.Is(err, audit.ErrInclusion) {
					t.Errorf("entry %d of %d, %s: %v", i, n, what, err)
				}
			}
			other := c
			other.Root[0]++
			if err := good.CheckInclusion(other); !errors.Is(err, audit.ErrInclusion) {
				t.Errorf("entry %d of %d, another root: %v", i, n, err)
			}
		}
	}
	if err := (audit.Receipt{Entry: h.Entries[0]}).CheckInclusion(audit.Checkpoint{}); !errors.Is(err, audit.ErrInclusion) {
		t.Errorf("in an empty ledger: %v", err)
	}
}

// TestVKey: the verifier key of a signing key is the C2SP text, and what it verifies is what the reference signed.
func TestVKey(t *testing.T) {
	want := spec.VKey(spec.SampleOrigin, spec.Signer(spec.HouseKey))
	got, err := audit.VKey(spec.SampleOrigin, spec.SigningKey(spec.HouseKey))
	if err != nil || got != want {
		t.Fatalf("%q, %v, want %q", got, err, want)
	}
	for name, parse := range map[string]func() (note.Verifier, error){
		"Verifier": func() (note.Verifier, error) {
			return audit.Verifier(spec.SampleOrigin, spec.SigningKey(spec.HouseKey))
		},
		"ParseVKey": func() (note.Verifier, error) { return audit.ParseVKey(want) },
	} {
		v, err := parse()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := audit.OpenCheckpoint([]byte(spec.NewHouse().Signed(11)), v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if key, err := audit.SigningKey(want); err != nil || !bytes.Equal(key, spec.SigningKey(spec.HouseKey)) {
		t.Errorf("signing key %x, %v", key, err)
	}
	public := spec.SigningKey(spec.HouseKey)[1:]
	for name, c := range map[string]struct {
		key  spec.Hexed
		want string
	}{
		"no key": {nil, spec.Unknown}, "type 0": {append(spec.Hexed{0}, public...), spec.Unknown},
		"type 2":             {append(spec.Hexed{2}, public...), spec.Unknown},
		"type 1 of 31 bytes": {spec.SigningKey(spec.HouseKey)[:32], spec.Malformed},
		"type 1 of 33 bytes": {append(spec.SigningKey(spec.HouseKey), 0), spec.Malformed},
	} {
		if _, err := audit.VKey(spec.SampleOrigin, c.key); spec.FaultOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if v, err := audit.Verifier(spec.SampleOrigin, c.key); err == nil {
			t.Errorf("%s: a verifier %v", name, v)
		}
	}
	for name, vkey := range map[string]string{
		"empty": "", "no hash": spec.SampleOrigin + "+" + spec.Base64(spec.SigningKey(spec.HouseKey)),
		"capital hash": strings.ToUpper(want[:len(spec.SampleOrigin)]) + want[len(spec.SampleOrigin):],
		"another hash": strings.Replace(want, "+", "+0", 1), "a space": want + " ", "padding": want + "=",
		"a witness's type": spec.SampleOrigin + fmt.Sprintf("+%x+", spec.KeyHash(spec.SampleOrigin, 4,
			spec.Signer(spec.HouseKey))) +
			spec.Base64(append([]byte{4}, public...)),
		"a long origin": spec.VKey(spec.Letters(129), spec.Signer(spec.HouseKey)),
	} {
		if v, err := audit.ParseVKey(vkey); err == nil {
			t.Errorf("%s: %q is the key of %s", name, vkey, v.Name())
		}
	}
}

// TestFirstSignature: the first signature of a checkpoint is the ledger's
// (docs/SPEC.md section 7.1), no matter who else signed it.
func TestFirstSignature(t *testing.T) {
	h := spec.NewHouse()
	text := h.Text(11)
	mine := spec.Sign(text, spec.SampleOrigin, spec.Signer(spec.HouseKey))
	witness := spec.Cosign(text, "witness.example/w1", spec.Signer("w1"), 1_790_000_000)
	next := spec.Sign(text, spec.SampleOrigin, spec.Signer("2"))
	key := spec.HouseVerifier(t, spec.VKey(spec.SampleOrigin, spec.Signer(spec.HouseKey)))
	other := spec.HouseVerifier(t, spec.VKey("witness.example/w3", spec.Signer("w3")))
	second := spec.HouseVerifier(t, spec.VKey(spec.SampleOrigin, spec.Signer("2")))
	third := spec.Sign(text, "witness.example/w3", spec.Signer("w3"))
	for _, c := range []struct {
		name, signed string
		keys         []note.Verifier
		want         error
	}{
		{"the ledger's alone", spec.Note(text, mine), []note.Verifier{key}, nil},
		{"the ledger's, then a witness's", spec.Note(text, mine, witness), []note.Verifier{key}, nil},
		{"both keys of a rotation, the old one known", spec.Note(text, next, mine), []note.Verifier{key}, nil},
		{"both keys of a rotation, the old one first", spec.Note(text, mine, next), []note.Verifier{key}, nil},
		{"a witness's, then the ledger's", spec.Note(text, witness, mine), []note.Verifier{key}, audit.ErrMalformed},
		{"a known key of another name, then the ledger's", spec.Note(text, third, mine), []note.Verifier{other, key},
			audit.ErrMalformed},
		{"the ledger's, and only another's key is known", spec.Note(text, mine, third), []note.Verifier{other},
			audit.ErrSignature},
		{"a witness's alone", spec.Note(text, witness), []note.Verifier{key}, audit.ErrMalformed},
		{"one known key's, another's of another text", spec.Note(text, mine, spec.Sign("x\n", spec.SampleOrigin, spec.Signer("2"))),
			[]note.Verifier{second, key}, nil},
	} {
		if _, err := audit.OpenCheckpoint([]byte(c.signed), c.keys...); !errors.Is(err, c.want) ||
			errors.Is(err, audit.ErrSignature) && errors.Is(err, audit.ErrMalformed) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestErrorsArePrintable: what a damaged file says does not reach a terminal raw.
func TestErrorsArePrintable(t *testing.T) {
	for _, text := range []string{"\x1b[2J", "c2sp.org/tlog-proof@v1\nextra \x1b[2J\nindex 1\n",
		"c2sp.org/tlog-proof@v1\nindex \x1b]0;x\x07\n"} {
		if _, err := audit.ParseReceipt(text); err == nil ||
			strings.ContainsFunc(err.Error(), func(r rune) bool { return r < 0x20 || r == 0x7f }) {
			t.Errorf("%q: %q", text, err)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, é and 🂡": "plain text, é and 🂡", "\x1b[2J\x07\n\r\t\x00\x7f": "?[2J??????",
		"a\u009bb\u202ec\u200bd": "a?b?c?d",
		strings.Repeat("x", 300): strings.Repeat("x", 200),
	} {
		if got := audit.Short(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := audit.Short(strings.Repeat("é", 150) + "\x1b"); strings.ContainsRune(got, 0x1b) || len(got) > 210 {
		t.Errorf("%q", got)
	}
}

// TestPrefixOfEverySize: leaf and path of the last entry of each tree of up to 64 entries prove that each larger tree
// begins with it, and no tree in which an entry or their number is another. The reference makes every tree anew.
func TestPrefixOfEverySize(t *testing.T) {
	t.Parallel()
	const most = 64
	leaves := make([][]byte, most)
	for i := range leaves {
		leaves[i] = spec.Sum("leaf", uint8(i))
	}
	at := func(leaves [][]byte) audit.Checkpoint {
		return audit.Checkpoint{Origin: "example.com/main", Size: uint64(len(leaves)),
			Root: tlog.Hash(spec.Root(leaves))}
	}
	var trees [most + 1]audit.Checkpoint
	for n := 1; n <= most; n++ {
		trees[n] = at(leaves[:n])
	}
	for n := 1; n <= most; n++ {
		for last := range n {
			leaf, path := tlog.Hash(leaves[last]), tlog.RecordProof(nil)
			for _, h := range spec.Path(last, leaves[:n]) {
				path = append(path, tlog.Hash(h))
			}
			check := func(what string, first audit.Checkpoint, leaf tlog.Hash, path tlog.RecordProof, want error) {
				if err := trees[n].CheckPrefix(first, audit.Last{Leaf: leaf, Proof: path}); !errors.Is(err, want) {
					t.Fatalf("%d entries of %d, %s: %v", last+1, n, what, err)
				}
			}
			first := trees[last+1]
			check("as they are", first, leaf, path, nil)
			check("another leaf", first, tlog.Hash(spec.Sum("another leaf")), path, audit.ErrInclusion)
			check("a hash more", first, leaf, append(slices.Clone(path), leaf), audit.ErrInclusion)
			for size := range uint64(most + 2) {
				if other := (audit.Checkpoint{Size: size, Root: first.Root}); size != first.Size {
					check("another size", other, leaf, path, audit.ErrInclusion)
				}
			}
			for i := range path {
				other := slices.Clone(path)
				other[i][0] ^= 1
				check("another hash", first, leaf, other, audit.ErrInclusion)
				check("a hash less", first, leaf, slices.Delete(slices.Clone(path), i, i+1), audit.ErrInclusion)
			}
			for i := range last { // who has the key of the last entry alone wrote another one in front of it
				other := slices.Clone(leaves[:last+1])
				other[i] = spec.Sum("another leaf")
				check("another beginning", at(other), leaf, path, audit.ErrInclusion)
			}
		}
	}
}

// TestBothAlgorithms: who has a key of each algorithm gets a signature of each.
func TestBothAlgorithms(t *testing.T) {
	t.Parallel()
	ed := parsedKey(t, spec.VKey(spec.SampleOrigin, spec.Signer(spec.HouseKey)))
	ml := parsedKey(t, spec.MLDSAKey(spec.SampleOrigin, "house"))
	other := parsedKey(t, spec.MLDSAKey(spec.SampleOrigin, "another"))
	line := spec.MLDSALine(spec.SampleOrigin, "house", 0, spec.SampleOrigin, spec.MLDSASize, spec.MLDSARoot)
	both, alone, wrong := spec.MLDSANote(line), spec.MLDSANote(), spec.MLDSANote(spec.Flipped(line, 3000))
	for i, c := range []struct {
		signed []byte
		keys   []note.Verifier
		want   bool
	}{
		{both, []note.Verifier{ed}, true}, {both, []note.Verifier{ml}, true}, {both, []note.Verifier{ed, ml}, true},
		{both, []note.Verifier{ml, ed, other}, true}, {both, []note.Verifier{ed, other}, false},
		{alone, []note.Verifier{ed}, true}, {alone, []note.Verifier{ml}, false},
		{alone, []note.Verifier{ed, ml}, false},
		{alone, []note.Verifier{ml, ed}, false}, {wrong, []note.Verifier{ed}, true},
		{wrong, []note.Verifier{ml, ed}, false},
	} {
		if _, err := audit.OpenCheckpoint(c.signed, c.keys...); (err == nil) != c.want {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if _, err := audit.OpenByAny(alone, ml, ed); err != nil {
		t.Error(err)
	}
	if _, err := audit.OpenByAny(alone, ml, other); err == nil {
		t.Error("no key signed")
	}
}

func parsedKey(t *testing.T, vkey string) note.Verifier {
	t.Helper()
	key, err := audit.ParseVKey(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
