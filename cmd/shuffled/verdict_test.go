package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	auditcli "shuffled/internal/cli/audit"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// sheet writes without colours.
func sheet(columns int) auditcli.Sheet { return auditcli.Sheet{Sheet: term.Sheet{W: columns}} }

// TestVerdictText holds whole reports against text that a person has looked at.
func TestVerdictText(t *testing.T) {
	t.Parallel()
	files := samples(t)
	key := verify.Trust{VKey: strings.TrimSpace(string(files["good.vkey"]))}
	tests := []struct {
		file    string
		trust   verify.Trust
		explain bool
	}{
		{"good.json", key, true},
		{"open.json", key, false},
		{"tampered.json", key, false},
		{"commit.receipt", key, false},
		{"custom.json", key, true},
		{"draws.json", verify.Trust{}, true},
		{"later.json", key, false},
	}
	for _, test := range tests {
		name := strings.TrimSuffix(test.file, filepath.Ext(test.file))
		t.Run(name, func(t *testing.T) {
			data, s := files[test.file], sheet(80)
			got := s.Verdict(test.file, data, verify.File(data, test.trust))
			if test.explain {
				got += auditcli.NewDryRun(data).Text(s)
			}
			golden(t, name+".golden", got)
			for line := range strings.Lines(got) {
				if n := term.Cells(strings.TrimRight(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

// TestWitnessedText does so for what witnesses and auditors add, on vectors of the specification.
func TestWitnessedText(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"witnessed", "witnessed-undealt", "witnessed-too-late", "receipt-witnessed",
		"level-mixed", "level-mixed-both", "slot", "beacon-and-cut", "stated", "stated-nobody-trusted",
		"terms-wheel", "terms-wheel-absent", "terms-pay-table", "terms-raffle", "blind-closed", "blind-looked",
		"blind-silent", "blind-not-named", "closed-rounds"} {
		b := contents(t, filepath.Join("..", "..", "internal", "verify", "testdata", "vectors", "good", name+".json"))
		var v struct {
			File  string
			Trust struct {
				VKey, Policy string
				CoDealer     string `json:"co_dealer"`
				Slots        [][]byte
				Auditors     []string
			}
		}
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		trust := verify.Trust{VKey: v.Trust.VKey, Auditors: v.Trust.Auditors}
		if v.Trust.Policy != "" {
			trust.Policy = []byte(v.Trust.Policy)
		}
		if v.Trust.CoDealer != "" {
			trust.CoDealer = []byte(v.Trust.CoDealer)
		}
		for _, s := range v.Trust.Slots {
			trust.Slots = append(trust.Slots, [32]byte(s))
		}
		data := []byte(v.File)
		golden(t, name+".golden", sheet(80).Verdict(name, data, verify.File(data, trust)))
	}
}

// TestVerdictFits: whatever the width of the terminal, no line is longer.
func TestVerdictFits(t *testing.T) {
	t.Parallel()
	files := samples(t)
	for w := term.MinColumns; w <= term.MaxColumns; w += 7 {
		for name, data := range files {
			trust := verify.Trust{VKey: strings.TrimSpace(string(files["good.vkey"]))}
			for line := range strings.Lines(sheet(w).Verdict(name, data, verify.File(data, trust))) {
				if n := term.Cells(strings.TrimRight(line, "\n")); n > w {
					t.Errorf("%s at %d: %d columns: %s", name, w, n, line)
				}
			}
		}
	}
}

// golden holds got against testdata/name, or writes it with UPDATE_GOLDEN=1.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := contents(t, path)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s changed; look at it, and if it is right: UPDATE_GOLDEN=1 go test (-want +got):\n%s", path, diff)
	}
}
