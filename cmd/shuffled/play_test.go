package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"shuffled/internal/term/termtest"
)

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
					for _, v := range d.environment() {
						name, value, _ := strings.Cut(v, "=")
						env.Setenv(name, value)
					}
					return nil
				},
				Cmds: commands,
			})
		})
	}
}

// environment is what the commands for this daemon take from theirs.
func (d *daemon) environment() []string {
	return []string{"SHUFFLED_URL=" + d.url, "SHUFFLED_KEY=" + filepath.Join(d.data, "main.vkey"), "SHUFFLED_TOKEN=" +
		d.token("dealer.token")}
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
