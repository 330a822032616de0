package arrows

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ruleFile has each rule of the house with the files that a reader opens to know all of
// it, and most is how many these may be unless the rule has a ceiling of its own.
const (
	ruleFile = "RULES.md"
	most     = 3
)

// A rule is a section of ruleFile.
type rule struct {
	name    string
	ceiling int
	tests   []string
	files   map[string][]string // names declared in each, as Type.name or name
}

var (
	ruleLine    = regexp.MustCompile("^- `([^`]+)`(?:: (.+))?$")
	ceilingLine = regexp.MustCompile(`^At most (\d+) files: .+`)
	testLines   = regexp.MustCompile("(?m)^Tried by ((?:`[^`]+`,\\s)*`[^`]+`)\\.$")
)

// TestRules holds ruleFile against the product's code, and prints it with -v.
func TestRules(t *testing.T) {
	rememberSources(t)
	text, err := os.ReadFile(ruleFile)
	if err != nil {
		t.Fatal(err)
	}
	rules, faults := parseRules(string(text))
	found := objectsOf(t)
	for _, r := range rules {
		t.Logf("%-36s %2d files, ceiling %2d: %s", r.name, len(r.files), r.ceiling,
			strings.Join(slices.Sorted(maps.Keys(r.files)), " "))
		faults = append(faults, r.check(found, hasTest)...)
	}
	for _, fault := range faults {
		t.Error(ruleFile + ": " + fault)
	}
	if len(rules) < 24 {
		t.Errorf("%s has only %d rules", ruleFile, len(rules))
	}
}

// parseRules reads the sections of ruleFile, and returns what is wrong with its form.
func parseRules(text string) (rules []rule, faults []string) {
	for _, section := range strings.Split(text, "\n## ")[1:] {
		lines := strings.Split(section, "\n")
		r := rule{name: lines[0], ceiling: most, files: map[string][]string{}}
		for _, tests := range testLines.FindAllString(section, -1) {
			r.tests = append(r.tests, codeIn.FindAllString(tests, -1)...)
		}
		for _, line := range lines[1:] {
			if m := ceilingLine.FindStringSubmatch(line); m != nil {
				r.ceiling, _ = strconv.Atoi(m[1])
			} else if m := ruleLine.FindStringSubmatch(line); m != nil {
				if _, twice := r.files[m[1]]; twice {
					faults = append(faults, fmt.Sprintf("%s: %s is listed twice", r.name, m[1]))
				}
				r.files[m[1]] = strings.FieldsFunc(m[2], func(c rune) bool { return c == ',' || c == ' ' })
			} else if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "At most ") {
				faults = append(faults, fmt.Sprintf("%s: %q is no line of a file and none of a ceiling", r.name, line))
			}
		}
		rules = append(rules, r)
	}
	return rules, faults
}

// check returns where a rule and the code differ. has looks for a test.
func (r rule) check(found objects, has func(name string) error) (faults []string) {
	fault := func(format string, args ...any) {
		faults = append(faults, r.name+": "+fmt.Sprintf(format, args...))
	}
	if len(r.tests) == 0 {
		fault("no test tries it: write a line, Tried by `directory.Test`.")
	}
	for _, test := range r.tests {
		if err := has(strings.Trim(test, "`")); err != nil {
			fault("%v", err)
		}
	}
	mentions := map[string]string{} // a name, by file
	for file, names := range r.files {
		for _, name := range names {
			full := filepath.ToSlash(filepath.Dir(file)) + "." + name
			if at := found.declared[full]; at != file {
				fault("%s does not declare %s (declared in: %q)", file, name, at)
			}
			for at := range found.mentioned[full] {
				mentions[at] = max(mentions[at], name)
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(mentions)) {
		if _, listed := r.files[file]; !listed {
			fault("%s mentions %s: move that to a listed file, or list the file", file, mentions[file])
		}
	}
	for _, file := range slices.Sorted(maps.Keys(r.files)) {
		if mentions[file] == "" {
			fault("%s mentions none of its names", file)
		}
	}
	switch n := len(r.files); {
	case n > r.ceiling:
		fault("%d files, and the ceiling is %d", n, r.ceiling)
	case n < r.ceiling && r.ceiling > most:
		fault("%d files: lower the ceiling, which is %d", n, r.ceiling)
	}
	return faults
}

// TestRulesFaults: tables that TestRules must not let through.
func TestRulesFaults(t *testing.T) {
	found := objects{
		declared: map[string]string{"p.a": "p/a.go", "p.T.b": "p/b.go"},
		mentioned: map[string]map[string]bool{
			"p.a": {"p/a.go": true, "q/c.go": true}, "p.T.b": {"p/b.go": true},
		},
	}
	has := func(name string) error {
		if name != "p.TestA" {
			return fmt.Errorf("there is no %s", name)
		}
		return nil
	}
	for text, want := range map[string]string{
		"- `p/a.go`: a\n- `q/c.go`":                                             "",
		"- `p/a.go`: a\n- `q/c.go`\n- `p/b.go`: T.b":                            "",
		"- `p/b.go`: T.b\n\nAt most 4 files: because":                           "lower the ceiling",
		"Tried by `p.TestA`,\n`p.TestB`.":                                       "there is no p.TestB",
		"Tried by nobody.":                                                      "no test tries it",
		"- `p/a.go`: a":                                                         "q/c.go mentions a",
		"- `p/a.go`: a\n- `q/c.go`\n- `p/b.go`":                                 "p/b.go mentions none",
		"- `p/a.go`: a\n- `q/c.go`: z":                                          "q/c.go does not declare z",
		"- `p/a.go`: a, b\n- `q/c.go`":                                          "p/a.go does not declare b",
		"- `p/a.go`: a\n- `q/c.go`\n- `q/c.go`":                                 "listed twice",
		"- p/a.go: a":                                                           "is no line of a file",
		"- `p/a.go`: a\n- `q/c.go`\n- `p/b.go`: T.b\n- `p/d.go`\n":              "4 files, and the ceiling is 3",
		"- `p/a.go`: a\n- `q/c.go`\n- `p/b.go`: T.b\n\nAt most 2 files: reason": "3 files, and the ceiling is 2",
	} {
		if !strings.HasPrefix(text, "Tried") {
			text = "Tried by `p.TestA`.\n\n" + text
		}
		rules, faults := parseRules("\n## rule\n\n" + text)
		for _, r := range rules {
			faults = append(faults, r.check(found, has)...)
		}
		if got := strings.Join(faults, "\n"); got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q:\n%s\nwant %q", text, got, want)
		}
	}
}
