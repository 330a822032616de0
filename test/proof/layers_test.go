package proof

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	plantAll = flag.Bool("faults", false, "run every layer with each fault (tens of minutes)")
	update   = flag.Bool("update", false, "write the table of TestFaults into docs/LAB.md")
	only     = flag.String("only", "", "with -faults: only those whose name matches, and print their rows")
)

// A layer is a way to find faults: commands that all end with 0 if they find none. A quick one takes a moment.
type layer struct {
	name  string
	quick bool
	runs  []run
}

// run is a command. Its program is one of those that build makes.
type run struct {
	dir, program string // dir is relative to the root of the source
	args         []string
}

// unit are the tests of internal/audit/openings about what faults are planted in.
const unit = `^(Test.*(DeckRoot|Opening|Hash|Order|Child|Given|Salt|FromTapeToRoot|Commitment).*)$`

var layers = []layer{
	{"known answers", true, []run{{".", "shuffled", []string{"selftest"}}}},
	{"vectors", true, []run{
		{"internal/shuffle", "shuffle.test", []string{"-test.run=^TestVectors$"}},
		{"internal/audit/answers", "answers.test", []string{"-test.run=^TestHashVectors$"}},
		{"internal/audit/openings", "openings.test", []string{"-test.run=^TestPlaceVectors$"}},
	}},
	{"Coq", false, []run{{"test/proof", "proof.test", []string{"-test.failfast",
		"-test.run=^(TestTapes|TestSizes|TestMixesOfSeeds|TestShiftsOfSeeds)$"}}}},
	{"unit tests", false, []run{
		{"internal/shuffle", "shuffle.test", []string{"-test.short", "-test.failfast", "-test.skip=^(TestVectors|TestReferenceAgrees)"}},
		{"internal/audit/openings", "openings.test", []string{"-test.short", "-test.failfast", "-test.run=" + unit,
			"-test.skip=Vectors"}},
	}},
	// The program runs its known answers first, and would stop there: these are the proofs of lab prove alone.
	{"prove", false, []run{
		{"lab/exact", "exact.test", []string{"-test.run=^(TestEveryOrderHasOneDrawVector|TestExhaustionExact)$"}},
		{"lab/exact", "exact.test", []string{"-test.run=^TestDrawIsUniform$"}},
		{"lab/exact", "exact.test", []string{"-test.run=^TestAllDecks$"}},
	}},
}

// programs are what the layers run: the program that deals, and tests, all with the faults.
var programs = []struct {
	name, dir, pkg string
	quick          bool // for quick layers
}{
	{"shuffled", ".", "./cmd/shuffled", true}, {"shuffle.test", ".", "./internal/shuffle", true},
	{"answers.test", ".", "./internal/audit/answers", true}, {"openings.test", ".", "./internal/audit/openings", true},
	{"exact.test", "lab", "./exact", false},
	{"proof.test", "test", "./proof", false},
}

// TestFaults plants each fault of the certified path, and runs every layer that reaches it. Each fault is seen by two
// layers at least, or its row says why not. The table in docs/LAB.md is the one that comes out. Without -faults it runs
// only the quick layers, and compares them with their columns of the table.
func TestFaults(t *testing.T) {
	if testing.Short() && !*plantAll {
		t.Skip("builds the programs again; make proof runs it")
	}
	if *plantAll && os.Getenv("SHUFFLED_RECIPE") == "" {
		t.Fatal("SHUFFLED_RECIPE does not name the extracted program: make faults builds it")
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, root: root, dir: t.TempDir(), limits: make([]time.Duration, len(layers))}
	b.build()
	reached := make([][]map[string]bool, len(layers)) // by layer and command
	b.each(len(layers), func(l int) {
		if *plantAll || layers[l].quick {
			reached[l] = b.reach(l)
		}
	})
	if t.Failed() {
		return
	}
	seen := make([][]string, len(faults))
	for i := range seen {
		seen[i] = make([]string, len(layers))
	}
	b.each(len(faults)*len(layers), func(job int) {
		i, l := job/len(layers), job%len(layers)
		if wanted.MatchString(faults[i].what) {
			seen[i][l] = b.sees(i, l, reached[l])
		}
	})
	document := filepath.Join(root, "docs", "LAB.md")
	if !*plantAll {
		compareQuick(t, read(t, document), seen)
		return
	}
	if *only != "" {
		t.Log(table(seen))
		return
	}
	for i, f := range faults {
		by := 0
		for _, answer := range seen[i] {
			if answer == "yes" {
				by++
			}
		}
		if (by < 2) != (f.why != "") {
			t.Errorf("%s: %d layers see it, and the reason is %q", f.what, by, f.why)
		}
	}
	compare(t, document, table(seen))
}

// bench builds and runs programs with faults.
type bench struct {
	t         *testing.T
	root, dir string
	limits    []time.Duration // of the commands of a layer: one that takes longer than this hangs
}

func (b *bench) build() {
	overlay := plant(b.t, b.root, b.dir)
	for _, p := range programs {
		if !*plantAll && !p.quick {
			continue
		}
		args := []string{"build"}
		if strings.HasSuffix(p.name, ".test") {
			args = []string{"test", "-c", "-vet=off"}
		}
		cmd := exec.Command("go", append(args, "-overlay", overlay, "-o", filepath.Join(b.dir, p.name), p.pkg)...)
		cmd.Dir = filepath.Join(b.root, p.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.t.Fatalf("building %s: %v\n%s", p.name, err, out)
		}
	}
}

// each does jobs on all processors.
func (b *bench) each(jobs int, do func(job int)) {
	next := make(chan int)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for job := range next {
				do(job)
			}
		})
	}
	for job := range jobs {
		next <- job
	}
	close(next)
	all.Wait()
}

// reach runs the commands of a layer without a fault, and returns the numbers of the faults whose place each reached.
func (b *bench) reach(l int) (reached []map[string]bool) {
	began := time.Now()
	b.limits[l] = time.Hour
	for i, r := range layers[l].runs {
		file, numbers := filepath.Join(b.dir, fmt.Sprint("reached-", l, "-", i)), map[string]bool{}
		if out, err := b.command(l, r, "SHUFFLED_REACHED="+file); err != nil {
			b.t.Errorf("%s, without a fault: %v\n%s", layers[l].name, err, out)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			b.t.Errorf("%s reached no fault: %v", layers[l].name, err)
		}
		for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
			numbers[s.Text()] = true
		}
		reached = append(reached, numbers)
	}
	b.limits[l] = 30*time.Second + 5*time.Since(began)
	return reached
}

// sees runs the commands of a layer that reach a fault with it, and returns "yes" if one finds it or does not end, "no"
// if none does, and "–" if none reaches it.
func (b *bench) sees(i, l int, reached []map[string]bool) string {
	answer := "–"
	for run, numbers := range reached {
		if !numbers[fmt.Sprint(i+1)] {
			continue
		}
		answer = "no"
		out, err := b.command(l, layers[l].runs[run], fmt.Sprint("SHUFFLED_PLANTED=", i+1))
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			b.t.Logf("%s: %s: %s", faults[i].what, layers[l].name, complaint(out))
			return "yes"
		} else if err != nil {
			b.t.Error(err)
		}
	}
	return answer
}

func (b *bench) command(l int, r run, env string) ([]byte, error) {
	ctx, stop := context.WithTimeout(b.t.Context(), b.limits[l])
	defer stop()
	cmd := exec.CommandContext(ctx, filepath.Join(b.dir, r.program), r.args...)
	cmd.Dir, cmd.Env = filepath.Join(b.root, r.dir), append(os.Environ(), env)
	return cmd.CombinedOutput()
}

// complaint is the line of an output that says what is wrong.
func complaint(out []byte) string {
	for line := range strings.Lines(string(out)) {
		for _, sign := range []string{"_test.go:", "NOT PROVED", "panic:", "wrong", "want"} {
			if strings.Contains(line, sign) {
				return fmt.Sprintf("%.160s", strings.TrimSpace(line))
			}
		}
	}
	return fmt.Sprintf("%.160q", out)
}

// table writes what the layers see: a row for all faults of which they see the same.
func table(seen [][]string) string {
	var b strings.Builder
	b.WriteString("|")
	for _, l := range layers {
		b.WriteString(" " + l.name + " |")
	}
	b.WriteString(" faults |\n|" + strings.Repeat("---|", len(layers)+1) + "\n")
	var answers []string // in the order of the faults
	alike := map[string][]string{}
	for i, f := range faults {
		answer := strings.Join(seen[i], " | ")
		if alike[answer] == nil {
			answers = append(answers, answer)
		}
		alike[answer] = append(alike[answer], f.row())
	}
	for _, answer := range answers {
		fmt.Fprintf(&b, "| %s | %s |\n", answer, strings.Join(alike[answer], between))
	}
	return b.String()
}

// between is what stands between two faults of a row.
const between = "; "

// row is what the table calls a fault.
func (f fault) row() string {
	if f.why == "" {
		return f.what
	}
	return f.what + " (" + f.why + ")"
}

// compareQuick holds what the quick layers see against their columns of the table in a document.
func compareQuick(t *testing.T, document string, seen [][]string) {
	t.Helper()
	_, table, _ := strings.Cut(document, tableBegins)
	table, _, _ = strings.Cut(table, tableEnds)
	says := map[string][]string{} // by fault
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		for _, fault := range strings.Split(cells[len(cells)-1], between) {
			says[fault] = cells[:len(cells)-1]
		}
	}
	for i, f := range faults {
		if len(says[f.row()]) != len(layers) {
			t.Errorf("the table has no row of %q: make faults ARGS=-update", f.what)
			continue
		}
		for l, answer := range says[f.row()] {
			if layers[l].quick && answer != seen[i][l] {
				t.Errorf("%s: %s: the table says %q, and here it is %q", f.what, layers[l].name, answer, seen[i][l])
			}
		}
	}
}

const (
	tableBegins = "<!-- Written by make faults ARGS=-update. -->\n"
	tableEnds   = "<!-- The end of what make faults writes. -->\n"
)

// compare holds the table in a document against this one, and writes it with -update.
func compare(t *testing.T, file, table string) {
	t.Helper()
	text := read(t, file)
	before, rest, begins := strings.Cut(text, tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", file)
	}
	now := before + tableBegins + "\n" + table + "\n" + tableEnds + after
	if now == text {
		return
	}
	if !*update {
		t.Errorf("the table in %s is another one than\n%s", file, table)
	} else if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}
