package audit

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSpecTried: appendix A, and section 10 of the text on dealing blind, say of each section what tries it, except of
// the references and of what has no more than a preface; the files are there, and so are the tests.
func TestSpecTried(t *testing.T) {
	for name, prefaces := range map[string]string{"SPEC": "1 2 3 4 5 6 7 10 12 13 14 16 19", "SPEC-BLIND": "10"} {
		text := string(mustRead(t, "../../docs/"+name+".md"))
		_, table, _ := strings.Cut(text, "\n| section | tried by |\n")
		rows := regexp.MustCompile(`(?m)^\| ([0-9., ]+) \| (.*) \|$`).FindAllStringSubmatch(table, -1)
		var listed []string
		for _, row := range rows {
			listed = append(listed, strings.Split(row[1], ", ")...)
			named := regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[2], -1)
			if len(named) == 0 && !strings.Contains(row[2], "](") {
				t.Errorf("nothing tries %s", row[1])
			}
			pkg := ""
			if m := regexp.MustCompile("` of `([a-z/]+)`").FindStringSubmatch(row[2]); m != nil {
				pkg = m[1]
			}
			for _, m := range named {
				if strings.HasPrefix(m[1], "Test") {
					if !hasTest(t, filepath.Join("..", pkg), m[1]) {
						t.Errorf("%s: internal/%s has no %s", row[1], pkg, m[1])
					}
				} else if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
					t.Errorf("%s: %v", row[1], err)
				}
			}
		}
		var sections []string
		for _, m := range regexp.MustCompile(`(?m)^##+ ([0-9.]+) `).FindAllStringSubmatch(text, -1) {
			sections = append(sections, m[1])
		}
		sections = slices.DeleteFunc(sections, func(s string) bool { return slices.Contains(strings.Fields(prefaces), s) })
		slices.Sort(sections)
		slices.Sort(listed)
		if len(sections) < 9 || !slices.Equal(sections, listed) {
			t.Errorf("docs/%s.md: sections\n%q\nof which the table lists\n%q", name, sections, listed)
		}
	}
}

// hasTest reports whether a test of this name is in a directory.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		return strings.Contains(string(mustRead(t, file)), "\nfunc "+name+"(")
	})
}
