package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"shuffled/internal/compliance"
)

// A result is what became of a piece of evidence, from good to bad.
type result int

const (
	unknown result = iota // it was not run
	pass
	skip    // the machine lacks something; the test says what
	missing // it was to run, and did not
	fail
)

func (r result) String() string { return [...]string{"-", "pass", "SKIPPED", "FAIL", "FAIL"}[r] }

// runner runs evidence. One goroutine uses it.
type runner struct {
	long     bool
	root     string // of the module
	dir      string // of its own: the binary, and what commands write
	tests    map[string]result
	commands map[string]result
}

func key(pkg, test string) string { return pkg + " " + test }

// newRunner builds the command.
func newRunner(long bool) (*runner, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("asking go for the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "compliance-")
	if err != nil {
		return nil, err
	}
	r := &runner{long, filepath.Dir(strings.TrimSpace(string(mod))), dir, map[string]result{}, map[string]result{}}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "shuffled"), "./cmd/shuffled")
	build.Dir, build.Stderr = r.root, os.Stderr
	if err := build.Run(); err != nil {
		r.close()
		return nil, fmt.Errorf("building the command: %w", err)
	}
	return r, nil
}

func (r *runner) close() { os.RemoveAll(r.dir) }

// evidence is all that is to be run.
func (r *runner) evidence() iter.Seq[compliance.Evidence] {
	return func(yield func(compliance.Evidence) bool) {
		for _, g := range compliance.Groups() {
			for _, row := range g.Rows {
				for _, e := range row.Evidence {
					if (r.long || !e.Long) && !yield(e) {
						return
					}
				}
			}
		}
	}
}

// goTest runs tests of one package; those with subtests in runs of their own.
func (r *runner) goTest(ctx context.Context, pkg string, names []string) error {
	var whole []string
	for _, name := range names {
		if !strings.Contains(name, "/") {
			whole = append(whole, name)
		} else if err := r.goTestRun(ctx, pkg, []string{name}); err != nil {
			return err
		}
	}
	if whole == nil {
		return nil
	}
	return r.goTestRun(ctx, pkg, whole)
}

func (r *runner) goTestRun(ctx context.Context, pkg string, names []string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=10m", "-json", "-run", compliance.Pattern(names), "./"+pkg)
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("running tests of %s: %w", pkg, err)
	}
	r.read(pkg, out)
	for _, name := range names {
		switch r.tests[key(pkg, name)] {
		case fail, skip:
			printOutput(out, name)
		case missing:
			fmt.Fprintf(os.Stderr, "compliance: %s in %s did not run to its end\n", name, pkg)
		}
	}
	return ctx.Err()
}

// event is a line of go test -json.
type event struct{ Action, Test, Output string }

func events(out []byte) iter.Seq[event] {
	return func(yield func(event) bool) {
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) == nil && !yield(e) {
				return
			}
		}
	}
}

// read takes the results of the tests that were asked for.
func (r *runner) read(pkg string, out []byte) {
	results := map[string]result{"pass": pass, "fail": fail, "skip": skip}
	for e := range events(out) {
		k := key(pkg, e.Test)
		if res := results[e.Action]; res != unknown && r.tests[k] != unknown {
			r.tests[k] = res
		}
	}
}

func printOutput(out []byte, test string) {
	for e := range events(out) {
		if e.Test == test || strings.HasPrefix(e.Test, test+"/") {
			fmt.Fprint(os.Stderr, e.Output)
		}
	}
}

// shuffled runs the command in the runner's own directory.
func (r *runner) shuffled(ctx context.Context, args []string) result {
	cmd := exec.CommandContext(ctx, filepath.Join(r.dir, "shuffled"), args...)
	cmd.Dir = r.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%scompliance: shuffled %s: %v\n", out, strings.Join(args, " "), err)
		return fail
	}
	return pass
}
