package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"shuffled/internal/audit"
)

// vector is the file of a vector of the specification.
func vector(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		File       string `json:"file"`
		FileBase64 []byte `json:"file_base64"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
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
		file, err := audit.ParseTranscript(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Cards {
			if r.Order[c.Position] != c.Card {
				t.Errorf("%s: position %d holds %s, on paper %s", name, c.Position, c.Card, r.Order[c.Position])
			}
		}
		file.Deck = file.Deck[:2]
		short, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
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
