package arrows

import (
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// knots are packages whose files use each other in circles, with the packages below them that were made of them. How
// many of their arrows may run back up is in ceilingFile; the goal is a fifth of what it was.
var knots = []string{"internal/ledger", "internal/audit", "internal/dealer"}

// fileGraph says of each file of one package which other files of it declare what the file uses.
type fileGraph map[string]map[string]bool

// TestFilesPointDown counts the arrows between the files of one package, and how many of them run back up.
func TestFilesPointDown(t *testing.T) {
	rememberSources(t)
	all := compiled(t)
	ceilings := ceilingsNow(t)
	for _, knot := range knots {
		back := 0
		for _, path := range slices.Sorted(maps.Keys(all)) {
			if name, own := ours(path); own && within(name, knot) && !table[name].testOnly &&
				areaOf(name) != "generators of code" {
				n, up := all.check(t, path).files().count()
				t.Logf("%-32s %6d arrows between files, %d run back up", name, n, up)
				back += up
			}
		}
		ceilings.hold(t, "back arrows of "+knot, "arrows", back)
	}
}

// files returns the graph of a package. Methods and fields are declarations of the file that they stand in.
func (p checked) files() fileGraph {
	g := fileGraph{}
	for id, object := range p.info.Uses {
		object = origin(object)
		v, isVar := object.(*types.Var)
		if object.Pkg() != p.types || isVar && !v.IsField() && v.Parent() != p.types.Scope() {
			continue // of another package, or local to a function
		}
		from, to := p.fset.Position(id.Pos()).Filename, p.fset.Position(object.Pos()).Filename
		if from == to || p.generated[from] || p.generated[to] {
			continue
		}
		from, to = filepath.Base(from), filepath.Base(to)
		if g[from] == nil {
			g[from] = map[string]bool{}
		}
		g[from][to] = true
	}
	return g
}

// count returns the number of arrows, and of those that run back up: from a file to one that uses it, directly or by
// others.
func (g fileGraph) count() (arrows, back int) {
	for from, used := range g {
		for to := range used {
			arrows++
			if g.reaches(to, from, map[string]bool{}) {
				back++
			}
		}
	}
	return arrows, back
}

func (g fileGraph) reaches(from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for next := range g[from] {
		if !seen[next] && g.reaches(next, to, seen) {
			return true
		}
	}
	return false
}

// TestFileGraph: arrows in a circle run back up, whatever their number, and no other does.
func TestFileGraph(t *testing.T) {
	to := func(files ...string) map[string]bool {
		set := map[string]bool{}
		for _, f := range files {
			set[f] = true
		}
		return set
	}
	for _, test := range []struct {
		g    fileGraph
		back int
	}{
		{fileGraph{"a": to("b", "c"), "b": to("c")}, 0},
		{fileGraph{"a": to("b"), "b": to("a")}, 2},
		{fileGraph{"a": to("b"), "b": to("c"), "c": to("a", "d"), "e": to("a")}, 3},
	} {
		if _, back := test.g.count(); back != test.back {
			t.Errorf("%v: %d arrows run back up, want %d", test.g, back, test.back)
		}
	}
}
