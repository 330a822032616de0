package gateway

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/keys"
)

// TestRoom: a checkpoint takes as many cosignatures as it has bytes for, and first those that a quorum lacks: two
// policies of 14 witnesses with ML-DSA-44 are both met. What is added later is bounded in the same way.
func TestRoom(t *testing.T) {
	t.Parallel()
	const origin = "cards.example.com/main"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ed, err := keys.GenerateSigning(origin)
	must(err)
	long, err := keys.GenerateMLDSA(origin)
	must(err)
	text := audit.Checkpoint{Origin: origin, Size: 9}.Text()
	signed, err := note.Sign(&note.Note{Text: text}, ed.Signer(), long.At(0))
	must(err)
	var r Round
	var policies []*trust.Policy
	for g, answers := range []int{14, 8} {
		var policy, names strings.Builder
		for i := range 14 {
			k, err := keys.GenerateMLDSA(fmt.Sprintf("w%d.example/%d", i, g))
			must(err)
			fmt.Fprintf(&policy, "witness a%d %s\n", i, k.VKey())
			fmt.Fprintf(&names, " a%d", i)
			if i < answers {
				s, err := note.Sign(&note.Note{Text: text}, k.At(1000))
				must(err)
				r.lines = append(r.lines, string(s[len(text)+1:]))
			}
		}
		p, err := trust.ParsePolicy([]byte(policy.String() + "group g 8" + names.String() + "\nquorum g\n"))
		must(err)
		policies = append(policies, p)
	}
	r.sign(Head{Size: 9, Checkpoint: signed}, policies)
	free := audit.MaxCheckpoint - len(r.Head.Checkpoint)
	if !r.Met || free < 0 || free >= len(r.lines[0]) {
		t.Errorf("%d bytes are free, met %t", free, r.Met)
	}
	if more := r.Cosignatures(r.Head.Checkpoint); len(more) > 0 {
		t.Errorf("%d bytes are added where %d are free", len(more), free)
	}
	later := append(signed, r.Cosignatures(signed)...)
	if _, err := audit.CheckpointText(later); err != nil || len(later)+len(r.lines[0]) <= audit.MaxCheckpoint {
		t.Errorf("a checkpoint of %d bytes: %v", len(later), err)
	}
}
