package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"shuffled/internal/term/termtest"
)

// TestMain builds the programs: scripts and tests run one through the other, like
// users.
func TestMain(m *testing.M) { termtest.Main(m, "shuffled", "shuffled-lab") }

// TestScripts runs the command like its users.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                termtest.Commands(),
	})
}

// TestNotInPath: the programs find each other only in their directory.
func TestNotInPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"shuffled", "shuffled-lab"} {
		if err := exec.Command("cp", termtest.Path(t, name), filepath.Join(dir, name+".alone")).Run(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(filepath.Join(dir, "shuffled.alone"), "lab", "raw", "--bytes", "1").CombinedOutput()
	want := "shuffled: error: the program shuffled-lab is not in " + dir + ", the directory of this program: " +
		"run \"sh scripts/build.sh\" in the source, which builds all programs into bin\n"
	if exitCode(err) != 3 || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
	// A program in the directory that is of another commit is not run.
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-X shuffled/internal/build.Commit=c0ffee"+
		"c0ffeec0ffeec0ffeec0ffeec0ffeec0ffee", "-o", filepath.Join(dir, "shuffled"), "./cmd/shuffled")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lab := filepath.Join(dir, "shuffled-lab")
	if err := exec.Command("cp", lab+".alone", lab).Run(); err != nil {
		t.Fatal(err)
	}
	out, err = exec.Command(filepath.Join(dir, "shuffled"), "lab", "raw", "--bytes", "1").CombinedOutput()
	if exitCode(err) != 3 || !strings.Contains(string(out), "is not of the commit of this program, c0ffee") {
		t.Errorf("a sibling of another commit: %v: %s", err, out)
	}
	out, err = exec.Command(filepath.Join(dir, "shuffled-lab.alone"), "kit", "--out", filepath.Join(dir, "kit"),
		"--leave-out", "source,binary,raw,decks,proof,controls,battery").CombinedOutput()
	if exitCode(err) != 3 {
		t.Errorf("a kit without the program that it is about: %v: %s", err, out)
	}
}
