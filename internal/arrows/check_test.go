package arrows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const module = "shuffled" // the module's path

// A graph maps import paths to what they import, without tests.
type graph map[string]node

type node struct {
	std     bool
	imports []string
}

// ours returns a path relative to the module, and whether it is in it.
func ours(path string) (string, bool) {
	return strings.CutPrefix(path, module+"/")
}

// within reports whether path is top or below it.
func within(path, top string) bool {
	return path == top || strings.HasPrefix(path, top+"/")
}

// A rules value is everything that a graph is held against.
type rules struct {
	table      map[string]row
	impure     []string
	bans       []ban
	monopolies []monopoly
}

// check returns every breach of the rules, in order.
func (r rules) check(g graph) []string {
	var breaches []string
	for _, path := range slices.Sorted(maps.Keys(g)) {
		name, ok := ours(path)
		if !ok {
			continue
		}
		row, ok := r.table[name]
		if !ok {
			breaches = append(breaches, fmt.Sprintf("%s is not in the table", name))
			continue
		}
		for _, imp := range g[path].imports {
			if why := r.refuse(g, name, row, imp); why != "" {
				breaches = append(breaches, fmt.Sprintf("%s imports %s: %s", name, imp, why))
			}
		}
	}
	for _, ban := range r.bans {
		for _, banned := range ban.all {
			if chain := reach(g, module+"/"+ban.from, banned); chain != nil {
				breaches = append(breaches, fmt.Sprintf("%s reaches %s: %s: %s",
					ban.from, banned, ban.why, strings.Join(chain, " → ")))
			}
		}
	}
	return breaches
}

// refuse says why the package name may not import imp directly, or nothing.
func (r rules) refuse(g graph, name string, row row, imp string) string {
	if own, ok := ours(imp); ok {
		all := slices.Equal(row.ours, []string{"*"})
		if r.table[own].testOnly && !row.testOnly && !nested(name) {
			return "that is for tests only"
		}
		if nested(own) && !nested(name) {
			return "that is in another module"
		}
		if !all && !slices.Contains(row.ours, own) {
			return "no such arrow; " + row.why
		}
		return r.reserved(name, imp)
	}
	if row.stdOnly && !g[imp].std {
		return "standard library only; " + row.why
	}
	if row.pure && slices.Contains(r.impure, imp) {
		return "not pure; " + row.why
	}
	return r.reserved(name, imp)
}

// reserved says who alone may import imp, if name is not among them.
func (r rules) reserved(name, imp string) string {
	for _, m := range r.monopolies {
		if _, ok := m.holders[name]; within(imp, m.what) && !ok && !r.narrower(m.what, imp) {
			return "reserved for " + strings.Join(slices.Sorted(maps.Keys(m.holders)), ", ")
		}
	}
	return ""
}

// narrower reports whether imp has a monopoly of its own below what, as math/rand/v2 has below math/rand.
func (r rules) narrower(what, imp string) bool {
	return slices.ContainsFunc(r.monopolies, func(m monopoly) bool {
		return len(m.what) > len(what) && within(imp, m.what)
	})
}

// reach returns a shortest chain of imports from one package to another or to something below it, or nil.
func reach(g graph, from, to string) []string {
	if _, ok := g[from]; !ok {
		return nil // not written yet
	}
	parent := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if within(at, to) {
			var chain []string
			for p := at; p != ""; p = parent[p] {
				chain = append(chain, p)
			}
			slices.Reverse(chain)
			return chain
		}
		for _, imp := range g[at].imports {
			if _, seen := parent[imp]; !seen {
				parent[imp] = at
				queue = append(queue, imp)
			}
		}
	}
	return nil
}
