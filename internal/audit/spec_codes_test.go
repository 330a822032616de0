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
