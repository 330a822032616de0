package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// vector is the file of a vector of the specification.
func vector(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	var v struct {
		File       string `json:"file"`
		FileBase64 []byte `json:"file_base64"`
	}
	must(t, json.Unmarshal(b, &v))
	return append(v.FileBase64, v.File...)
}

const vectors = "../../verify/testdata/vectors"

// TestDryRun: the swaps on paper lead to the cards that were dealt. There are names only
// if the file has those of the input, and no dry run without a public tape.
func TestDryRun(t *testing.T) {
	for name, want := range map[string]struct {
		why   string
		draws int
		names int
	}{
		"closed":            {"", 6, 6},
		"custom-deck":       {"", 7, 7},
		"end-at-drawn":      {"", 7, 6},
		"child":             {"", 4, 0}, // its input is in the parent's file
		"draws":             {"", 5, 0},
		"open-undealt":      {"the transcript has no public tape", 0, 0},
		"auditor-disclosed": {"the transcript has no public tape", 0, 0},
		"receipt-commit-4":  {"the file is no transcript", 0, 0},
	} {
		data := vector(t, filepath.Join(vectors, "good", name+".json"))
		r := NewDryRun(data)
		if r.Why != want.why || len(r.Draws) != want.draws || len(r.Order) != want.names {
			t.Errorf("%s: %q, %d draws, %d names, want %+v", name, r.Why, len(r.Draws), len(r.Order), want)
		}
		if want.names == 0 {
			continue
		}
		file, err := openings.ParseTranscript(data)
		must(t, err)
		for _, c := range file.Cards {
			if r.Order[c.Position] != c.Card {
				t.Errorf("%s: position %d holds %s, on paper %s", name, c.Position, c.Card, r.Order[c.Position])
			}
		}
		file.Deck = file.Deck[:2]
		short, err := json.Marshal(file)
		must(t, err)
		if name == "custom-deck" {
			continue // its names stand otherwise in this encoding
		}
		if r := NewDryRun(short); r.Why != "" || len(r.Order) != 0 {
			t.Errorf("%s: names of another deck: %+v", name, r)
		}
	}
}

// TestDryRunEnds: a file that does not hold is no reason to stop.
func TestDryRunEnds(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(vectors, "*", "*.json"))
	if err != nil || len(paths) < 600 {
		t.Fatalf("%d vectors, %v", len(paths), err)
	}
	for _, path := range paths {
		NewDryRun(vector(t, path))
	}
}

// TestDryRunOfTwoCommits: a file with another commit in front has no names for the cards of the last one.
func TestDryRunOfTwoCommits(t *testing.T) {
	six, err := openings.ParseTranscript(vector(t, filepath.Join(vectors, "good", "closed.json")))
	must(t, err)
	for _, name := range []string{"draws", "custom-deck"} {
		file, err := openings.ParseTranscript(vector(t, filepath.Join(vectors, "good", name+".json")))
		must(t, err)
		file.Deck, file.Receipts = six.Deck, slices.Insert(file.Receipts, 1, six.Receipts[1])
		data, err := file.Marshal()
		if r := NewDryRun(data); err != nil || r.Why != "" || len(r.Order) != 0 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}

// TestDryRunOfNumbers: the swaps on paper take the numbers that the file shows, with and without
// a mix. A plan that was never revealed takes none.
func TestDryRunOfNumbers(t *testing.T) {
	for name, want := range map[string]struct {
		of    uint32
		moved bool
	}{
		"numbers": {80, false}, "numbers-seats": {9, false}, "numbers-widest": {1 << 30, false},
		"numbers-mixed": {49, true},
		"draws":         {0, false}, "custom-deck": {0, false},
	} {
		data := vector(t, filepath.Join(vectors, "good", name+".json"))
		r := NewDryRun(data)
		if r.Why != "" || r.Of != want.of || (len(r.Taken) > 0) != (want.of > 0) {
			t.Errorf("%s: %q, of %d, %d taken", name, r.Why, r.Of, len(r.Taken))
			continue
		}
		cards := verify.File(data, verify.Trust{}).Cards
		if want.of > 0 && len(cards) == 0 {
			t.Errorf("%s: void", name)
		}
		for _, c := range cards {
			if want.of > 0 && (r.Taken[c.Place].Number != c.Shows) {
				t.Errorf("%s: place %d shows %d, on paper %+v", name, c.Place, c.Shows, r.Taken[c.Place])
			}
		}
		text := r.Text(Sheet{term.Sheet{W: 80}})
		if strings.Contains(text, "then j holds") != (want.of > 0) ||
			strings.Contains(text, "The mix has moved the draws") != want.moved {
			t.Errorf("%s:\n%s", name, text)
		}
		for line := range strings.Lines(text) {
			if n := term.Cells(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}

// TestDryRunOfBlindNumbers: draws that also move by what a co-dealer gives take nothing on paper.
func TestDryRunOfBlindNumbers(t *testing.T) {
	plan := []audit.Planned{{Source: audit.SourceCoDealer}, {Source: audit.SourceSlot}}
	for _, c := range []struct {
		plan  []audit.Planned
		taken int
	}{{plan, 0}, {plan[1:], 2}} {
		context := &audit.Context{Of: 9, Recipe: shuffle.Recipe{Ranges: []uint32{9, 8}}, Plan: c.plan}
		mix := &audit.Mix{Values: []audit.MixValue{{Source: audit.SourceSlot}}}
		file := paperFile{commit: &audit.Commit{Context: context}, mix: mix}
		r := new(DryRun)
		if err := r.take(file, []uint32{1, 1}); err != nil || len(r.Taken) != c.taken {
			t.Errorf("%d sources: %d are taken, %v", len(c.plan), len(r.Taken), err)
		}
	}
}
