package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKitRebuildsItself: the source and the modules of a kit give its programs again, byte for
// byte, with empty caches. If Linux allows it, there is no network either.
func TestKitRebuildsItself(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the programs with empty caches")
	}
	if err := exec.Command("git", "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("*** no checkout of git here: no kit is rebuilt ***")
	}
	dir := t.TempDir()
	clone, bin, kit := filepath.Join(dir, "clone"), filepath.Join(dir, "bin", "shuffled"), filepath.Join(dir, "kit")
	alone := []string{"unshare", "-rn"}
	if exec.Command("unshare", "-rn", "true").Run() != nil {
		t.Log("no namespaces here: the network is not cut off")
		alone = nil
	}
	for _, args := range [][]string{
		{"git", "clone", "--quiet", "--no-hardlinks", "../../..", clone},
		{"sh", filepath.Join(clone, "scripts/build.sh"), bin},
		{bin, "lab", "kit", "--out", kit, "--source", clone, "--leave-out", "raw,decks,proof,controls,battery,compliance"},
		append(alone, "sh", filepath.Join(kit, "rebuild.sh")),
		{bin, "lab", "kit", "--check", kit},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "COMMIT=", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		t.Logf("%s\n%s", strings.Join(args, " "), out)
	}
}
