package arrows

import (
	"slices"
	"strings"
	"testing"
)

// lawful is a small made-up module that keeps the rules.
func lawful() graph {
	return graph{
		"crypto/rand":        {std: true},
		"crypto/sha256":      {std: true},
		"math/rand":          {std: true},
		"math/rand/v2":       {std: true},
		"net/http":           {std: true, imports: []string{"crypto/rand"}},
		"os":                 {std: true},
		"testing":            {std: true},
		"example.org/lib":    {imports: []string{"crypto/sha256"}},
		"example.org/lib/db": {imports: []string{"net/http"}},

		"shuffled/shuffle":      {imports: []string{"crypto/sha256"}},
		"shuffled/entropy":      {imports: []string{"crypto/rand", "os"}},
		"shuffled/audit":        {imports: []string{"shuffled/shuffle", "example.org/lib"}},
		"shuffled/verify":       {imports: []string{"shuffled/audit", "shuffled/shuffle"}},
		"shuffled/store":        {imports: []string{"shuffled/audit", "example.org/lib/db"}},
		"shuffled/bench":        {imports: []string{"shuffled/store", "math/rand/v2", "testing"}},
		"shuffled/testdb":       {imports: []string{"testing"}},
		"shuffled/lab/battery":  {imports: []string{"shuffled/shuffle", "shuffled/testdb"}},
		"shuffled/cmd/shuffled": {imports: []string{"shuffled/verify", "shuffled/store", "shuffled/entropy"}},
	}
}

var made = rules{
	table: map[string]row{
		"shuffle":      {stdOnly: true, pure: true},
		"entropy":      {stdOnly: true},
		"audit":        {ours: []string{"shuffle"}, pure: true},
		"verify":       {ours: []string{"audit", "shuffle"}},
		"store":        {ours: []string{"audit"}},
		"bench":        {ours: []string{"*"}, testOnly: true},
		"testdb":       {testOnly: true},
		"lab/battery":  {ours: []string{"shuffle", "testdb"}},
		"cmd/shuffled": {ours: []string{"*"}},
		"later":        {},
	},
	impure: []string{"os"},
	bans: []ban{
		{"verify", "offline", []string{"shuffled/entropy", "net/http"}},
		{"later", "not written yet", []string{"net/http"}},
		{"cmd/shuffled", "no tests", []string{"testing"}},
	},
	monopolies: []monopoly{
		{"crypto/rand", map[string]string{"entropy": "tapes"}},
		{"math/rand", map[string]string{}},
		{"math/rand/v2", map[string]string{"bench": "rival"}},
		{"shuffled/entropy", map[string]string{"cmd/shuffled": "wires it"}},
		{"example.org/lib/db", map[string]string{"store": "its own"}},
	},
}

func TestLawfulGraphPasses(t *testing.T) {
	if breaches := made.check(lawful()); len(breaches) > 0 {
		t.Fatalf("breaches:\n%s", strings.Join(breaches, "\n"))
	}
}

// TestBreachesAreFound adds one import to the lawful module and sees exactly the breaches it makes.
func TestBreachesAreFound(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     []string // beginnings of the breaches, in order
	}{
		{"shuffle", "shuffled/audit", []string{"shuffle imports shuffled/audit: no such arrow"}},
		{"audit", "shuffled/store", []string{
			"audit imports shuffled/store: no such arrow",
			"verify reaches net/http: offline: shuffled/verify → shuffled/audit → shuffled/store → example.org/lib/db → net/http",
		}},
		{"entropy", "shuffled/shuffle", []string{"entropy imports shuffled/shuffle: no such arrow"}},
		{"shuffle", "example.org/lib", []string{"shuffle imports example.org/lib: standard library only"}},
		{"entropy", "example.org/lib", []string{"entropy imports example.org/lib: standard library only"}},
		{"shuffle", "os", []string{"shuffle imports os: not pure"}},
		{"audit", "os", []string{"audit imports os: not pure"}},
		{"verify", "net/http", []string{"verify reaches net/http: offline: shuffled/verify → net/http"}},
		{"verify", "shuffled/entropy", []string{
			"verify imports shuffled/entropy: no such arrow", "verify reaches shuffled/entropy",
		}},
		{"shuffle", "net/http", []string{
			"verify reaches net/http: offline: shuffled/verify → shuffled/shuffle → net/http",
		}},
		{"store", "crypto/rand", []string{"store imports crypto/rand: reserved for entropy"}},
		{"entropy", "math/rand", []string{"entropy imports math/rand: reserved for "}},
		{"entropy", "math/rand/v2", []string{"entropy imports math/rand/v2: reserved for bench"}},
		{"bench", "math/rand", []string{"bench imports math/rand: reserved for "}},
		{"cmd/shuffled", "example.org/lib/db", []string{"cmd/shuffled imports example.org/lib/db: reserved for store"}},
		{"cmd/shuffled", "shuffled/testdb", []string{
			"cmd/shuffled imports shuffled/testdb: that is for tests only",
			"cmd/shuffled reaches testing",
		}},
		{"store", "shuffled/bench", []string{
			"store imports shuffled/bench: that is for tests only",
			"cmd/shuffled reaches testing: no tests: shuffled/cmd/shuffled → shuffled/store → shuffled/bench → testing",
		}},
		{"cmd/shuffled", "shuffled/lab/battery", []string{
			"cmd/shuffled imports shuffled/lab/battery: that is in another module", "cmd/shuffled reaches testing",
		}},
		{"lab/battery", "shuffled/store", []string{"lab/battery imports shuffled/store: no such arrow"}},
		{"bench", "shuffled/entropy", []string{"bench imports shuffled/entropy: reserved for cmd/shuffled"}},
		{"newcomer", "crypto/sha256", []string{"newcomer is not in the table"}},
	} {
		t.Run(test.from+" "+test.to, func(t *testing.T) {
			g := lawful()
			n := g[module+"/"+test.from]
			n.imports = append(slices.Clone(n.imports), test.to)
			g[module+"/"+test.from] = n
			got := made.check(g)
			same := slices.EqualFunc(got, test.want, func(g, w string) bool { return strings.HasPrefix(g, w) })
			if !same {
				t.Errorf("breaches:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestTableIsComplete sees that the table names only packages that it has, and gives a reason for everything.
func TestTableIsComplete(t *testing.T) {
	for name, row := range table {
		if row.why == "" {
			t.Errorf("%s has no reason", name)
		}
		for _, o := range row.ours {
			if _, ok := table[o]; !ok && o != "*" {
				t.Errorf("%s may import %s, which has no row", name, o)
			}
		}
	}
	for _, b := range bans {
		if _, ok := table[b.from]; !ok || b.why == "" {
			t.Errorf("the ban on %s has no row or no reason", b.from)
		}
		for _, p := range b.all {
			if own, ok := ours(p); ok && table[own].why == "" {
				t.Errorf("the ban on %s names %s, which has no row", b.from, p)
			}
		}
	}
	for _, m := range monopolies {
		for holder, why := range m.holders {
			if _, ok := table[holder]; !ok || why == "" {
				t.Errorf("%s, which may import %s, has no row or no reason", holder, m.what)
			}
		}
	}
}
