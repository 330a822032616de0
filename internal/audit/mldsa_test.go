package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"filippo.io/mldsa"
	"golang.org/x/mod/sumdb/note"
)

// refMLDSA is the type byte and public key of an ML-DSA-44 key.
func refMLDSA(owner string) []byte {
	return append([]byte{6}, mldsaOf(owner).PublicKey().Bytes()...)
}

func mldsaOf(owner string) *mldsa.PrivateKey {
	seed := sha256.Sum256([]byte("ml-dsa-44 of " + owner))
	key, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), seed[:])
	if err != nil {
		panic(err)
	}
	return key
}

func refMLDSAKey(name, owner string) string {
	return name + "+" + hex.EncodeToString(refSum(name, "\n", refMLDSA(owner))[:4]) + "+" + refBase64(refMLDSA(owner))
}

// refMLDSALine is a signature line by the text of C2SP tlog-cosignature, its message written by hand.
func refMLDSALine(name, owner string, time uint64, origin string, size uint64, root []byte) string {
	message := refJoin("subtree/v1\n\x00", uint8(len(name)), name, time, uint8(len(origin)), origin, uint64(0), size,
		root)
	sig, err := mldsaOf(owner).SignDeterministic(message, nil)
	if err != nil {
		panic(err)
	}
	return "— " + name + " " + refBase64(refJoin(refSum(name, "\n", refMLDSA(owner))[:4], time, sig)) + "\n"
}

const mldsaSize = 11

var mldsaRoot = make([]byte, 32)

// mldsaNote is a signed checkpoint of the house with lines that follow its own.
func mldsaNote(lines ...string) []byte {
	text := refCheckpoint(sampleOrigin, mldsaSize, mldsaRoot)
	own := refSign(text, sampleOrigin, signer(houseKey))
	return []byte(refNote(text, append([]string{own}, lines...)...))
}

func witnessLine(owner string, time uint64) string {
	return refMLDSALine("witness.example/"+owner, owner, time, sampleOrigin, mldsaSize, mldsaRoot)
}

// flipped has another character of base64 at i.
func flipped(line string, i int) string {
	c := "A"
	if line[i] == 'A' {
		c = "B"
	}
	return line[:i] + c + line[i+1:]
}

// TestMLDSACosignature: a line counts if it is what C2SP tlog-cosignature says, and nothing else does.
func TestMLDSACosignature(t *testing.T) {
	t.Parallel()
	p := policyOf(t, "log LOG\nwitness a MLDSA\nquorum a\n")
	good := witnessLine("w1", 7)
	if at, ok := p.CompleteAt(mldsaNote(good)); at != 7 || !ok {
		t.Errorf("complete at %d, %t", at, ok)
	}
	name := "witness.example/w1"
	for what, line := range map[string]string{
		"time 0":               witnessLine("w1", 0),
		"another name":         refMLDSALine("witness.example/w2", "w1", 7, sampleOrigin, mldsaSize, mldsaRoot),
		"another key":          refMLDSALine(name, "w2", 7, sampleOrigin, mldsaSize, mldsaRoot),
		"another origin":       refMLDSALine(name, "w1", 7, "example.com/other", mldsaSize, mldsaRoot),
		"another size":         refMLDSALine(name, "w1", 7, sampleOrigin, mldsaSize+1, mldsaRoot),
		"another root":         refMLDSALine(name, "w1", 7, sampleOrigin, mldsaSize, slices.Repeat([]byte{1}, 32)),
		"another time":         flipped(good, len("— "+name+" ")+14),
		"a bit of a signature": flipped(good, 2000),
		"cut short":            good[:len(good)-9] + "\n",
	} {
		if p.Satisfied(mldsaNote(line)) {
			t.Errorf("%s: counts", what)
		}
	}
}

// TestMLDSAOneWitness: the keys of one witness are one witness.
func TestMLDSAOneWitness(t *testing.T) {
	t.Parallel()
	p := policyOf(t, "log LOG\nwitness a W1\nwitness am MLDSA\nwitness b W2\ngroup g 2 a am b\nquorum g\n")
	if p.Overlap() != 2 {
		t.Errorf("overlap %d", p.Overlap())
	}
	text := refCheckpoint(sampleOrigin, mldsaSize, mldsaRoot)
	both := refCosign(text, "witness.example/w1", signer("w1"), 5) + witnessLine("w1", 4)
	if p.Satisfied(mldsaNote(both)) {
		t.Error("two keys of one witness are two votes")
	}
	if at, ok := p.CompleteAt(mldsaNote(both, refCosign(text, "witness.example/w2", signer("w2"), 6))); at != 6 || !ok {
		t.Errorf("complete at %d, %t", at, ok)
	}
	if n := len(p.Cosignatures(mldsaNote(both))); n != 2 {
		t.Errorf("%d cosignatures", n)
	}
}

// TestUndecided: lines of unknown types matter if the quorum is not met without them and could be with them.
func TestUndecided(t *testing.T) {
	t.Parallel()
	p := policyOf(t, "log LOG\nwitness a W1\nwitness b W2\n"+
		"witness c witness.example/w3+01020304+BwgJ\ngroup g 2 a b c\nquorum g\n")
	if p.Overlap() != 1 {
		t.Errorf("overlap %d: a key of an unknown type can sign", p.Overlap())
	}
	text := refCheckpoint(sampleOrigin, mldsaSize, mldsaRoot)
	a := refCosign(text, "witness.example/w1", signer("w1"), 5)
	b := refCosign(text, "witness.example/w2", signer("w2"), 5)
	unknown := "— witness.example/w3 " + refBase64([]byte{1, 2, 3, 4, 5}) + "\n"
	other := "— witness.example/w3 " + refBase64([]byte{1, 2, 3, 5, 5}) + "\n"
	for _, c := range []struct {
		lines     []string
		met       bool
		undecided bool // or met
	}{
		{[]string{a, b}, true, true},
		{[]string{a, b, unknown}, true, true},
		{[]string{a, unknown}, false, true},
		{[]string{a, other}, false, false},
		{[]string{unknown}, false, false},
		{[]string{a}, false, false},
	} {
		signed := mldsaNote(c.lines...)
		if p.Satisfied(signed) != c.met || p.Undecided(signed) != c.undecided {
			t.Errorf("%q: met %t, undecided %t", c.lines, p.Satisfied(signed), p.Undecided(signed))
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

// TestFullNote: lines of ML-DSA-44 fill a checkpoint, the policy of their witnesses an
// entry, and the checkpoint with the longest entry and proof a receipt.
func TestFullNote(t *testing.T) {
	t.Parallel()
	var policy strings.Builder
	var lines []string
	for i, size := 0, len(mldsaNote()); ; i++ {
		name := fmt.Sprintf("witness.example/%d", i)
		line := refMLDSALine(name, name, 7, sampleOrigin, mldsaSize, mldsaRoot)
		words := fmt.Sprintf("witness w%d %s\n", i, refMLDSAKey(name, name))
		if size += len(line); size > MaxCheckpoint-20 || policy.Len()+len(words) > MaxPolicy-100 {
			break
		}
		lines = append(lines, line)
		policy.WriteString(words)
	}
	policy.WriteString("group g all")
	for i := range lines {
		fmt.Fprintf(&policy, " w%d", i)
	}
	policy.WriteString("\nquorum g\n#")
	text := policy.String() + strings.Repeat("x", MaxPolicy-policy.Len())
	p, err := ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	signed := string(mldsaNote(lines...))
	fill := MaxCheckpoint - len(signed) - len("—  AAAAAAAA\n")
	signed += "— " + strings.Repeat("z", fill) + " AAAAAAAA\n"
	if len(signed) != MaxCheckpoint || len(text) != MaxPolicy {
		t.Fatalf("%d and %d bytes", len(signed), len(text))
	}
	if len(lines) < 17 || !p.Satisfied([]byte(signed)) {
		t.Errorf("%d witnesses do not meet the quorum", len(lines))
	}
	r := Receipt{Index: MaxInteger - 1, Entry: make([]byte, MaxEntry), Checkpoint: []byte(signed)}
	for range MaxProof {
		r.Proof = append(r.Proof, [32]byte{})
	}
	if _, err := ParseReceipt(r.Text()); err != nil {
		t.Error(err)
	}
	told := newStory()
	s := fold(t, told.model())
	if err := s.Apply(told.dated(told.key(refKey{Subject: 4, Policy: text})).entry()); err != nil {
		t.Error(err)
	}
}
