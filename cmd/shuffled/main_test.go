package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"shuffled/internal/term/termtest"
	"shuffled/internal/testdb"
)

// TestMain makes the test binary be the command as well, under its name: that is what scripts run. Tests wait for
// daemons, witnesses and servers: four at a time for each processor, if -parallel says nothing else.
func TestMain(m *testing.M) {
	time.Local = time.UTC // texts have times as the reader's clock shows them
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.NumCPU())); err != nil {
		panic(err)
	}
	testscript.Main(testdb.M{M: m}, map[string]func(){"shuffled": main})
}

// TestScripts runs the command as its users do. Every script finds the files of samples in its directory.
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
		Cmds: termtest.Commands(),
	})
}

// TestOperate runs the commands for a running daemon against one.
func TestOperate(t *testing.T) { t.Parallel(); runAgainstDaemon(t, "operate") }

// runAgainstDaemon runs the scripts of a directory of testdata against a daemon of their own.
func runAgainstDaemon(t *testing.T, dir string) {
	t.Helper()
	d := newDaemon(t, "")
	d.start()
	_, other := sampleKey(t, "other.example")
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", dir),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SHUFFLED_URL", d.url)
			env.Setenv("DEALER", filepath.Join(d.data, "dealer.token"))
			env.Setenv("DEALER_TOKEN", d.token("dealer.token"))
			env.Setenv("VKEY", filepath.Join(d.data, "main.vkey"))
			env.Setenv("OTHER", other)
			return nil
		},
		Cmds: termtest.Commands(),
	})
}

// TestPlay plays whole games with the commands, each script against a daemon of
// its own, so that its first shuffle is 2.
func TestPlay(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(filepath.Join("testdata", "play", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	commands := termtest.Commands()
	commands["word"], commands["until"] = word, until
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t, "")
			d.start()
			testscript.Run(t, testscript.Params{
				Files:               []string{script},
				RequireExplicitExec: true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("SHUFFLED_URL", d.url)
					env.Setenv("SHUFFLED_KEY", filepath.Join(d.data, "main.vkey"))
					env.Setenv("SHUFFLED_TOKEN", d.token("dealer.token"))
					return nil
				},
				Cmds: commands,
			})
		})
	}
}

// word sets a variable to the word after a label, at the start of a line of a file.
func word(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: word VARIABLE FILE LABEL")
	}
	m := regexp.MustCompile(`(?m)^ *` + regexp.QuoteMeta(args[2]) + ` +(\S+)`).FindStringSubmatch(ts.ReadFile(args[1]))
	if m == nil {
		ts.Fatalf("%s has no line of %q", args[1], args[2])
	}
	ts.Setenv(args[0], m[1])
}

// until runs a program until its output matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN PROGRAM [ARG …]")
	}
	pattern := regexp.MustCompile(`(?m)` + args[0])
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		ts.Check(ts.Exec(args[1], args[2:]...))
		out := ts.ReadFile("stdout")
		if pattern.MatchString(out) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the output never matched:\n%s", out)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
