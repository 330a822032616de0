// Package termtest builds the programs for tests, and has commands for their scripts.
package termtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"shuffled/internal/term"
)

// module is where the directories lie.
const module = "shuffled" // the module's path

// modules are the directories of the modules that have programs, below the root.
var modules = map[string]string{"shuffled": ".", "shuffled-lab": "lab", "shuffled-bench": "perf"}

// Main builds programs into one new directory, makes it the first of PATH, runs the
// tests and takes the directory away. It does not return.
func Main(run interface{ Run() int }, programs ...string) {
	dir, err := os.MkdirTemp("", "shuffled-test-")
	if err == nil {
		err = Build(dir, programs...)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else if err = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err == nil {
		code = run.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// envPrograms names a directory that has the programs already, on the file system of
// the temporary ones: those of a run of many packages are built once.
const envPrograms = "SHUFFLED_PROGRAMS"

// Build builds programs into a directory, each in its module, or links those of SHUFFLED_PROGRAMS there.
func Build(dir string, programs ...string) error {
	if built := os.Getenv(envPrograms); built != "" {
		for _, name := range programs {
			if err := os.Link(filepath.Join(built, name), filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("taking %s from %s: %w", name, envPrograms, err)
			}
		}
		return nil
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("finding the source of the programs: %w", err)
	}
	for _, name := range programs {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), "./cmd/"+name)
		cmd.Dir = filepath.Join(strings.TrimSpace(string(root)), modules[name])
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

// Commands are the commands of scripts: exits and clean.
func Commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "clean": clean}
}

// Path returns the path of a program that Main built.
func Path(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// exits runs a program and holds its exit code against the first argument.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG …]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// clean fails if what was printed last holds a control character, other than
// line ends, or a mark that changes the direction of writing.
func clean(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: clean")
	}
	for _, name := range []string{"stdout", "stderr"} {
		for _, r := range ts.ReadFile(name) {
			if r != '\n' && term.Visible(string(r)) != string(r) {
				ts.Fatalf("%s holds %q", name, r)
			}
		}
	}
}
