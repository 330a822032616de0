package kit

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listed is one package in the binary, as the go command lists it.
type listed struct {
	ImportPath, Dir  string
	GoFiles, Imports []string
	Standard         bool
}

// inBinary returns the packages of the program that deals and of the program that
// measures.
func inBinary(t *testing.T) []listed {
	t.Helper()
	var all []listed
	seen := map[string]bool{}
	for dir, program := range map[string]string{"../..": "./cmd/shuffled", "..": "./cmd/shuffled-lab"} {
		cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,Imports,Standard", program)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p listed
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if !seen[p.ImportPath] {
				seen[p.ImportPath] = true
				all = append(all, p)
			}
		}
	}
	if len(all) < 100 {
		t.Fatalf("the binary has %d packages?", len(all))
	}
	return all
}

// TestCallsAreComplete: the list has every use of randomness in the source of the
// binary, and nothing else.
func TestCallsAreComplete(t *testing.T) {
	anywhere := map[[2]string]bool{} // package and what it calls, wherever in it
	said := map[[3]string]bool{}
	for _, c := range Calls() {
		said[[3]string{c.Package, c.Function, c.Calls}] = true
		if c.Function == "" {
			anywhere[[2]string{c.Package, c.Calls}] = true
		}
		if c.Purpose == "" || c.Influence != None && c.Influence != Moves && c.Influence != Chooses {
			t.Errorf("%s %s: purpose %q, influence %q", c.Package, c.Function, c.Purpose, c.Influence)
		}
	}
	found := map[[3]string]bool{}
	for _, p := range inBinary(t) {
		name, own := strings.CutPrefix(p.ImportPath, "shuffled/")
		if !own {
			continue
		}
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for call := range uses(f) {
				c := [3]string{name, call[0], call[1]}
				if anywhere[[2]string{name, call[1]}] {
					c[1] = ""
				}
				found[c] = true
			}
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(found),
		func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		if !said[c] {
			t.Errorf("%s: %s uses %s, and is not in the list", c[0], c[1], c[2])
		}
	}
	for c := range said {
		if !found[c] {
			t.Errorf("the list has %s in %s of %s, which is not in the source", c[2], c[1], c[0])
		}
	}
}

// TestLibrariesAreComplete does the same for packages of other modules.
func TestLibrariesAreComplete(t *testing.T) {
	found := map[[2]string]bool{}
	for _, p := range inBinary(t) {
		if p.Standard || strings.HasPrefix(p.ImportPath, "shuffled/") {
			continue
		}
		for _, imp := range p.Imports {
			if imp == "crypto/rand" || imp == "math/rand" || imp == "math/rand/v2" {
				found[[2]string{p.ImportPath, imp}] = true
			}
		}
	}
	said := map[[2]string]bool{}
	for _, l := range Libraries() {
		said[[2]string{l.Package, l.Imports}] = true
	}
	if !maps.Equal(found, said) {
		t.Errorf("in the binary: %v\nin the list: %v", found, said)
	}
}

// TestUsesAreFound: the search finds each kind of use.
func TestUsesAreFound(t *testing.T) {
	const text = `package p
import ("crypto/cipher"; other "crypto/rand"; "crypto/hpke"; "shuffled/internal/outcome"; "math/rand/v2")
var captured = other.Reader
func (s *T) M() { other.Read(nil); s.src.Tape(9); s.src.Tape(8) }
func f() { cipher.NewGCMWithRandomNonce(nil); hpke.NewSender(nil); x := func() { outcome.Make() }; k.GenerateKey(nil); x(); rand.N(7) }
func g() { cipher.NewGCM(nil); cipher.NewCTR(nil); rand := 1; outcome.Check(rand) }
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	want := map[[2]string]bool{
		{"captured", "rand.Reader"}: true, {"T.M", "rand.Read"}: true, {"T.M", "entropy.Source.Tape"}: true,
		{"f", "cipher.NewGCMWithRandomNonce"}: true, {"f", "hpke.NewSender"}: true, {"f", "outcome.Make"}: true,
		{"g", "cipher.NewCTR"}: true, {"f", "GenerateKey"}: true, {"f", "math/rand/v2.N"}: true,
	}
	if got := uses(f); !maps.Equal(got, want) {
		t.Errorf("found %v\nwant %v", got, want)
	}
}

// uses returns which functions of a file use which randomness. It goes by names: of
// packages by their import, of methods by their calls.
func uses(f *ast.File) map[[2]string]bool {
	names := map[string]string{} // in this file: the path of the import
	for _, imp := range f.Imports {
		at, _ := strconv.Unquote(imp.Path.Value)
		name := path.Base(at)
		if imp.Name != nil {
			name = imp.Name.Name
		} else if name == "v2" {
			name = path.Base(path.Dir(at))
		}
		names[name] = at
	}
	found := map[[2]string]bool{}
	for _, decl := range f.Decls {
		ast.Inspect(decl, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if isCall {
				n = call.Fun
			}
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name == "Tape" && !isCall { // fields have that name, too
				return true
			}
			from := ""
			if x, ok := sel.X.(*ast.Ident); ok {
				from = names[x.Name]
			}
			if what := random(from, sel.Sel.Name); what != "" {
				found[[2]string{declared(decl, n), what}] = true
			}
			return true
		})
	}
	return found
}

// random names the use of randomness that from.name is, with from the path of an
// import or "" for a method; "" for none.
func random(from, name string) string {
	switch full := path.Base(from) + "." + name; {
	case from == "crypto/rand":
		return full
	case from == "math/rand" || from == "math/rand/v2":
		return from + "." + name
	case from == "" && name == "Tape":
		return "entropy.Source.Tape"
	case from == "" && name == "GenerateKey":
		return name
	case full == "cipher.NewGCMWithRandomNonce", full == "cipher.NewCTR", full == "hpke.NewSender",
		full == "age.Encrypt", full == "ed25519.GenerateKey", full == "note.GenerateKey",
		full == "outcome.Make", full == "outcome.Raw":
		return full
	}
	return ""
}

// declared names the function or variable whose declaration holds the node.
func declared(decl ast.Decl, n ast.Node) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		of := d.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		return of.(*ast.Ident).Name + "." + d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && v.Pos() <= n.Pos() && n.Pos() < v.End() {
				return v.Names[0].Name
			}
		}
	}
	return ""
}
