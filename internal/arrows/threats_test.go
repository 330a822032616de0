package arrows

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// neverShows is what a row says that no test can try, and untried what stands in the place of its tests.
const (
	neverShows = "**does not show**"
	untried    = "none"
)

// goTest is a test as docs/THREATS.md names it, directory.Test, and webTest one of the
// second implementation, file: title.
var (
	goTest  = regexp.MustCompile(`^([a-z0-9/_]+)\.(Test[A-Z]\w*)$`)
	webTest = regexp.MustCompile(`^(web/[a-z]+\.test\.mjs): (.+)$`)
	code    = regexp.MustCompile("`[^`]*`")
)

// TestThreats: each row of docs/THREATS.md names the tests that try its attack, and the
// tree has them. Only a row that says that it does not show may do without.
func TestThreats(t *testing.T) {
	rowsNameTests(t, "docs/THREATS.md", readFile(t, "docs/THREATS.md"), neverShows, 50)
}

// TestC2SP: each row of docs/C2SP.md names the tests of its requirement, and the tree has them.
func TestC2SP(t *testing.T) {
	rowsNameTests(t, "docs/C2SP.md", readFile(t, "docs/C2SP.md"), neverShows, 40)
}

// TestBlind: each row of the attacks and failures in docs/BLIND.md names the tests that try it,
// or says that there is none, and the tree has them.
func TestBlind(t *testing.T) {
	text := readFile(t, "docs/BLIND.md")
	before, text, _ := strings.Cut(text, "\n## 8 Attacks\n")
	text, _, _ = strings.Cut(text, "\n## 10 ")
	rowsNameTests(t, "docs/BLIND.md", strings.Repeat("\n", strings.Count(before, "\n")+2)+text, "", 34)
}

// rowsNameTests holds the tables of a page, of which there are so many rows at least, against the tree.
func rowsNameTests(t *testing.T, page, text, without string, least int) {
	t.Helper()
	rows, faults := threats(page, text, without, hasTest)
	for _, fault := range faults {
		t.Error(fault)
	}
	if rows < least {
		t.Errorf("only %d rows of %s were found", rows, page)
	}
}

// TestThreatsFaults: rows that TestThreats must not let through.
func TestThreatsFaults(t *testing.T) {
	has := func(name string) error {
		if name != "a.TestB" {
			return fmt.Errorf("there is no %s", name)
		}
		return nil
	}
	head := "| attack | what happens | tried by |\n|---|---|---|\n"
	for row, fault := range map[string]bool{
		"| x | **cannot** | `a.TestB` |":            false,
		"| x | **does not show** | none |":          false,
		"| x | **does not show** | `a.TestB` |":     false,
		"| x | **cannot** | none |":                 true,
		"| x | **cannot** | |":                      true,
		"| x | **cannot** `a.TestB` | see above |":  true,
		"| x | **cannot** | `a.TestC` |":            true,
		"| x | **cannot** | `a.TestB`, `a.TestC` |": true,
		"| x | **does not show** | `a.TestC` |":     true,
		"| x | **does not show** |":                 true,
	} {
		if rows, faults := threats("page", head+row+"\n", neverShows, has); rows != 1 || len(faults) > 0 != fault {
			t.Errorf("%s: %d rows, %v", row, rows, faults)
		}
	}
	if _, faults := threats("page", "| attack | what happens |\n|---|---|\n| x | **cannot** |\n", neverShows, has); len(faults) == 0 {
		t.Error("a table without a column of tests is let through")
	}
}

// threats reads the tables of the page, except that of its words, and returns how many
// rows there are and what is wrong with them. A row that says without may name no test.
func threats(page, text, without string, has func(name string) error) (rows int, faults []string) {
	var head []string
	for number, line := range strings.Split(text, "\n") {
		fault := func(what string) { faults = append(faults, fmt.Sprintf("%s:%d: %s", page, number+1, what)) }
		cells := strings.Split(strings.Trim(line, "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			head = nil
			continue
		case head == nil:
			head = cells
			if !aboutWords(head) && strings.TrimSpace(head[len(head)-1]) != "tried by" {
				fault("the last column of a table is not: tried by")
			}
			continue
		case aboutWords(head), strings.HasPrefix(line, "|---"):
			continue
		}
		rows++
		if len(cells) != len(head) {
			fault(fmt.Sprintf("a row has %d cells, and its table %d", len(cells), len(head)))
			continue
		}
		last := strings.TrimSpace(cells[len(cells)-1])
		names := code.FindAllString(last, -1)
		if len(names) == 0 && (last != untried || !strings.Contains(line, without)) {
			fault("a row names no test")
		}
		for _, name := range names {
			if err := has(strings.Trim(name, "`")); err != nil {
				fault(err.Error())
			}
		}
	}
	return rows, faults
}

// aboutWords reports whether the table with this head says what the page's words mean.
func aboutWords(head []string) bool { return strings.TrimSpace(head[0]) == "word" }

// hasTest looks for a test in the tree.
func hasTest(name string) error {
	if m := webTest.FindStringSubmatch(name); m != nil {
		source, err := os.ReadFile(filepath.Join(root, m[1]))
		if err == nil && !strings.Contains(string(source), fmt.Sprintf("test(%q", m[2])) {
			err = fmt.Errorf("%s has no test %q", m[1], m[2])
		}
		return err
	}
	m := goTest.FindStringSubmatch(name)
	if m == nil {
		return fmt.Errorf("%q is not the name of a test: directory.Test, or web/file.test.mjs: title", name)
	}
	pending, err := os.ReadFile(filepath.Join(root, m[1], "pending_test.go"))
	if err == nil && strings.Contains(string(pending), fmt.Sprintf("\t%q:", m[2])) {
		return fmt.Errorf("%s of %s is pending: its attack gets through", m[2], m[1])
	}
	files, err := filepath.Glob(filepath.Join(root, m[1], "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(source), "\nfunc "+m[2]+"(t *testing.T)") {
			return nil
		}
	}
	return fmt.Errorf("there is no %s in %s", m[2], m[1])
}
