package third

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var (
	mutants = flag.Int("mutants", 0, "how many mutants both verifiers judge")
	seed    = flag.Int("seed", 1, "which mutants")
)

const tree = "../.."

// python returns an interpreter that has the module cryptography, which scripts/third.sh finds or
// installs. Without one the test is skipped, or fails if SHUFFLED_REQUIRE_PYTHON is set.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import cryptography").Run() == nil {
			return name
		}
	}
	const missing = "no python3 with the module cryptography here: scripts/third.sh installs Debian's python3-cryptography"
	if os.Getenv("SHUFFLED_REQUIRE_PYTHON") != "" {
		t.Fatal(missing)
	}
	t.Skip("*** " + missing + ": the third verifier is SKIPPED ***")
	return ""
}

// TestVectors: the third verifier reaches the verdict of each vector.
func TestVectors(t *testing.T) {
	out, err := exec.Command(python(t), "-B", "run.py", tree).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// A judged is a mutant with the verdict of the third verifier.
type judged struct {
	Name    string         `json:"name"`
	File    []byte         `json:"file"`
	Trust   trust          `json:"trust"`
	Verdict map[string]any `json:"verdict"`
}

type trust struct {
	Key      *string  `json:"vkey"`
	Policy   *string  `json:"policy"`
	Slots    []string `json:"slots"`
	Auditors []string `json:"auditors"`
	CoDealer *string  `json:"co_dealer"`
	History  *string  `json:"history"`
	Deck     *string  `json:"deck"`
}

// TestMutants: both verifiers reach the same verdict on mutants: of bytes, of JSON, of what is
// trusted, and of entries, for which the trees and signatures are made anew. Verdicts that depend
// on a beacon are not compared, nor those under a policy with a CR before a line end, which the
// command takes off and a verifier refuses.
func TestMutants(t *testing.T) {
	if *mutants == 0 {
		t.Skip("-mutants is 0: make third judges some")
	}
	program := shuffled(t)
	cmd := exec.Command(python(t), "-B", "mutants.py", tree, strconv.Itoa(*mutants), strconv.Itoa(*seed))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	count, differ, unchecked := 0, 0, 0
	verdicts := map[string]int{}
	for m := range verified(t, program, out) {
		count++
		verdicts[m.ours["verdict"].(string)]++
		if beacon(m.ours) || m.Trust.Policy != nil && strings.Contains(*m.Trust.Policy, "\r\n") {
			unchecked++
			continue
		}
		if difference := compare(m.ours, m.Verdict); difference != "" {
			if differ++; differ <= 20 {
				t.Errorf("%s: %s", m.Name, difference)
				keep(t, m.judged)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d mutants of seed %d, verdicts %v: %d differ, %d are not compared",
		count, *seed, verdicts, differ, unchecked)
	if count != *mutants || differ > 0 {
		t.Fatalf("%d of %d mutants were judged, and %d verdicts differ", count, *mutants, differ)
	}
}

// shuffled returns the path of the program: that of SHUFFLED_PROGRAMS if it is set, or a new build.
func shuffled(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("SHUFFLED_PROGRAMS"); dir != "" {
		return filepath.Join(dir, "shuffled")
	}
	program := filepath.Join(t.TempDir(), "shuffled")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/shuffled")
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building shuffled: %v\n%s", err, out)
	}
	return program
}

// A both is a mutant with the verdicts of both verifiers.
type both struct {
	judged
	ours map[string]any
}

// verified reads a mutant from each line of out, and adds the verdict of shuffled verify. It uses all
// cores, so the order is not kept. It closes the channel after the last mutant.
func verified(t *testing.T, program string, out io.Reader) <-chan both {
	read, done := make(chan judged), make(chan both)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		dir := t.TempDir()
		workers.Go(func() {
			for m := range read {
				ours, err := verify(program, dir, m)
				if err != nil {
					t.Errorf("%s: %v", m.Name, err)
					continue
				}
				done <- both{m, ours}
			}
		})
	}
	go func() {
		defer close(done)
		defer workers.Wait()
		defer close(read)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var m judged
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Error(err)
				continue
			}
			read <- m
		}
		if err := lines.Err(); err != nil {
			t.Error(err)
		}
	}()
	return done
}

// verify returns the verdict of shuffled verify --json on a mutant.
func verify(program, dir string, m judged) (map[string]any, error) {
	var unwritten error
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		unwritten = errors.Join(unwritten, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	args := []string{"verify", write("file", string(m.File)), "--json"}
	if m.Trust.Key != nil {
		args = append(args, "--key="+write("key", *m.Trust.Key+"\n"))
	}
	if m.Trust.Policy != nil {
		args = append(args, "--policy="+write("policy", *m.Trust.Policy))
	}
	if m.Trust.CoDealer != nil {
		args = append(args, "--co-dealer="+write("co_dealer", *m.Trust.CoDealer))
	}
	if m.Trust.History != nil {
		args = append(args, "--history="+write("history", *m.Trust.History))
	}
	if m.Trust.Deck != nil {
		args = append(args, "--deck="+*m.Trust.Deck)
	}
	for i, s := range m.Trust.Slots {
		args = append(args, "--my-slot-file="+write("slot"+strconv.Itoa(i), s+"\n"))
	}
	for i, a := range m.Trust.Auditors {
		args = append(args, "--auditor="+write("auditor"+strconv.Itoa(i), a+"\n"))
	}
	if unwritten != nil {
		return nil, unwritten
	}
	out, err := exec.Command(program, args...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	var verdict map[string]any
	if err := json.Unmarshal(out, &verdict); err != nil || verdict["verdict"] == nil {
		return nil, fmt.Errorf("shuffled verify printed %q: %v", out, err)
	}
	return verdict, nil
}

// beacon reports whether a verdict depends on the value of a beacon, which the third verifier cannot
// check: it has no BLS.
func beacon(verdict map[string]any) bool {
	steps, _ := verdict["steps"].([]any)
	for _, s := range steps {
		s := s.(map[string]any)
		if s["name"] == "beacon" && s["result"] != "not checked" {
			return true
		}
	}
	return false
}

// members are the members of a verdict, other than its steps, that must be the same if the file is
// proved or consistent.
const members = "level witnesses late overlap mixed blind not_blind dealt_on not_dealt_on statements terms cards id recipient table serial " +
	"key_in_force game_ref commitment deck_root disclosure committed_at close_by places next shown end_at state closed_at outcome " +
	"reason owner takeovers passed_over production ledger checkpoint entry kind"

// compare returns the first difference of two verdicts, "" if there is none.
func compare(ours, third map[string]any) string {
	differs := func(name string) string {
		if reflect.DeepEqual(ours[name], third[name]) {
			return ""
		}
		a, _ := json.Marshal(ours[name])
		b, _ := json.Marshal(third[name])
		return name + " is " + string(a) + ", of the third verifier " + string(b)
	}
	for _, name := range []string{"verdict", "failed"} {
		if d := differs(name); d != "" {
			return d
		}
	}
	if ours["verdict"] != "proved" && ours["verdict"] != "consistent" {
		return ""
	}
	for _, name := range strings.Fields(members) {
		if d := differs(name); d != "" {
			return d
		}
	}
	return ""
}

// keep writes a mutant to the directory SHUFFLED_MUTANTS, if there is one.
func keep(t *testing.T, m judged) {
	t.Helper()
	dir := os.Getenv("SHUFFLED_MUTANTS")
	if dir == "" {
		return
	}
	data, err := json.Marshal(m)
	if err == nil {
		name := strings.NewReplacer("/", "-", " ", "_").Replace(m.Name) + ".json"
		err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}
