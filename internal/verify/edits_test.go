package verify

import (
	"encoding/base64"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// TestEditsProveOnlyTruth applies random edits to honest transcripts, as someone would who has every file of a ledger
// but not its key. The result may still hold, since a file can leave things out, but then all it says is true.
func TestEditsProveOnlyTruth(t *testing.T) {
	t.Parallel()
	w, files := world(t)
	var honest []*openings.Transcript
	var receipts []string
	for _, file := range files {
		if f, err := openings.ParseTranscript(file); err == nil {
			honest = append(honest, f)
		} else {
			receipts = append(receipts, string(file))
		}
	}
	held, witnessed, caught := 0, 0, 0
	check := func(t *rapid.T) {
		f := copyOf(rapid.SampledFrom(honest).Draw(t, "file"))
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			edit(t, f, honest, receipts)
		}
		file, err := f.Marshal()
		if err != nil {
			t.Skip("cannot be written")
		}
		trust := rapid.SampledFrom([]Trust{{VKey: w.h.key.vkey}, w.policy}).Draw(t, "trust")
		v := Transcript(file, trust)
		if err := w.lies(v, file); err != nil {
			t.Fatalf("proved, and untrue: %v", err)
		}
		switch {
		case v.Level == LevelWitnessed:
			witnessed++
		case v.Verdict == Proved:
			held++
		default:
			caught++
		}
	}
	for range 20 { // a hundred files each
		rapid.Check(t, check)
	}
	if held == 0 || witnessed == 0 || caught == 0 {
		t.Errorf("%d files held, %d of them witnessed, and %d did not: the edits are too strong or too weak",
			held+witnessed, witnessed, caught)
	}
}

func copyOf(f *openings.Transcript) *openings.Transcript {
	c := *f
	c.Deck, c.Receipts, c.Cards = slices.Clone(f.Deck), slices.Clone(f.Receipts), slices.Clone(f.Cards)
	c.Keys, c.Statements = slices.Clone(f.Keys), slices.Clone(f.Statements)
	if f.Witnessed != nil {
		early := *f.Witnessed
		c.Witnessed = &early
	}
	return &c
}

// edit does one thing to f.
func edit(t *rapid.T, f *openings.Transcript, honest []*openings.Transcript, receipts []string) {
	index := func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) }
	other := rapid.SampledFrom(honest).Draw(t, "other")
	edits := []func(){
		func() { f.ID = other.ID },
		func() { f.Recipient = rapid.SampledFrom([]string{"", "seat-1", "seat-2"}).Draw(t, "recipient") },
		func() { f.Deck = other.Deck },
		func() { f.Cards = other.Cards },
		func() { f.Receipts = slices.Clone(other.Receipts) },
		func() { f.Checkpoint = other.Checkpoint },
		func() { f.Witnessed = other.Witnessed },
		func() { f.Witnessed = nil },
		func() {
			if f.Witnessed != nil {
				f.Witnessed.Checkpoint = other.Checkpoint
			}
		},
		func() {
			if f.Witnessed != nil && other.Witnessed != nil {
				f.Witnessed.Leaf = other.Witnessed.Leaf
			}
		},
		func() { f.Receipts = append(f.Receipts, rapid.SampledFrom(receipts).Draw(t, "receipt")) },
	}
	if n := len(f.Receipts); n > 0 {
		i, j := index(n, "receipt"), index(n, "receipt")
		edits = append(edits,
			func() { f.Receipts = slices.Delete(f.Receipts, i, i+1) },
			func() { f.Receipts[i], f.Receipts[j] = f.Receipts[j], f.Receipts[i] },
			func() { f.Receipts[i] = rapid.SampledFrom(receipts).Draw(t, "receipt") },
			func() { f.Receipts = slices.Insert(f.Receipts, i, f.Receipts[j]) },
			func() { f.Receipts[i] = flipEntry(t, f.Receipts[i]) },
		)
	}
	if n := len(f.Cards); n > 0 {
		i, j := index(n, "card"), index(n, "card")
		edits = append(edits,
			func() { f.Cards = slices.Delete(f.Cards, i, i+1) },
			func() { f.Cards = f.Cards[:i] },
			func() { f.Cards[i], f.Cards[j] = f.Cards[j], f.Cards[i] },
			func() { f.Cards[i].Place = index(7, "place") },
			func() { f.Cards[i].Position = index(7, "position") },
			func() { f.Cards[i].Value, f.Cards[i].Card = f.Cards[j].Value, f.Cards[j].Card },
			func() { f.Cards[i].Salt = f.Cards[j].Salt },
			func() { f.Cards[i].Proof = f.Cards[j].Proof },
			func() {
				f.Cards[i].Proof = append(slices.Clone(f.Cards[i].Proof),
					base64.StdEncoding.EncodeToString(make([]byte, 32)))
			},
			func() { f.Cards = slices.Insert(f.Cards, i, f.Cards[j]) },
		)
	}
	edits[index(len(edits), "edit")]()
}

// flipEntry changes one bit of a receipt's entry.
func flipEntry(t *rapid.T, text string) string {
	r, err := audit.ParseReceipt(text)
	if err != nil {
		t.Fatal(err)
	}
	r.Entry[rapid.IntRange(0, len(r.Entry)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	return r.Text()
}
