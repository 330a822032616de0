package compliance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// TestRows: every requirement has its row, and every row says something.
func TestRows(t *testing.T) {
	want := []string{"3.2.1", "3.2.2", "3.2.3", "3.2.4", "3.2.5", "3.3.1", "3.3.2", "3.3.3", "3.4.2"}
	for i := range 44 {
		want = append(want, strconv.Itoa(i+1))
	}
	seen := map[string]bool{}
	for _, g := range Groups() {
		for _, r := range g.Rows {
			if seen[r.ID] {
				t.Errorf("row %s stands twice", r.ID)
			}
			seen[r.ID] = true
			if r.Title == "" || r.Requirement == "" {
				t.Errorf("row %s has no title or no requirement", r.ID)
			}
			if r.Evidence == nil && r.NotShown == "" && r.Duty == "" {
				t.Errorf("row %s: nothing shows it, and it does not say so", r.ID)
			}
			runs := func(e Evidence) bool { return e.Document == "" }
			if r.Evidence != nil && !slices.ContainsFunc(r.Evidence, runs) {
				t.Errorf("row %s: a text shows it, and nothing that runs", r.ID)
			}
		}
	}
	for _, id := range want {
		if !seen[id] {
			t.Errorf("requirement %s has no row", id)
		}
	}
}

// TestProfiles: each clause names rows that exist, and only profiles that were read have
// clauses.
func TestProfiles(t *testing.T) {
	rows := map[string]bool{}
	for _, g := range Groups() {
		for _, r := range g.Rows {
			rows[r.ID] = true
		}
	}
	read := 0
	for _, p := range Profiles() {
		if p.Read {
			read++
		}
		if p.Read != (len(p.Clauses) > 0) || p.Source == "" {
			t.Errorf("%s: read %v, %d clauses, source %q", p.Regulator, p.Read, len(p.Clauses), p.Source)
		}
		for _, c := range p.Clauses {
			if c.Asks == "" || len(c.Rows) == 0 && c.Gap == "" {
				t.Errorf("%s, %s: %+v", p.Regulator, c.ID, c)
			}
			for _, id := range c.Rows {
				if !rows[id] {
					t.Errorf("%s, %s: there is no row %s", p.Regulator, c.ID, id)
				}
			}
		}
	}
	if read < 6 {
		t.Errorf("%d profiles were read first-hand", read)
	}
}

// TestEvidence: everything to which a row points exists. lab/cmd/shuffled-lab checks
// the commands.
func TestEvidence(t *testing.T) {
	packages := map[string]*source{}
	count := 0
	for _, g := range Groups() {
		for _, r := range g.Rows {
			for _, e := range r.Evidence {
				if e.Package != "" && packages[e.Package] == nil {
					packages[e.Package] = parse(t, filepath.Join(root, e.Package))
				}
				for _, fault := range e.check(packages[e.Package]) {
					t.Errorf("row %s: %s", r.ID, fault)
				}
				count++
			}
		}
	}
	if count < 100 {
		t.Errorf("the table has %d pieces of evidence: has it lost some?", count)
	}
}

// TestEvidenceIsChecked: the check finds evidence that does not exist.
func TestEvidenceIsChecked(t *testing.T) {
	here := parse(t, ".")
	for _, e := range []Evidence{
		{},
		{Shows: "two kinds", Package: "lab/compliance", Tests: []string{"TestRows"}, Args: []string{"version"}},
		tests("lab/compliance", "no test"),
		tests("lab/compliance", "", "TestRows"),
		tests("lab/compliance", "no such test", "TestRows", "TestNothing"),
		tests("lab/compliance", "a helper", "parse"),
		tests("lab/compliance", "a subtest", "TestEvidenceIsChecked/a name"),
		document("docs/NOTHING.md", "The kit", "no such document"),
		document("docs/LAB.md", "No such section", "no such section"),
	} {
		if e.check(here) == nil {
			t.Errorf("%+v: nothing was found", e)
		}
	}
}

// check returns what is wrong with the evidence; in is its package.
func (e Evidence) check(in *source) (faults []string) {
	kinds := 0
	for _, is := range []bool{e.Tests != nil, e.Args != nil, e.Document != ""} {
		if is {
			kinds++
		}
	}
	if kinds != 1 || e.Shows == "" {
		return []string{"evidence is tests, a command or a document, and says what it shows"}
	}
	for _, name := range e.Tests {
		if !in.tests[name] {
			faults = append(faults, e.Package+" has no "+name)
		}
	}
	if e.Document != "" {
		text, err := os.ReadFile(filepath.Join(root, e.Document))
		if err != nil || !heading(string(text), e.Section) {
			faults = append(faults, e.Document+" has no section "+e.Section)
		}
	}
	return faults
}

func heading(text, section string) bool {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && strings.TrimSpace(strings.TrimLeft(rest, "#")) == section {
			return true
		}
	}
	return false
}

// source is what the test files of a package hold.
type source struct{ tests map[string]bool }

func parse(t *testing.T, dir string) *source {
	t.Helper()
	s := &source{map[string]bool{}}
	files, err := fs.Glob(os.DirFS(dir), "*_test.go")
	if err != nil || files == nil {
		t.Errorf("%s has no tests: %v", dir, err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") &&
				f.Name.Name != "TestMain" {
				s.tests[f.Name.Name] = true
			}
			return true
		})
	}
	return s
}

// TestDocument compares docs/COMPLIANCE.md with the table.
func TestDocument(t *testing.T) {
	got, err := os.ReadFile(filepath.Join(root, "docs", "COMPLIANCE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Markdown() {
		t.Error("docs/COMPLIANCE.md is not that of the table: go generate -C lab ./compliance")
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"TestA"}, "^TestA$"},
		{[]string{"TestA", "TestB"}, "^(TestA|TestB)$"},
	} {
		if got := Pattern(c.names); got != c.want {
			t.Errorf("%q: %s, want %s", c.names, got, c.want)
		}
	}
}

func TestAnchor(t *testing.T) {
	if got, want := Anchor("2.1 Draw 1..k"), "21-draw-1k"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
