package arrows

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestChecks: the table of checks in CONTRIBUTING.md, the targets of the Makefile and
// what .ci/run makes of them are the same.
func TestChecks(t *testing.T) {
	for _, fault := range checksDiffer(readFile(t, ".github/CONTRIBUTING.md"), readFile(t, "Makefile"),
		readFile(t, ".ci/run")) {
		t.Error(fault)
	}
}

// readFile reads a file of the tree.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	checkRow  = regexp.MustCompile("(?m)^\\| `make ([a-z-]+)(?: [^`]*)?` \\|.*\\| ([^|]*) \\| ([^|]*) \\|$")
	phonyLine = regexp.MustCompile(`(?m)^\.PHONY: (.*)$`)
	targetOf  = regexp.MustCompile(`(?m)^([a-z-]+):(?: [a-z-]+)*$`)
	shortOf   = regexp.MustCompile(`(?m)^short='([^']*)'$`)
	allOf     = regexp.MustCompile(`(?m)^all='([^']*)'$`)
)

// shown are targets that check nothing.
var shown = []string{"demo", "run"}

// checksDiffer returns where the table of checks differs from the Makefile and from .ci/run.
func checksDiffer(document, makefile, ci string) (faults []string) {
	var rows, short, all, targets, phony []string
	for _, m := range checkRow.FindAllStringSubmatch(document, -1) {
		rows = append(rows, m[1])
		for i, list := range []*[]string{&short, &all} {
			switch m[2+i] {
			case "yes":
				*list = append(*list, m[1])
			case "":
			default:
				faults = append(faults, fmt.Sprintf("make %s: a cell is %q, and may be yes or empty", m[1], m[2+i]))
			}
		}
	}
	for _, m := range targetOf.FindAllStringSubmatch(makefile, -1) {
		targets = append(targets, m[1])
	}
	for _, m := range phonyLine.FindAllStringSubmatch(makefile, -1) {
		phony = append(phony, strings.Fields(m[1])...)
	}
	same := func(what string, got []string, other string, want []string) {
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			faults = append(faults, fmt.Sprintf("%s has %q, %s %q", what, got, other, want))
		}
	}
	same("the table", slices.Concat(rows, shown), "the Makefile", targets)
	same(".PHONY", phony, "the Makefile", targets)
	for _, list := range []struct {
		name string
		line *regexp.Regexp
		rows []string
	}{{"short", shortOf, short}, {"all", allOf, all}} {
		m := list.line.FindStringSubmatch(ci)
		if m == nil {
			faults = append(faults, ".ci/run has no line "+list.name+"='…'")
			continue
		}
		same("the column of the table", list.rows, list.name+" of .ci/run", strings.Fields(m[1]))
	}
	return faults
}

// TestChecksDiffer: differences that TestChecks must not let through.
func TestChecksDiffer(t *testing.T) {
	const (
		document = "| `make a` | all | yes |  |\n| `make a-all X=1` | all | | yes |\n| `make b` | b | yes | yes |\n"
		makefile = ".PHONY: demo run a a-all\n.PHONY: b\ndemo:\nrun:\na:\n\tx\na-all: a\nb:\n"
		ci       = "short='a b'\nall='a-all b'\n"
	)
	table := strings.ReplaceAll(document, "|  |", "| |")
	table = strings.ReplaceAll(table, "| |", "|  |")
	for _, test := range []struct{ document, makefile, ci, want string }{
		{table, makefile, ci, ""},
		{table, makefile + "c:\n", ci, "the Makefile"},
		{table, strings.Replace(makefile, " a-all\n", "\n", 1), ci, ".PHONY"},
		{table, makefile, strings.Replace(ci, "a b", "b", 1), "short of .ci/run"},
		{table, makefile, strings.Replace(ci, "a-all b", "a-all b a", 1), "all of .ci/run"},
		{table, makefile, "short='a b'\n", "no line all"},
		{strings.Replace(table, "yes", "sometimes", 1), makefile, ci, "may be yes or empty"},
		{strings.Replace(table, "| `make b` | b | yes | yes |\n", "", 1), makefile, ci, "the table"},
	} {
		faults := strings.Join(checksDiffer(test.document, test.makefile, test.ci), "\n")
		if faults == "" != (test.want == "") || !strings.Contains(faults, test.want) {
			t.Errorf("%q\n%q\n%q: %s\nwant %q", test.document, test.makefile, test.ci, faults, test.want)
		}
	}
}

// skipped is a variable of the Makefile with the names of tests that a check leaves out.
var skipped = regexp.MustCompile(`(?m)^[A-Z_]+ = \^\(([A-Za-z|]+)\)\$\$$`)

// TestSkipped: what the Makefile leaves out by name is a test of the tree, or has been
// renamed and is no longer left out.
func TestSkipped(t *testing.T) {
	all := map[string]bool{}
	eachGoFile(t, func(file string, text []byte) {
		if strings.HasSuffix(file, "_test.go") {
			for _, m := range testFunc.FindAllSubmatch(text, -1) {
				all[string(m[1])] = true
			}
		}
	})
	lists := skipped.FindAllStringSubmatch(readFile(t, "Makefile"), -1)
	if len(lists) < 3 {
		t.Errorf("the Makefile has only %d lists of tests that a check leaves out", len(lists))
	}
	for _, list := range lists {
		for _, name := range strings.Split(list[1], "|") {
			if !all[name] {
				t.Errorf("the Makefile leaves out %s, which is no test", name)
			}
		}
	}
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

var link = regexp.MustCompile(`(?m)(?:\]\(|^\[[^\]]+\]: )([^)\s]+)`)

// TestLinks: what a document of the tree links to in the tree is there, headings included.
func TestLinks(t *testing.T) {
	links, headings := 0, map[string][]string{} // by file
	eachFile(t, func(file string, text []byte) {
		if !strings.HasSuffix(file, ".md") || strings.HasPrefix(wide[file], "a template") {
			return
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, ":") {
				continue
			}
			links++
			to = filepath.Join(filepath.Dir(file), to)
			if strings.HasPrefix(m[1], "#") {
				to = file
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			} else if strings.HasSuffix(to, ".md") && anchor != "" {
				if headings[to] == nil {
					headings[to] = anchors(readFile(t, to))
				}
				if !slices.Contains(headings[to], anchor) {
					t.Errorf("%s links to %s, and %s has no such heading", file, m[1], to)
				}
			}
		}
	})
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

// step is a line of a walk in CONTRIBUTING.md: a file, and names of the code in it.
var step = regexp.MustCompile(`(?m)^\d+\. \[[^\]]+\]\(\.\./([^)]+)\): (.*)$`)

// TestWalks: each step of the walks in CONTRIBUTING.md names code that is in its file.
func TestWalks(t *testing.T) {
	text := strings.ReplaceAll(readFile(t, ".github/CONTRIBUTING.md"), "\n   ", " ")
	steps := step.FindAllStringSubmatch(text, -1)
	if len(steps) < 15 {
		t.Errorf("only %d steps were found", len(steps))
	}
	for _, m := range steps {
		names := code.FindAllString(m[2], -1)
		if len(names) == 0 {
			t.Errorf("the step at %s names nothing", m[1])
		}
		source := readFile(t, m[1])
		for _, name := range names {
			name = strings.Trim(name, "`")
			name = name[strings.LastIndex(name, ".")+1:]
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(source) {
				t.Errorf("%s has no %s", m[1], name)
			}
		}
	}
}
