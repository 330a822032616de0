package stops

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWhatStopsAStart holds the table of docs/operations/alerts.md against the causes; UPDATE_GOLDEN=1 writes it. Each
// cause has a row, and something uses it.
func TestWhatStopsAStart(t *testing.T) {
	const page = "../../docs/operations/alerts.md"
	const begins = "<!-- Written by UPDATE_GOLDEN=1 go test ./internal/stops. -->\n"
	const ends = "<!-- The end of what the test writes. -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), begins)
	_, after, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	var b strings.Builder
	b.WriteString("\n| cause | the start | cure |\n|---|---|---|\n")
	for _, cause := range slices.Sorted(maps.Keys(table)) {
		start := "is tried again"
		if !cause.Passes() {
			start = fmt.Sprintf("ends with %d", cause.Exit())
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cause, start, cause.Cure())
	}
	want := before + begins + b.String() + "\n" + ends + after
	if os.Getenv("UPDATE_GOLDEN") != "" {
		err = os.WriteFile(page, []byte(want), 0o644)
	} else if want != string(text) {
		err = fmt.Errorf("%s has another table of causes than\n%s", page, b.String())
	}
	if err != nil {
		t.Error(err)
	}
	own, err := os.ReadFile("stops.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^\t(\w+) +Cause = `).FindAllSubmatch(own, -1)
	if len(names) != len(table) {
		t.Errorf("%d causes, of which %d are in the table", len(names), len(table))
	}
	sources := sourcesOf(t, "../../cmd", "..")
	for _, name := range names {
		if !regexp.MustCompile(`\bstops\.` + string(name[1]) + `\b`).MatchString(sources) {
			t.Errorf("no source uses stops.%s", name[1])
		}
	}
}

// sourcesOf returns the source of all packages below some directories, without tests.
func sourcesOf(t *testing.T, roots ...string) string {
	t.Helper()
	var b strings.Builder
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			b.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
