package arrows

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An area is a part of the source that one kind of reader reads. Its lines, without
// tests, test support and generated code, stay below the ceiling. The ceiling goes
// down when the area has become smaller, until it is the goal; it goes up for a
// reason that its commit gives.
type area struct {
	name          string
	ceiling, goal int
	packages      []string // with those below them, unless another area has these
}

// knownAnswers is the area of the tests that a program runs on itself before it
// starts. They lie in files selftest*.go of the packages that they test.
const knownAnswers = "known answers"

// product is the area of everything in the root module.
const product = "product"

var areas = []area{
	{"certified path", 11_830, 9_500, []string{
		"internal/shuffle", "internal/entropy", "internal/outcome", "internal/audit", "internal/beacon",
		"internal/seal",
		"internal/disclosure", "internal/terms", "internal/verify",
	}},
	{"daemon", 27_340, 21_000, []string{
		"internal/codealer",
		"internal/ledger", "internal/witness", "internal/dealer", "internal/store", "internal/httpapi",
		"internal/recall", "internal/follow", "internal/wire",
		"internal/keys", "internal/config", "internal/monitor", "internal/process", "internal/outbound",
		"internal/build", "internal/beacon/relay", "internal/near", "migrations", "configs", "deploy", "web",
	}},
	{knownAnswers, 1_700, 1_700, []string{"internal/known", "internal/selftest"}},
	{"whole-ledger audit", 9_320, 7_000, []string{"internal/bundle", "internal/inspect", "internal/fsck"}},
	{"command line", 15_360, 9_600, []string{"cmd", "internal/cli", "internal/term", "internal/needle"}},
	{"client", 3_990, 2_400, []string{"client"}},
	{"generators of code", 530, 530, []string{"internal/audit/codegen"}},
	{product, 69_990, 55_000, nil},
	{"lab", 13_190, 11_000, []string{"lab"}},
	{"perf", 2_330, 2_100, []string{"perf"}},
	{"test", 250, 250, []string{"test"}},
}

// TestSize prints the lines of each area, and fails for one above its ceiling.
func TestSize(t *testing.T) {
	lines := map[string]int{}
	for pkg, n := range counted(t) {
		name := areaOf(pkg)
		if name == "" {
			t.Errorf("%s, of %d lines, is in no area", pkg, n)
		}
		lines[name] += n
		if !nested(pkg) {
			lines[product] += n
		}
	}
	for _, a := range areas {
		n := lines[a.name]
		t.Logf("%-20s %6d lines, ceiling %6d, goal %6d: %s", a.name, n, a.ceiling, a.goal, distance(n, a.goal))
		if n == 0 || a.goal > a.ceiling {
			t.Errorf("%s: %d lines, goal %d, ceiling %d: has the table lost a package?", a.name, n, a.goal, a.ceiling)
		}
		if n > a.ceiling {
			t.Errorf("%s has %d lines, and its ceiling is %d", a.name, n, a.ceiling)
		}
	}
}

func distance(lines, goal int) string {
	if lines <= goal {
		return "reached"
	}
	return fmt.Sprintf("%d too many", lines-goal)
}

// areaOf returns the area with the longest path to the package.
func areaOf(pkg string) (name string) {
	longest := ""
	for _, a := range areas {
		for _, top := range a.packages {
			if within(pkg, top) && len(top) > len(longest) {
				longest, name = top, a.name
			}
		}
	}
	return name
}

// counted returns the lines of each package of the modules that count.
func counted(t *testing.T) map[string]int {
	t.Helper()
	lines := map[string]int{}
	for _, pkg := range slices.Sorted(maps.Keys(table)) {
		if table[pkg].testOnly && !nested(pkg) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			of := pkg
			if areaOf(pkg) == "certified path" && strings.HasPrefix(filepath.Base(file), "selftest") {
				of = "internal/known"
			}
			if !bytes.HasPrefix(text, []byte("// Code generated")) {
				lines[of] += bytes.Count(text, []byte("\n"))
			}
		}
	}
	return lines
}

// TestAreaOf: a package is counted where the longest path says.
func TestAreaOf(t *testing.T) {
	for pkg, want := range map[string]string{
		"internal/audit": "certified path", "internal/audit/codegen": "generators of code",
		"internal/beacon/relay": "daemon",
		"internal/store/sqlite": "daemon", "cmd/shuffled": "command line", "lab/battery": "lab", "internal/auditor": "",
		"elsewhere": "",
	} {
		if got := areaOf(pkg); got != want {
			t.Errorf("%s is in %q, want %q", pkg, got, want)
		}
	}
}
