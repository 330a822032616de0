package arrows

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestArrows holds the modules' import graph against the rules.
func TestArrows(t *testing.T) {
	rememberSources(t)
	g := load(t)
	for _, must := range []string{"shuffled/internal/shuffle", "shuffled/lab/battery", "shuffled/perf/load",
		"crypto/sha256"} {
		if _, ok := g[must]; !ok {
			t.Fatalf("the graph of %d packages lacks %s", len(g), must)
		}
	}
	for _, breach := range (rules{table, impure, bans, monopolies}).check(g) {
		t.Error(breach)
	}
}

// modules are the directories of the modules below root: that of the product, then
// the nested ones, whose packages are in no program that deals.
var modules = []string{".", "lab", "perf", "test"}

// nested reports whether the package with this name is of a nested module.
func nested(name string) bool {
	return slices.ContainsFunc(modules[1:], func(dir string) bool { return within(name, dir) })
}

// load asks the go command for the modules' packages and everything they reach.
func load(t *testing.T) graph {
	t.Helper()
	g := graph{}
	type listing struct {
		ImportPath string
		Standard   bool
		Imports    []string
	}
	for p := range listed[listing](t, "-json=ImportPath,Standard,Imports") {
		g[p.ImportPath] = node{p.Standard, p.Imports}
	}
	return g
}

// listed yields what go list says of the packages of each module and of everything they reach. A package that does not
// build (-e) still has its imports; the build is the test of that.
func listed[P any](t *testing.T, flags ...string) iter.Seq[P] {
	t.Helper()
	return func(yield func(P) bool) {
		for _, dir := range modules {
			cmd := exec.Command("go", append(append([]string{"list", "-e", "-deps"}, flags...), "./...")...)
			cmd.Dir = filepath.Join(root, dir)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("go list in %s: %v\n%s", dir, err, &stderr)
			}
			for dec := json.NewDecoder(bytes.NewReader(out)); ; {
				var p P
				if err := dec.Decode(&p); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("reading go list: %v", err)
				}
				if !yield(p) {
					return
				}
			}
		}
	}
}

// TestModules: the product's module replaces nothing and needs nothing of what measures it, so that go install works on
// it; each nested module takes the product from this tree and replaces nothing else.
func TestModules(t *testing.T) {
	rememberSources(t)
	for _, dir := range modules {
		path := filepath.Join(root, dir, "go.mod")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		replaces := regexp.MustCompile(`(?m)^replace .*$`).FindAllString(string(text), -1)
		if dir == "." {
			if replaces != nil || regexp.MustCompile(`gonum|shuffled/`).Match(text) {
				t.Errorf("%s replaces a module, or needs what only measures", path)
			}
		} else if !slices.Equal(replaces, []string{"replace shuffled => ../"}) {
			t.Errorf("%s replaces %q", path, replaces)
		}
	}
}

// rememberSources looks at every source file. The go command then knows what this test depends on and does not repeat a
// cached result after a change: it sees what a test opens, but not what a test's child reads.
func rememberSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") || d.Name() == "go.mod" {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
