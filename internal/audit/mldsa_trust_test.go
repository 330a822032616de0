package audit

import (
	"slices"
	"testing"
)

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
