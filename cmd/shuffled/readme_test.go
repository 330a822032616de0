package main

import (
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
	path, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t, "")
	d.start()
	dir := t.TempDir()
	typed := 0
	for _, b := range fences(t, "README.md") {
		if !strings.HasPrefix(b.text, "TOKEN=") && !strings.HasPrefix(b.text, "go run ./cmd/shuffled audit export") {
			continue
		}
		typed++
		script := strings.NewReplacer(address, d.url, "go run ./cmd/shuffled", path, "shuffled-data",
			d.data).Replace(b.text)
		cmd := exec.Command("sh", "-eu", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PROVED") {
			t.Errorf("the README's commands: %v\n%s", err, out)
		}
	}
	if typed != 2 {
		t.Errorf("%d blocks of the README's walk were found", typed)
	}
}
