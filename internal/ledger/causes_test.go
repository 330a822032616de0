package ledger

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

// TestWhatStopsAStart holds the tables of docs/operations/alerts.md against what is printed: the first is made of the
// causes and cures that serve, doctor and /readyz print, and UPDATE_GOLDEN=1 writes it; the sentences of the second are
// in the sources of the product.
func TestWhatStopsAStart(t *testing.T) {
	const page = "../../docs/operations/alerts.md"
	const begins = "<!-- Written by UPDATE_GOLDEN=1 go test ./internal/ledger -run TestWhatStopsAStart. -->\n"
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
	for _, cause := range slices.Sorted(maps.Keys(causes)) {
		start := map[bool]string{true: "is tried again", false: "ends"}[cause.Passes()]
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
	after, _, _ = strings.Cut(after, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(after, -1)
	sources := sourcesOf(t, "../../cmd", "..")
	for _, row := range rows {
		if !strings.Contains(sources, row[1]) {
			t.Errorf("%s: no source prints %q", page, row[1])
		}
	}
	if len(rows) < 8 {
		t.Errorf("%s has only %d other sentences", page, len(rows))
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
