package arrows

import (
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// objects says of each name of the product's packages in which files it is declared and mentioned, without tests, known
// answers and generated code. A name is package.name, or package.Type.name for a method or a field.
type objects struct {
	declared  map[string]string
	mentioned map[string]map[string]bool
}

// objectsOf type-checks the packages of the root module.
func objectsOf(t *testing.T) objects {
	t.Helper()
	all := compiled(t)
	found := objects{map[string]string{}, map[string]map[string]bool{}}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		name, own := ours(path)
		if !own || nested(name) || table[name].testOnly {
			continue
		}
		p := all.check(t, path)
		names := map[types.Object]string{}
		for _, pkg := range append([]*types.Package{p.types}, reached(p.types)...) {
			nameObjects(names, pkg)
		}
		note := func(uses map[*ast.Ident]types.Object, declares bool) {
			for id, object := range uses {
				name, known := names[origin(object)]
				file := p.fset.Position(id.Pos()).Filename
				if !known || p.generated[file] || strings.HasPrefix(filepath.Base(file), "selftest") {
					continue
				}
				file = relative(t, file)
				if declares {
					found.declared[name] = file
				}
				if found.mentioned[name] == nil {
					found.mentioned[name] = map[string]bool{}
				}
				found.mentioned[name][file] = true
			}
		}
		note(p.info.Defs, true)
		note(p.info.Uses, false)
	}
	return found
}

// relative returns a file's name from the root of the tree, with slashes.
func relative(t *testing.T, file string) string {
	t.Helper()
	top, err := filepath.Abs(root)
	if err == nil {
		file, err = filepath.Rel(top, file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(file)
}

// origin returns the declared object of one that may be of a generic type with its arguments.
func origin(object types.Object) types.Object {
	switch o := object.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return object
}

// reached returns the packages of the product that a package imports, and what these
// import: a field can be named without an import of the package of its type.
func reached(from *types.Package) []*types.Package {
	seen := map[*types.Package]bool{from: true}
	for queue := []*types.Package{from}; len(queue) > 0; queue = queue[1:] {
		for _, imp := range queue[0].Imports() {
			if _, own := ours(imp.Path()); own && !seen[imp] {
				seen[imp] = true
				queue = append(queue, imp)
			}
		}
	}
	delete(seen, from)
	return slices.Collect(maps.Keys(seen))
}

// nameObjects gives each object of a package's scope, each method and each field its name.
func nameObjects(names map[types.Object]string, pkg *types.Package) {
	path, _ := ours(pkg.Path())
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		names[object] = path + "." + name
		typ, ok := object.(*types.TypeName)
		if !ok {
			continue
		}
		if named, ok := typ.Type().(*types.Named); ok {
			for m := range named.Methods() {
				names[m] = path + "." + name + "." + m.Name()
			}
		}
		switch under := typ.Type().Underlying().(type) {
		case *types.Struct:
			for f := range under.Fields() {
				if f.Pkg() == pkg {
					names[f] = path + "." + name + "." + f.Name()
				}
			}
		case *types.Interface:
			for m := range under.ExplicitMethods() {
				names[m] = path + "." + name + "." + m.Name()
			}
		}
	}
}
