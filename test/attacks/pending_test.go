package attacks

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/testdb"
)

// pending lists the attacks that this tree does not stop yet, each with the task that
// will stop it. The change that adds a defence removes its entry.
var pending = map[string]string{}

// attack begins a test that may run alongside others. It skips a pending attack.
func attack(t *testing.T) {
	t.Helper()
	attackAlone(t)
	t.Parallel()
}

// attackAlone begins a test that runs alone. It skips a pending attack.
func attackAlone(t *testing.T) {
	t.Helper()
	if item, ok := pending[t.Name()]; ok && os.Getenv("SHUFFLED_ATTACKS_ALL") != "1" {
		t.Skipf("PENDING: this attack gets through until %s is done", item)
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("SHUFFLED_ATTACKS") == "" {
		fmt.Println("attacks: not run here; make attacks runs them")
		return
	}
	testdb.Main(m)
}

// TestPending counts the attacks and the pending ones. It checks that each entry of
// the table is a test of this package, and that each test begins with attack or
// attackAlone.
func TestPending(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	attacks := make(map[string]bool)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "Test") || fn.Name.Name == "TestMain" ||
				fn.Name.Name == t.Name() {
				continue
			}
			if attacks[fn.Name.Name] = begins(fn); !begins(fn) {
				t.Errorf("%s does not begin with attack(t)", fn.Name.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pending)) {
		if !attacks[name] {
			t.Errorf("%s is pending, and no attack has this name", name)
		}
		fmt.Printf("attacks: PENDING %s (%s)\n", name, pending[name])
	}
	if len(attacks) < 25 {
		t.Errorf("%d attacks", len(attacks))
	}
	fmt.Printf("attacks: %d in the suite, %d of them pending\n", len(attacks), len(pending))
}

// begins reports whether the first statement of the test calls attack or attackAlone.
func begins(fn *ast.FuncDecl) bool {
	if len(fn.Body.List) == 0 {
		return false
	}
	s, ok := fn.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := s.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := c.Fun.(*ast.Ident)
	return ok && (id.Name == "attack" || id.Name == "attackAlone")
}
