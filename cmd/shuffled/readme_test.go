package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestReadme runs the commands of the README's walk through a hand, and then those
// of its audit, as they stand there, against a daemon on a free port.
func TestReadme(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the README uses curl, which is not here")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	path, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t, "")
	d.start()
	dir := t.TempDir()
	for _, first := range []string{"TOKEN=", "go run ./cmd/shuffled audit export"} {
		_, block, found := strings.Cut(string(readme), "```sh\n"+first)
		block, _, closed := strings.Cut(block, "```")
		if !found || !closed {
			t.Fatalf("the README has no block of commands that begins with %s", first)
		}
		script := strings.NewReplacer("http://127.0.0.1:8080", d.url, "go run ./cmd/shuffled", path, "shuffled-data",
			d.data).Replace(first + block)
		cmd := exec.Command("sh", "-eu", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PROVED") {
			t.Errorf("the README's commands: %v\n%s", err, out)
		}
	}
}
