package proof

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	stated  = regexp.MustCompile(`(?m)^Theorem (\w+)`)
	asked   = regexp.MustCompile(`(?m)^Print Assumptions (\w+\.\w+)\.$`)
	claimed = regexp.MustCompile("(?m)^\\| `(\\w+\\.\\w+)` \\| .+ \\|$")
)

// TestPage: three lists of theorems are the same, and name each theorem once: those of the
// files, those whose assumptions Coq prints, and those of docs/PROOF.md.
func TestPage(t *testing.T) {
	files, err := filepath.Glob("../../proof/*.v")
	if err != nil {
		t.Fatal(err)
	}
	var theorems []string
	for _, file := range files {
		for _, m := range stated.FindAllStringSubmatch(read(t, file), -1) {
			theorems = append(theorems, strings.TrimSuffix(filepath.Base(file), "v")+m[1])
		}
	}
	if slices.Sort(theorems); len(theorems) < 30 {
		t.Errorf("only %d theorems were found", len(theorems))
	}
	for _, list := range []struct {
		file string
		name *regexp.Regexp
	}{{"../../proof/Assumptions.v", asked}, {"../../docs/PROOF.md", claimed}} {
		var names []string
		for _, m := range list.name.FindAllStringSubmatch(read(t, list.file), -1) {
			names = append(names, m[1])
		}
		if slices.Sort(names); !slices.Equal(names, theorems) {
			t.Errorf("%s has\n%q, and the files have\n%q", list.file, names, theorems)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
