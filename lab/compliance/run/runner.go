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
	"sync"

	"shuffled/lab/compliance"
)

// A result is what became of a piece of evidence, from good to bad.
type result int

const (
	unknown result = iota // it was not run
	pass
	skip    // the machine lacks something; the test says what
	missing // it should have run, and did not
	fail
)

func (r result) String() string { return [...]string{"-", "pass", "SKIPPED", "FAIL", "FAIL"}[r] }

// runner runs evidence.
type runner struct {
	long     bool
	root     string // of the source
	dir      string // of its own: the programs, and what commands write
	mu       sync.Mutex
	tests    map[string]result // guarded by mu while tests run
	commands map[string]result
}

func key(pkg, test string) string { return pkg + " " + test }

// newRunner builds the programs.
func newRunner(long bool) (*runner, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "shuffled").Output()
	if err != nil {
		return nil, fmt.Errorf("finding the source: %w", err)
	}
	dir, err := os.MkdirTemp("", "compliance-")
	if err != nil {
		return nil, err
	}
	r := &runner{
		long: long, root: strings.TrimSpace(string(root)), dir: dir,
		tests: map[string]result{}, commands: map[string]result{},
	}
	for program, module := range map[string]string{"shuffled": ".", "shuffled-lab": "lab"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, program), "./cmd/"+program)
		build.Dir, build.Stderr = filepath.Join(r.root, module), os.Stderr
		if err := build.Run(); err != nil {
			r.close()
			return nil, fmt.Errorf("building %s: %w", program, err)
		}
	}
	return r, nil
}

func (r *runner) close() { os.RemoveAll(r.dir) }

// evidence is everything that must be run.
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

// goTest runs tests of one package.
func (r *runner) goTest(ctx context.Context, pkg string, names []string) error {
	dir, inModule := compliance.Evidence{Package: pkg}.Module()
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=10m", "-json", "-run",
		compliance.Pattern(names), inModule)
	cmd.Dir, cmd.Stderr = filepath.Join(r.root, dir), os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("running tests of %s: %w", pkg, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
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

// read takes the results of the requested tests. The caller holds r.mu.
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
