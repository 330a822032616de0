package arrows

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestArrows holds the module's own import graph against the rules.
func TestArrows(t *testing.T) {
	rememberSources(t)
	g := load(t)
	for _, must := range []string{"shuffled/internal/shuffle", "shuffled/internal/audit", "crypto/sha256"} {
		if _, ok := g[must]; !ok {
			t.Fatalf("the graph of %d packages lacks %s", len(g), must)
		}
	}
	for _, breach := range (rules{table, impure, bans, monopolies}).check(g) {
		t.Error(breach)
	}
}

// load asks the go command for the module's packages and everything they reach.
// A package that does not build (-e) still has its imports; the build is the
// test of that.
func load(t *testing.T) graph {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Standard,Imports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	g := graph{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Standard   bool
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return g
		} else if err != nil {
			t.Fatalf("reading go list: %v", err)
		}
		g[p.ImportPath] = node{p.Standard, p.Imports}
	}
}

// rememberSources looks at every source file. The go command then knows what
// this test depends on and does not repeat a cached result after a change: it
// sees what a test opens, but not what a test's child reads.
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
