package kit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"shuffled/internal/entropy"
)

// TestNoSeed: the packages between generator and outcome read no environment, flag,
// file or setting; the source takes only a function to call at a fault; and nothing
// in the binary makes a source of another reader.
func TestNoSeed(t *testing.T) {
	path := []string{"shuffled/internal/entropy", "shuffled/internal/shuffle", "shuffled/internal/outcome"}
	outside := []string{"flag", "io/fs", "net", "net/http", "os", "os/exec", "syscall", "math/rand", "math/rand/v2",
		"unsafe"}
	seen := 0
	for _, p := range inBinary(t) {
		if slices.Contains(path, p.ImportPath) {
			seen++
			for _, imp := range p.Imports {
				if slices.Contains(outside, imp) {
					t.Errorf("%s imports %s", p.ImportPath, imp)
				}
			}
		}
		if p.Standard || p.ImportPath == "shuffled/internal/entropy" ||
			!slices.Contains(p.Imports, "shuffled/internal/entropy") {
			continue
		}
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "NewFrom" {
					t.Errorf("%s in %s makes a source from a reader of its own", file, p.ImportPath)
				}
				return true
			})
		}
	}
	if seen != len(path) {
		t.Errorf("%d of %d packages are in the binary", seen, len(path))
	}
	config := reflect.TypeFor[entropy.Config]()
	if config.NumField() != 1 || config.Field(0).Type.Kind() != reflect.Func {
		t.Errorf("entropy.Config is %v: a source is made from more than a function to call at a fault", config)
	}
}
