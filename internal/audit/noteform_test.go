package audit

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

// TestNoteForm: one parser holds the signature lines of every checkpoint to one
// form, for every reader (docs/SPEC.md section 7.1).
func TestNoteForm(t *testing.T) {
	t.Parallel()
	h := newHouse()
	signed := h.cosignedAt(11, map[string]uint64{"w1": 1000, "w2": 2000})
	p := policyOf(t, threeWitnesses+"group g 2 a b c\nquorum g\n")
	if _, err := CheckpointText([]byte(signed)); err != nil || !p.Satisfied([]byte(signed)) {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(signed, "\n")
	stray := func(line string) string {
		end := strings.TrimRight(line, "=\n")
		const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		other := end[:len(end)-1] + string(digits[strings.IndexByte(digits, end[len(end)-1])^1]) + line[len(end):]
		field := strings.Fields(other)[2]
		if _, err := base64.StdEncoding.DecodeString(field); err != nil || strings.HasSuffix(field, "A") &&
			!strings.Contains(field, "=") {
			t.Fatalf("%q has no stray bits: %v", field, err)
		}
		return other
	}
	own, cosignature := lines[4], lines[5]
	for name, text := range map[string]string{
		"stray bits in a cosignature":     strings.Replace(signed, cosignature, stray(cosignature), 1),
		"stray bits in the own signature": strings.Replace(signed, own, stray(own), 1),
		"the own line twice":              strings.Replace(signed, own, own+own, 1),
		"a cosignature twice":             signed + cosignature,
		"one name and id with another text": signed +
			refCosign("another text\n", "witness.example/w1", signer("w1"), 7),
		"the ledger's line comes second": strings.Replace(signed, own+cosignature, cosignature+own, 1),
	} {
		if text == signed {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := CheckpointText([]byte(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasPrefix(name, "the ledger's") {
			continue // who signs first is no matter to a witness
		}
		if p.Satisfied([]byte(text)) || len(p.Cosignatures([]byte(text))) > 0 {
			t.Errorf("%s: cosignatures count", name)
		}
	}
}
