package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostFields is how many fields a struct may have. What it has more of is read in one piece by nobody.
const mostFields = 20

// lists are structs with more fields, each of which is an element of a list that others
// read: a message, a configuration, a command line.
var lists = map[string]string{
	"cmd/shuffled.cli":          "commands",
	"internal/audit/spec.Event": "members of an entry in the data files",
	"internal/config.Config":    "sections of the configuration file",
	"internal/config.Limits":    "settings of the configuration file",
	"internal/follow.Event":     "members of a JSON message",
	"internal/inspect.Report":   "members of a JSON report",
	"internal/verify.Verdict":   "members of a JSON report",
	"perf/load.Report":          "members of a JSON report",
}

// large are structs that have more fields, and how many: to be divided.
var large = map[string]int{}

// TestFields: a struct has at most mostFields fields, except the lists; a large one gets
// no more, and loses its line when it has become small enough.
func TestFields(t *testing.T) {
	structs := map[string]int{}
	eachGoFile(t, func(file string, text []byte) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(f) {
			countFields(structs, filepath.ToSlash(filepath.Dir(file)), f)
		}
	})
	if len(structs) < 200 {
		t.Errorf("only %d structs were found", len(structs))
	}
	for _, name := range slices.Sorted(maps.Keys(structs)) {
		n, ceiling := structs[name], max(mostFields, large[name])
		if _, is := lists[name]; n > ceiling && !is {
			t.Errorf("%s has %d fields, and may have %d", name, n, ceiling)
		}
		if n < large[name] {
			t.Errorf("%s has %d fields: lower its ceiling, which is %d", name, n, large[name])
		}
	}
	for name := range lists {
		if structs[name] <= mostFields {
			t.Errorf("%s is among the lists, and has %d fields", name, structs[name])
		}
	}
	for name := range large {
		if structs[name] == 0 {
			t.Errorf("%s is among the large structs, and there is none", name)
		}
	}
}

// countFields counts the fields of each struct of a file. A struct without a name of its
// own goes by that of the declaration that it is in.
func countFields(structs map[string]int, pkg string, f *ast.File) {
	for _, decl := range f.Decls {
		var name string
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.ValueSpec:
				name = n.Names[0].Name
			case *ast.TypeSpec:
				name = n.Name.Name
			case *ast.StructType:
				key := pkg + "." + name
				structs[key] = max(structs[key], n.Fields.NumFields())
			}
			return true
		})
	}
}

// TestCountFields: names of one line count each, an embedded type once, and a struct inside another apart from it.
func TestCountFields(t *testing.T) {
	const text = `package p
type T struct { a, b int; U; c struct { d, e, f, g, h int } }
type U struct{}
var v = []struct{ a int }{}
func f() { type L struct { x, y int } }`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	countFields(got, "p", f)
	if want := map[string]int{"p.T": 5, "p.U": 0, "p.v": 1, "p.L": 2}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
