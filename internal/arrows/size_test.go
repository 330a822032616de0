package arrows

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An area is a part of the source that one kind of reader reads. Its lines, without tests, test support and generated
// code, stay below its ceiling in ceilingFile.
type area struct {
	name     string
	packages []string // with those below them, unless another area has these
}

// knownAnswers is the area of the tests that a program runs on itself before it
// starts. They lie in files selftest*.go of the packages that they test.
const knownAnswers = "known answers"

// product is the area of everything in the root module, and rootTests that of its files _test.go, whatever their
// package. reference is that of docs/SPEC.md once more, for the tests of package audit and of those made of it.
const (
	product   = "product"
	rootTests = "root tests"
	reference = "reference of SPEC"
)

var areas = []area{
	{"certified path", []string{
		"internal/shuffle", "internal/entropy", "internal/outcome", "internal/audit", "internal/beacon",
		"internal/seal",
		"internal/disclosure", "internal/terms", "internal/verify",
	}},
	{"daemon", []string{
		"internal/codealer",
		"internal/ledger", "internal/witness", "internal/dealer", "internal/store", "internal/httpapi",
		"internal/recall", "internal/follow", "internal/wire",
		"internal/keys", "internal/config", "internal/monitor", "internal/process", "internal/outbound",
		"internal/build", "internal/beacon/relay", "internal/near", "internal/stops", "migrations", "configs",
		"deploy", "web",
	}},
	{knownAnswers, []string{"internal/known", "internal/selftest"}},
	{"whole-ledger audit", []string{"internal/bundle", "internal/inspect", "internal/fsck"}},
	{"command line", []string{"cmd", "internal/cli", "internal/term", "internal/needle"}},
	{"client", []string{"client"}},
	{"generators of code", []string{"internal/audit/codegen"}},
	{product, nil},
	{reference, []string{"internal/audit/spec"}},
	{"lab", []string{"lab"}},
	{"perf", []string{"perf"}},
	{"test", []string{"test"}},
	{rootTests, nil},
}

// TestSize prints the lines of each area, and fails for one above its ceiling.
func TestSize(t *testing.T) {
	ceilings, lines := ceilingsNow(t), map[string]int{rootTests: countTests(t)}
	for pkg, n := range counted(t) {
		name := areaOf(pkg)
		if name == "" {
			t.Errorf("%s, of %d lines, is in no area", pkg, n)
		}
		lines[name] += n
		if !nested(pkg) && name != reference {
			lines[product] += n
		}
	}
	for _, a := range areas {
		ceilings.hold(t, a.name, "lines", lines[a.name])
	}
}

// mostLines is how many lines a package that was made of a knot may have. A larger one has a ceiling of its own.
const mostLines = 3000

// TestPackageSize prints the lines of the packages that the knots became, and fails for one above mostLines.
func TestPackageSize(t *testing.T) {
	ceilings, found := ceilingsNow(t), 0
	for pkg, n := range counted(t) {
		knot := slices.ContainsFunc(knots, func(k string) bool { return within(pkg, k) })
		if !knot || areaOf(pkg) == "generators of code" || areaOf(pkg) == reference {
			continue
		}
		found++
		if _, large := ceilings["lines of "+pkg]; large {
			ceilings.hold(t, "lines of "+pkg, "lines", n)
		} else if t.Logf("%-32s %6d lines", pkg, n); n > mostLines {
			t.Errorf("%s has %d lines, and may have %d: cut it along its layers", pkg, n, mostLines)
		}
	}
	if found < len(knots) {
		t.Errorf("only %d packages were found", found)
	}
}

// countTests returns the lines of the tests of the root module.
func countTests(t *testing.T) (n int) {
	eachGoFile(t, func(file string, text []byte) {
		if strings.HasSuffix(file, "_test.go") && !nested(path.Dir(file)) && !within(path.Dir(file), "tools") {
			n += bytes.Count(text, []byte("\n"))
		}
	})
	return n
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
		if table[pkg].testOnly && !nested(pkg) && areaOf(pkg) != reference {
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
		"internal/audit/rules": "certified path", "internal/audit/spec": reference,
		"internal/beacon/relay": "daemon",
		"internal/store/sqlite": "daemon", "cmd/shuffled": "command line", "lab/battery": "lab", "internal/auditor": "",
		"elsewhere": "",
	} {
		if got := areaOf(pkg); got != want {
			t.Errorf("%s is in %q, want %q", pkg, got, want)
		}
	}
}
