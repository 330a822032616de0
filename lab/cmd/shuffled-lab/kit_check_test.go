package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/term"
	"shuffled/lab/kit"
)

// TestKitCheckFailedEvidence: a complete kit with evidence that fails, by its own
// manifest, does not pass.
func TestKitCheckFailedEvidence(t *testing.T) {
	t.Parallel()
	for exit, want := range map[int]int{0: term.ExitOK, 1: term.ExitFails, 3: term.ExitFails} {
		dir := t.TempDir()
		m := new(kit.Manifest)
		for _, f := range []kit.File{{Name: "battery.json", ExitCode: exit}, {Name: "raw.bin"}} {
			if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Name), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := m.Add(dir, f); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Write(dir); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{nil, {"--json"}} {
			var out, stderr bytes.Buffer
			code := run(t.Context(), append([]string{"kit", "--check", dir}, args...),
				term.Streams{Out: &out, Err: &stderr})
			if code != want || strings.Contains(out.String(), "battery.json") != (exit != 0) ||
				strings.Contains(out.String(), "raw.bin") {
				t.Errorf("evidence with exit code %d, %q: exit code %d, want %d\n%s%s", exit, args, code, want, &out,
					&stderr)
			}
		}
	}
}
