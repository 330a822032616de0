package arrows

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reserved lists the packages that may name a function or method at all, to call it or to pass it on, each with its
// reason. It is what proves that the lab measures what is dealt: bytes for a tape are read in one package, so no other
// can spend fresh ones.
var reserved = map[string]map[string]string{
	"(*shuffled/internal/entropy.Source).Tape": {
		"internal/outcome": "the one place where a tape becomes an outcome",
	},
	"shuffled/internal/outcome.Make": {
		"internal/dealer": "commits to it",
		"lab":             "measures it",
	},
	"shuffled/internal/outcome.Raw": {
		"lab":          "writes it out; nothing is dealt of it",
		"lab/alarms":   "counts what the health tests say of it",
		"lab/controls": "the honest bytes that its faults spoil",
	},
	"(shuffled/internal/shuffle.Recipe).Run": {
		"internal/outcome":             "fresh tapes",
		"lab/exact":                    "proves it, on tapes that it writes",
		"lab/controls":                 "spends tapes of generators with a fault",
		"internal/dealer/record":       "opens a stored tape",
		"internal/shuffle":             "tapes of known answers",
		"internal/audit/answers":       "tapes of known answers",
		"internal/audit/spec":          "a commit of 52 cards, for tests",
		"internal/fsck":                "recomputes from a stored tape",
		"internal/cli/demo":            "opens stored tapes, as root on a host can",
		"internal/inspect":             "recomputes from a disclosed tape",
		"internal/verify":              "recomputes from a disclosed tape",
		"client":                       "recomputes from a disclosed tape",
		"internal/inspect/inspecttest": "invents ledgers, for tests",
		"perf/load":                    "recomputes from a disclosed tape",
	},
	"(*shuffled/internal/dealer/record.Reader).Open": {
		"internal/dealer":       "answers with dealt cards",
		"internal/dealer/blind": "shows what was not dealt",
	},
	"(*shuffled/internal/dealer/record.Reader).TapeOf": {"internal/dealer": "discloses it with the close"},
	"(shuffled/internal/shuffle.Recipe).Explain": {
		"internal/cli/audit": "shows a disclosed tape lane by lane",
		"internal/shuffle":   "tapes of known answers",
	},
}

// TestReserved type-checks every package of the modules that can name one of the reserved functions, without its tests,
// and finds who does. It does not see a method that is called through an interface, so no package may write one that
// has a method Tape.
func TestReserved(t *testing.T) {
	rememberSources(t)
	packages := compiled(t)
	seen := map[string]map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		name, own := ours(path)
		if !own || !packages[path].canName() {
			continue
		}
		for what, at := range packages.names(t, path) {
			if seen[what] == nil {
				seen[what] = map[string]bool{}
			}
			seen[what][name] = true
			if _, may := reserved[what][name]; !may && "shuffled/"+name != declaredIn(what) {
				t.Errorf("%s: %s is reserved for %s", at, what,
					strings.Join(slices.Sorted(maps.Keys(reserved[what])), ", "))
			}
		}
	}
	for what, holders := range reserved {
		for holder, why := range holders {
			if why == "" || !seen[what][holder] {
				t.Errorf("%s is reserved for %s, which does not use it or has no reason", what, holder)
			}
		}
	}
}

// declaredIn returns the package of a function's full name.
func declaredIn(what string) string {
	what = strings.TrimLeft(what, "(*")
	slash := strings.LastIndex(what, "/")
	return what[:slash+strings.Index(what[slash:], ".")]
}

// unit is one package as the go command builds it.
type unit struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	ImportMap               map[string]string
}

type units map[string]unit

// compiled builds the modules and returns their packages and all that they reach.
func compiled(t *testing.T) units {
	t.Helper()
	all := units{}
	for u := range listed[unit](t, "-export", "-json=ImportPath,Dir,Export,GoFiles,Imports,ImportMap") {
		if _, seen := all[u.ImportPath]; !seen {
			all[u.ImportPath] = u
		}
	}
	return all
}

// canName reports whether a package imports any of this module. Another one can get hold of no value whose methods are
// reserved. Importing the package of its type is not needed for that.
func (u unit) canName() bool {
	return slices.ContainsFunc(u.Imports, func(imp string) bool { _, own := ours(imp); return own })
}

// checked is one package of the modules, type-checked without its tests.
type checked struct {
	fset      *token.FileSet
	types     *types.Package
	info      *types.Info
	generated map[string]bool // by file
}

// check type-checks a package against the compiled ones.
func (all units) check(t *testing.T, path string) checked {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	generated := map[string]bool{}
	for _, name := range all[path].GoFiles {
		name = filepath.Join(all[path].Dir, name)
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		generated[name] = ast.IsGenerated(f)
		files = append(files, f)
	}
	info := &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{},
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(imp string) (io.ReadCloser, error) {
		if mapped, ok := all[path].ImportMap[imp]; ok {
			imp = mapped
		}
		if all[imp].Export == "" {
			return nil, fmt.Errorf("%s was not built", imp)
		}
		return os.Open(all[imp].Export)
	})}
	pkg, err := conf.Check(path, fset, files, info)
	if err != nil {
		t.Fatalf("type-checking %s: %v", path, err)
	}
	return checked{fset, pkg, info, generated}
}

// names returns, for each reserved function that a package names, one place.
func (all units) names(t *testing.T, path string) map[string]string {
	t.Helper()
	p := all.check(t, path)
	found := map[string]string{}
	for id, object := range p.info.Uses {
		if f, ok := object.(*types.Func); ok && reserved[f.FullName()] != nil {
			found[f.FullName()] = p.fset.Position(id.Pos()).String()
		}
	}
	for e, of := range p.info.Types {
		if i, ok := of.Type.(*types.Interface); ok && of.IsType() && has(i, "Tape") {
			t.Errorf("%s: an interface with a method Tape would hide who calls the source's", p.fset.Position(e.Pos()))
		}
	}
	return found
}

func has(i *types.Interface, method string) bool {
	for m := range i.NumMethods() {
		if i.Method(m).Name() == method {
			return true
		}
	}
	return false
}
