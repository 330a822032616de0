package audit

import (
	"testing"

	"golang.org/x/mod/sumdb/note"
)

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
