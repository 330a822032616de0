package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme types the blocks of the README as they stand there, the daemon on a free port.
func TestReadme(t *testing.T) {
	t.Parallel()
	const document = "README.md"
	y, d := newTypist(t), newDaemon(t, "")
	d.data = filepath.Join(y.work, "shuffled-data")
	y.replaces(address, d.url, strings.TrimPrefix(address, "http://"), d.addr, "go run ./cmd/shuffled", "shuffled")
	// The tests are what runs now; the demonstration is a command of the checkout.
	try := exec.Command("sh", "-eu", "-c", y.text(document, "make demo", "make test", "make -n test"))
	try.Dir = "../.."
	if out, err := try.CombinedOutput(); err != nil || !strings.Contains(string(out), "CAUGHT") {
		t.Errorf("%v\n%s", err, out)
	}
	d.launchIn(y.work, d.url+"/readyz", y.arguments(y.text(document, "go run ./cmd/shuffled serve")))
	first := y.block(document, "TOKEN=")
	audit := y.block(document, "go run ./cmd/shuffled audit")
	for _, said := range []string{first, audit} {
		if !strings.Contains(said, "PROVED") {
			t.Errorf("%s", said)
		}
	}
	id := regexp.MustCompile(`shuffle (\d+): `).FindStringSubmatch(first)
	if text := readText(t, document); id == nil || !strings.Contains(text, "The first id is "+id[1]+" here") {
		t.Errorf("the README says another first id than %v", id)
	}
}
