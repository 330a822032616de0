package audit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// generated is what go generate ./internal/audit writes into docs/SPEC.md: the table of section 15 and worked values.
var generated = regexp.MustCompile(`(?s)<!-- (codes: made by|worked [a-z_]+ -->).*?<!-- (codes|worked) end -->`)

// specText is docs/SPEC.md and docs/SPEC-BLIND.md without what is generated.
func specText(t *testing.T) string {
	t.Helper()
	text := string(mustRead(t, "../../docs/SPEC.md")) + string(mustRead(t, "../../docs/SPEC-BLIND.md"))
	if n := len(generated.FindAllString(text, -1)); n < 40 {
		t.Fatalf("the specification has %d parts that are generated", n)
	}
	return generated.ReplaceAllString(text, "")
}

// TestSpecCodes: each code that docs/SPEC.md names in its text is in the registry, with that
// name. Sections 4 and 5 write a code as "129 mark_adopted", headings as "Key (type 6)".
func TestSpecCodes(t *testing.T) {
	text := specText(t)
	known := make(map[string][]string) // codes by name, as text
	for _, list := range registry {
		for code, name := range list.names {
			if name != "" {
				known[name] = append(known[name], fmt.Sprint(code))
			}
		}
	}
	for _, line := range strings.Split(string(mustRead(t, "codes.txt")), "\n") { // reserved codes are in it alone
		if f := strings.Fields(line); len(f) > 3 && f[0] != "list" && f[0] != "#" {
			known[f[1]] = append(known[f[1]], f[0])
		}
	}
	_, formats, _ := strings.Cut(text, "\n## 4 ")
	formats, _, _ = strings.Cut(formats, "\n## 6 ")
	found := 0
	for _, m := range regexp.MustCompile(`\b([0-9]+) ([a-z]+(?:_[a-z]+)*)\b`).FindAllStringSubmatch(formats, -1) {
		codes, ok := known[m[2]]
		if !ok && !strings.Contains(m[2], "_") {
			continue // "32 bytes" is no code
		}
		if found++; !slices.Contains(codes, m[1]) {
			t.Errorf("docs/SPEC.md names the code %s %s, which no list of section 15 has", m[1], m[2])
		}
	}
	if found < 60 {
		t.Errorf("only %d codes stand in sections 4 and 5", found)
	}
	types := regexp.MustCompile(`(?m)^### 5\.[0-9]+ (\w+) \(type ([0-9]+)\)$`).FindAllStringSubmatch(text, -1)
	for _, m := range types {
		if !slices.Contains(known[strings.ToLower(m[1])], m[2]) {
			t.Errorf("docs/SPEC.md has the type %s as %s, which is not in section 15", m[2], m[1])
		}
	}
	if len(types) != 12 {
		t.Errorf("%d types of entries have a section", len(types))
	}
}

// TestSpecLabels: the labels of docs/SPEC.md section 1.3 are those that the program has.
func TestSpecLabels(t *testing.T) {
	_, table, _ := strings.Cut(specText(t), "\n### 1.3 Labels")
	table, _, _ = strings.Cut(table, "\n### 1.4")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(shuffled/v1/[a-z-]+)\\\\0` \\|").FindAllStringSubmatch(table, -1) {
		listed = append(listed, m[1])
	}
	label := regexp.MustCompile(`"(shuffled/v1/[a-z-]+)\\x00"`)
	var used []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range label.FindAllStringSubmatch(string(source), -1) {
			used = append(used, m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(used)
	if used = slices.Compact(used); !slices.Equal(listed, used) {
		t.Errorf("docs/SPEC.md section 1.3 lists\n%q\nthe program has\n%q", listed, used)
	}
}

var (
	fenced       = regexp.MustCompile("(?s)\n```.*?\n```")
	quoted       = regexp.MustCompile("`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”")
	keyWord      = regexp.MustCompile(`\b(MUST|REQUIRED|SHALL|SHOULD|RECOMMENDED|MAY|OPTIONAL)\b`)
	keyWordLower = regexp.MustCompile(`\b(must|required|shall|should|recommended|may|optional)\b`)
	ends         = regexp.MustCompile(`[.:;]\s+|\n\n|\n *- |\n *[0-9]+\. `)
)

// TestSpecLanguage: the specification uses the key words of BCP 14 in capitals and nowhere else, one a sentence, and
// none in a remark, which begins with >. docs/SPEC.md has at most 2,850 lines of at most 120 columns.
func TestSpecLanguage(t *testing.T) {
	for i, line := range strings.Split(string(mustRead(t, "../../docs/SPEC.md")), "\n") {
		if n := utf8.RuneCountInString(line); n > 120 || i > 2850 {
			t.Errorf("line %d has %d columns", i+1, n)
		}
	}
	text := quoted.ReplaceAllString(fenced.ReplaceAllString(specText(t), ""), "")
	var rules, remarks strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ">") {
			remarks.WriteString(line)
			line = "\n"
		}
		rules.WriteString(line)
	}
	for _, m := range keyWord.FindAllString(remarks.String(), -1) {
		t.Errorf("a remark says %s", m)
	}
	required := 0
	for _, sentence := range ends.Split(rules.String(), -1) {
		if m := keyWordLower.FindString(sentence); m != "" {
			t.Errorf("a rule says %q in lower case: %.200s", m, sentence)
		}
		n := len(keyWord.FindAllString(sentence, -1))
		if required += n; n > 1 {
			t.Errorf("%d requirements in one sentence: %.200s", n, sentence)
		}
	}
	if n := strings.Count(rules.String(), "BCP 14"); n != 2 || required < 50 || remarks.Len() < 5000 {
		t.Errorf("BCP 14 is named %d times, in section 1 and the references; %d requirements, %d bytes of remarks", n,
			required, remarks.Len())
	}
}

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
