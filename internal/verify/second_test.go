package verify

import (
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"shuffled/internal/audit"
)

// TestSecondOpinion has another implementation of RFC 6962 check what this one
// accepts: inclusion proofs of receipts, and openings as proofs under the deck
// root, whose leaves are hashed as docs/SPEC.md section 6.3 says.
func TestSecondOpinion(t *testing.T) {
	t.Parallel()
	receipts, cards := 0, 0
	for _, v := range load(t, "good") {
		if File(v.bytes(), v.trust()).Verdict != Proved {
			continue
		}
		texts, f := []string{v.File}, (*audit.Transcript)(nil)
		if v.File[0] == '{' {
			var err error
			f, err = audit.ParseTranscript(v.bytes())
			must(t, err)
			texts = nil
			for i := range f.Receipts {
				texts = append(texts, f.Receipt(i))
			}
		}
		for _, text := range texts {
			r, err := audit.ParseReceipt(text)
			must(t, err)
			c, err := audit.CheckpointText(r.Checkpoint)
			must(t, err)
			if err := included(r.Index, c.Size, r.Entry, r.Proof, c.Root[:]); err != nil {
				t.Errorf("%s: entry %d: %v", v.Name, r.Index, err)
			}
			r.Entry[0] ^= 1
			if included(r.Index, c.Size, r.Entry, r.Proof, c.Root[:]) == nil {
				t.Errorf("%s: entry %d: another entry is accepted too", v.Name, r.Index)
			}
			receipts++
		}
		if f == nil {
			continue
		}
		commit := commitOf(t, f)
		for _, c := range f.Cards {
			o, err := c.Opening()
			must(t, err)
			tag := commit.Tag()
			leaf := tag[:]
			leaf = append(leaf, byte(o.Position>>8), byte(o.Position),
				byte(o.Value>>24), byte(o.Value>>16), byte(o.Value>>8), byte(o.Value))
			leaf = append(leaf, o.Salt[:]...)
			if err := included(uint64(o.Position), uint64(commit.Context.Recipe.Positions()), leaf, o.Proof,
				commit.DeckRoot[:]); err != nil {
				t.Errorf("%s: place %d: %v", v.Name, c.Place, err)
			}
			cards++
		}
	}
	if receipts < 50 || cards < 50 {
		t.Errorf("only %d receipts and %d cards were compared", receipts, cards)
	}
}

func included[H ~[32]byte](index, size uint64, leaf []byte, path []H, root []byte) error {
	var hashes [][]byte
	for _, h := range path {
		b := [32]byte(h)
		hashes = append(hashes, b[:])
	}
	return proof.VerifyInclusion(rfc6962.DefaultHasher, index, size, rfc6962.DefaultHasher.HashLeaf(leaf), hashes, root)
}

func commitOf(t *testing.T, f *audit.Transcript) *audit.Commit {
	t.Helper()
	r, err := audit.ParseReceipt(f.Receipts[1])
	must(t, err)
	e, err := audit.ParseEntry(r.Entry)
	must(t, err)
	return e.Body.(*audit.Commit)
}
