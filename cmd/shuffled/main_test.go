package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"shuffled/internal/testdb"
)

// TestMain makes the test binary be the command as well, under its name: that is
// what scripts run.
func TestMain(m *testing.M) {
	testscript.Main(testdb.M{M: m}, map[string]func(){"shuffled": main})
}

// TestScripts runs the command as its users do. Every script finds the files of
// samples in its directory.
func TestScripts(t *testing.T) {
	t.Parallel()
	files := samples(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("VKEY", strings.TrimSpace(string(files["good.vkey"])))
			for name, content := range files {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), content, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "clean": clean},
	})
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
			if r != '\n' && visible(string(r)) != string(r) {
				ts.Fatalf("%s holds %q", name, r)
			}
		}
	}
}
