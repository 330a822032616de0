package audit

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
)

// TestReceiptsOfEveryEntry reads the reference's receipts of every entry under every size, and writes the same text.
func TestReceiptsOfEveryEntry(t *testing.T) {
	h := newHouse()
	vkey := refVKey(sampleOrigin, signer(houseKey))
	for n := 1; n <= len(h.entries); n++ {
		for i := range n {
			text := h.receipt(i, n, h.signed(n))
			if step := receiptStep(t, text, vkey); step != proved {
				t.Fatalf("entry %d of %d: %s", i, n, step)
			}
			r, err := ParseReceipt(text)
			if err != nil {
				t.Fatal(err)
			}
			if r.Index != uint64(i) || !bytes.Equal(r.Entry, h.entries[i]) || string(r.Checkpoint) != h.signed(n) ||
				r.Text() != text {
				t.Fatalf("entry %d of %d: read as %+v", i, n, r)
			}
			c, err := OpenCheckpoint(r.Checkpoint, houseVerifier(t, vkey))
			if err != nil || c != (Checkpoint{sampleOrigin, uint64(n), tlog.Hash(refRoot(h.leaves[:n]))}) ||
				c.Text() != h.text(n) {
				t.Fatalf("checkpoint of %d: %+v, %v", n, c, err)
			}
			if err := proof.VerifyInclusion(rfc6962.DefaultHasher, r.Index, c.Size, h.leaves[i], path(r.Proof),
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
	r, err := ParseReceipt(text)
	if err != nil {
		return faultStep(t, err, stepFormat)
	}
	if _, err := CheckpointText(r.Checkpoint); err != nil {
		return faultStep(t, err, stepFormat)
	}
	if _, err := ParseEntry(r.Entry); err != nil {
		return faultStep(t, err, stepEntries)
	}
	c, err := OpenCheckpoint(r.Checkpoint, houseVerifier(t, vkey))
	switch {
	case errors.Is(err, ErrMalformed) && !errors.Is(err, ErrSignature):
		return stepFormat
	case errors.Is(err, ErrSignature) && !errors.Is(err, ErrMalformed):
		return stepSignature
	case err != nil:
		t.Fatalf("opening a checkpoint: neither malformed nor unsigned: %v", err)
	}
	if err := r.CheckInclusion(c); err != nil {
		if !errors.Is(err, ErrInclusion) {
			t.Fatalf("checking inclusion: %v", err)
		}
		return stepInclusion
	}
	return proved
}

func faultStep(t testing.TB, err error, step string) string {
	t.Helper()
	switch faultOf(err) {
	case malformed:
		return step
	case unknown:
		return cannotJudge
	}
	t.Fatalf("neither malformed nor unknown: %v", err)
	return ""
}

// TestReceiptTruncated cuts a receipt at every byte, and changes every byte.
func TestReceiptTruncated(t *testing.T) {
	h := newHouse()
	text, vkey := h.receipt(4, 11, h.cosigned(11)), refVKey(sampleOrigin, signer(houseKey))
	if step := receiptStep(t, text, vkey); step != proved {
		t.Fatal(step)
	}
	whole := h.receipt(4, 11, h.signed(11)) // what is left without both witnesses
	one := strings.LastIndex(text[:len(text)-1], "\n") + 1
	for n := range text {
		if step := receiptStep(t, text[:n], vkey); step == proved && text[:n] != whole && n != one {
			t.Errorf("cut to %d of %d bytes it is proved", n, len(text))
		}
	}
	head := len(text) - len(h.cosigned(11)) + len(h.text(11))
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
	signed := newHouse().signed(11)
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
		{"an entry of 48,000 bytes", refReceipt(make([]byte, 48_000), 1, nil, signed), ""},
		{"an entry of 48,001 bytes", refReceipt(make([]byte, 48_001), 1, nil, signed), malformed},
		{"an entry of one byte", refReceipt([]byte{1}, 1, nil, signed), ""},
		{"an empty entry", refReceipt(nil, 1, nil, signed), malformed},
		{"a proof of 63 hashes", refReceipt([]byte{1}, 1, hashes(63), signed), ""},
		{"a proof of 64 hashes", refReceipt([]byte{1}, 1, hashes(64), signed), malformed},
		{"index 2^53 − 1", refReceipt([]byte{1}, maxInteger, nil, signed), ""},
		{"index 2^53", refReceipt([]byte{1}, maxInteger+1, nil, signed), malformed},
		{"a checkpoint of 65,535 bytes", refReceipt([]byte{1}, 1, nil, longCheckpoint(65_535)), ""},
		{"a checkpoint of 65,536 bytes", refReceipt([]byte{1}, 1, nil, longCheckpoint(65_536)), malformed},
		{"everything at its limit", refReceipt(make([]byte, 48_000), maxInteger, hashes(63), longCheckpoint(65_535)),
			""},
		{"a receipt of a gigabyte's first megabytes", refReceipt([]byte{1}, 1, hashes(100_000), signed), malformed},
	} {
		r, err := ParseReceipt(c.text)
		if faultOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && (r.Entry != nil || r.Checkpoint != nil) {
			t.Errorf("%s: a receipt with the error", c.name)
		}
	}
}

// TestCheckpointLimits: a signed checkpoint of 65,535 bytes is read, a longer one is malformed.
func TestCheckpointLimits(t *testing.T) {
	key := houseVerifier(t, refVKey(sampleOrigin, signer(houseKey)))
	for n, want := range map[int]string{65_535: "", 65_536: malformed} {
		_, err := OpenCheckpoint([]byte(longCheckpoint(n)), key)
		_, err2 := CheckpointText([]byte(longCheckpoint(n)))
		if faultOf(err) != want || faultOf(err2) != want {
			t.Errorf("a checkpoint of %d bytes: %v, %v", n, err, err2)
		}
	}
}

// TestCheckpointRoundTrip: any origin, size and root has one text.
func TestCheckpointRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Checkpoint{genOrigin().Draw(t, "origin"), genIndex(0).Draw(t, "size"),
			tlog.Hash(genHash().Draw(t, "root"))}
		if want := refCheckpoint(c.Origin, c.Size, c.Root[:]); c.Text() != want {
			t.Fatalf("%q, want %q", c.Text(), want)
		}
		if back, err := ParseCheckpoint(c.Text()); err != nil || back != c {
			t.Fatalf("%+v, %v", back, err)
		}
	})
}

// TestReceiptText: the text is what the tlog-proof library writes, for entries of
// every length modulo its lines, and for none.
func TestReceiptText(t *testing.T) {
	for n := -1; n < 300; n++ {
		r := Receipt{Index: uint64(n+1) * 61_728_394_506_172, Checkpoint: bytesOf("checkpoint", n+1)}
		if n >= 0 {
			r.Entry = bytesOf("entry", n)
		}
		want := tlogproof.TLogProof{Index: r.Index, Checkpoint: r.Checkpoint, ExtraData: r.Entry}
		for i := range (n + 1) % 64 {
			h := [32]byte(bytesOf(fmt.Sprint("hash ", i), 32))
			r.Proof, want.Hashes = append(r.Proof, h), append(want.Hashes, h)
		}
		if got := r.Text(); got != string(want.Marshal()) {
			t.Fatalf("an entry of %d bytes: %q, want %q", n, got, want.Marshal())
		}
	}
}

// TestCheckInclusion: an index at or above the size is outside, whatever the proof.
func TestCheckInclusion(t *testing.T) {
	h := newHouse()
	for n := 1; n <= 11; n++ {
		c := Checkpoint{sampleOrigin, uint64(n), tlog.Hash(refRoot(h.leaves[:n]))}
		for i := range n {
			good := Receipt{Index: uint64(i), Entry: h.entries[i]}
			for _, p := range refPath(i, h.leaves[:n]) {
				good.Proof = append(good.Proof, tlog.Hash(p))
			}
			if err := good.CheckInclusion(c); err != nil {
				t.Fatalf("entry %d of %d: %v", i, n, err)
			}
			for what, r := range map[string]Receipt{
				"another entry": {good.Index, h.entries[(i+1)%11], good.Proof, nil},
				"no entry":      {good.Index, nil, good.Proof, nil},
				"index size":    {uint64(n), good.Entry, good.Proof, nil},
				"index 2^63":    {1 << 63, good.Entry, good.Proof, nil},
				"another index": {good.Index ^ 1, good.Entry, good.Proof, nil},
				"one hash more": {good.Index, good.Entry,
					append(good.Proof[:len(good.Proof):len(good.Proof)], tlog.Hash{}), nil},
				"one hash less":    {good.Index, good.Entry, good.Proof[:max(0, len(good.Proof)-1)], nil},
				"an entry changed": {good.Index, append(bytes.Clone(good.Entry), 0), good.Proof, nil},
			} {
				if what == "one hash less" && n == 1 {
					continue
				}
				if err := r.CheckInclusion(c); !errors.Is(err, ErrInclusion) {
					t.Errorf("entry %d of %d, %s: %v", i, n, what, err)
				}
			}
			other := c
			other.Root[0]++
			if err := good.CheckInclusion(other); !errors.Is(err, ErrInclusion) {
				t.Errorf("entry %d of %d, another root: %v", i, n, err)
			}
		}
	}
	if err := (Receipt{Entry: h.entries[0]}).CheckInclusion(Checkpoint{}); !errors.Is(err, ErrInclusion) {
		t.Errorf("in an empty ledger: %v", err)
	}
}

// TestVKey: the verifier key of a signing key is the C2SP text, and what it verifies is what the reference signed.
func TestVKey(t *testing.T) {
	want := refVKey(sampleOrigin, signer(houseKey))
	got, err := VKey(sampleOrigin, signingKey(houseKey))
	if err != nil || got != want {
		t.Fatalf("%q, %v, want %q", got, err, want)
	}
	for name, parse := range map[string]func() (note.Verifier, error){
		"Verifier":  func() (note.Verifier, error) { return Verifier(sampleOrigin, signingKey(houseKey)) },
		"ParseVKey": func() (note.Verifier, error) { return ParseVKey(want) },
	} {
		v, err := parse()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := OpenCheckpoint([]byte(newHouse().signed(11)), v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if key, err := SigningKey(want); err != nil || !bytes.Equal(key, signingKey(houseKey)) {
		t.Errorf("signing key %x, %v", key, err)
	}
	public := signingKey(houseKey)[1:]
	for name, c := range map[string]struct {
		key  hexed
		want string
	}{
		"no key": {nil, unknown}, "type 0": {append(hexed{0}, public...), unknown},
		"type 2":             {append(hexed{2}, public...), unknown},
		"type 1 of 31 bytes": {signingKey(houseKey)[:32], malformed},
		"type 1 of 33 bytes": {append(signingKey(houseKey), 0), malformed},
	} {
		if _, err := VKey(sampleOrigin, c.key); faultOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if v, err := Verifier(sampleOrigin, c.key); err == nil {
			t.Errorf("%s: a verifier %v", name, v)
		}
	}
	for name, vkey := range map[string]string{
		"empty": "", "no hash": sampleOrigin + "+" + refBase64(signingKey(houseKey)),
		"capital hash": strings.ToUpper(want[:len(sampleOrigin)]) + want[len(sampleOrigin):],
		"another hash": strings.Replace(want, "+", "+0", 1), "a space": want + " ", "padding": want + "=",
		"a witness's type": sampleOrigin + fmt.Sprintf("+%x+", refKeyHash(sampleOrigin, 4, signer(houseKey))) +
			refBase64(append([]byte{4}, public...)),
		"a long origin": refVKey(letters(129), signer(houseKey)),
	} {
		if v, err := ParseVKey(vkey); err == nil {
			t.Errorf("%s: %q is the key of %s", name, vkey, v.Name())
		}
	}
}

// TestFirstSignature: the first signature of a checkpoint is the ledger's
// (docs/SPEC.md section 7.1), no matter who else signed it.
func TestFirstSignature(t *testing.T) {
	h := newHouse()
	text := h.text(11)
	mine := refSign(text, sampleOrigin, signer(houseKey))
	witness := refCosign(text, "witness.example/w1", signer("w1"), 1_790_000_000)
	next := refSign(text, sampleOrigin, signer("2"))
	key := houseVerifier(t, refVKey(sampleOrigin, signer(houseKey)))
	other := houseVerifier(t, refVKey("witness.example/w3", signer("w3")))
	second := houseVerifier(t, refVKey(sampleOrigin, signer("2")))
	third := refSign(text, "witness.example/w3", signer("w3"))
	for _, c := range []struct {
		name, signed string
		keys         []note.Verifier
		want         error
	}{
		{"the ledger's alone", refNote(text, mine), []note.Verifier{key}, nil},
		{"the ledger's, then a witness's", refNote(text, mine, witness), []note.Verifier{key}, nil},
		{"both keys of a rotation, the old one known", refNote(text, next, mine), []note.Verifier{key}, nil},
		{"both keys of a rotation, the old one first", refNote(text, mine, next), []note.Verifier{key}, nil},
		{"a witness's, then the ledger's", refNote(text, witness, mine), []note.Verifier{key}, ErrMalformed},
		{"a known key of another name, then the ledger's", refNote(text, third, mine), []note.Verifier{other, key},
			ErrMalformed},
		{"the ledger's, and only another's key is known", refNote(text, mine, third), []note.Verifier{other},
			ErrSignature},
		{"a witness's alone", refNote(text, witness), []note.Verifier{key}, ErrMalformed},
		{"one known key's, another's of another text", refNote(text, mine, refSign("x\n", sampleOrigin, signer("2"))),
			[]note.Verifier{second, key}, nil},
	} {
		if _, err := OpenCheckpoint([]byte(c.signed), c.keys...); !errors.Is(err, c.want) ||
			errors.Is(err, ErrSignature) && errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestErrorsArePrintable: what a damaged file says does not reach a terminal raw.
func TestErrorsArePrintable(t *testing.T) {
	for _, text := range []string{"\x1b[2J", "c2sp.org/tlog-proof@v1\nextra \x1b[2J\nindex 1\n",
		"c2sp.org/tlog-proof@v1\nindex \x1b]0;x\x07\n"} {
		if _, err := ParseReceipt(text); err == nil ||
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
		if got := Short(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := Short(strings.Repeat("é", 150) + "\x1b"); strings.ContainsRune(got, 0x1b) || len(got) > 210 {
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
		leaves[i] = refSum("leaf", uint8(i))
	}
	at := func(leaves [][]byte) Checkpoint {
		return Checkpoint{Origin: "example.com/main", Size: uint64(len(leaves)), Root: tlog.Hash(refRoot(leaves))}
	}
	var trees [most + 1]Checkpoint
	for n := 1; n <= most; n++ {
		trees[n] = at(leaves[:n])
	}
	for n := 1; n <= most; n++ {
		for last := range n {
			leaf, path := tlog.Hash(leaves[last]), tlog.RecordProof(nil)
			for _, h := range refPath(last, leaves[:n]) {
				path = append(path, tlog.Hash(h))
			}
			check := func(what string, first Checkpoint, leaf tlog.Hash, path tlog.RecordProof, want error) {
				if err := trees[n].CheckPrefix(first, Last{leaf, path}); !errors.Is(err, want) {
					t.Fatalf("%d entries of %d, %s: %v", last+1, n, what, err)
				}
			}
			first := trees[last+1]
			check("as they are", first, leaf, path, nil)
			check("another leaf", first, tlog.Hash(refSum("another leaf")), path, ErrInclusion)
			check("a hash more", first, leaf, append(slices.Clone(path), leaf), ErrInclusion)
			for size := range uint64(most + 2) {
				if other := (Checkpoint{Size: size, Root: first.Root}); size != first.Size {
					check("another size", other, leaf, path, ErrInclusion)
				}
			}
			for i := range path {
				other := slices.Clone(path)
				other[i][0] ^= 1
				check("another hash", first, leaf, other, ErrInclusion)
				check("a hash less", first, leaf, slices.Delete(slices.Clone(path), i, i+1), ErrInclusion)
			}
			for i := range last { // who has the key of the last entry alone wrote another one in front of it
				other := slices.Clone(leaves[:last+1])
				other[i] = refSum("another leaf")
				check("another beginning", at(other), leaf, path, ErrInclusion)
			}
		}
	}
}

// TestBothAlgorithms: who has a key of each algorithm gets a signature of each.
func TestBothAlgorithms(t *testing.T) {
	t.Parallel()
	ed := parsedKey(t, refVKey(sampleOrigin, signer(houseKey)))
	ml := parsedKey(t, refMLDSAKey(sampleOrigin, "house"))
	other := parsedKey(t, refMLDSAKey(sampleOrigin, "another"))
	line := refMLDSALine(sampleOrigin, "house", 0, sampleOrigin, mldsaSize, mldsaRoot)
	both, alone, wrong := mldsaNote(line), mldsaNote(), mldsaNote(flipped(line, 3000))
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
		if _, err := OpenCheckpoint(c.signed, c.keys...); (err == nil) != c.want {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if _, err := OpenByAny(alone, ml, ed); err != nil {
		t.Error(err)
	}
	if _, err := OpenByAny(alone, ml, other); err == nil {
		t.Error("no key signed")
	}
}

func parsedKey(t *testing.T, vkey string) note.Verifier {
	t.Helper()
	key, err := ParseVKey(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
