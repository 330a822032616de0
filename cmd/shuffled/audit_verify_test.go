package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shuffled/internal/inspect"
	"shuffled/internal/inspect/inspecttest"
)

// TestAuditVerify runs the command on an honest ledger and on one with a fault.
func TestAuditVerify(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bundle")
	l := inspecttest.Honest(dir, 60)
	l.Finish()
	if len(l.Illegal) > 0 {
		t.Fatalf("the generator broke rules: %v", l.Illegal)
	}
	at := func(name string) string { return filepath.Join(filepath.Dir(dir), name) }
	write := func(name string, data []byte) string {
		t.Helper()
		if err := os.WriteFile(at(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	policy := write("policy.txt", inspecttest.Policy(true, 2, "w2", "w3"))
	old := write("old", inspecttest.Sign("inspect.example/ledger\n1\n"+strings.Repeat("A", 43)+"=\n", inspecttest.Key("signing 0")))
	for _, test := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"not pinned", nil, exitOK, []string{"KEY NOT PINNED", "t4", "█", "overdue"}},
		{"a key", []string{"--key", inspecttest.VKey()}, exitOK, []string{"PROVED", "sealed to auditors"}},
		{"a policy", []string{"--policy", policy}, exitOK, []string{"PROVED"}},
		{"another key", []string{"--key", "inspect.example/ledger+01234567+AAAA"}, exitUsage, nil},
		{"a fork", []string{"--since", old}, exitFails, []string{"since", "FAILED: 1 fault "}},
		{"no checkpoint", []string{"--since", policy}, exitUsage, nil},
		{"json", []string{"--json", "--key", inspecttest.VKey(), "--at", "2036-01-01T00:00:00Z"}, exitOK, []string{`"verdict": "proved"`, `"fault_count": 0`, `"overdue": 2`}},
		{"a period of the reader", []string{"--json", "--from", "2020-01", "--to", "2020-02"}, exitOK, []string{`"shuffles": 0`}},
		{"no period", []string{"--from", "yesterday"}, exitUsage, nil},
		{"a time", []string{"--json", "--at", "2026-09-21T00:00:00Z"}, exitOK, []string{`"overdue": 0`}},
		{"no time", []string{"--at", "yesterday"}, exitUsage, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, errs, code := command(t, append([]string{"audit", "verify", dir, "--work", filepath.Join(t.TempDir(), "w")}, test.args...)...)
			if code != test.code {
				t.Fatalf("exit code %d, want %d\n%s%s", code, test.code, out, errs)
			}
			for _, w := range test.want {
				if !strings.Contains(out, w) {
					t.Errorf("no %q in\n%s", w, out)
				}
			}
		})
	}
	if _, _, code := command(t, "audit", "verify", t.TempDir()); code != exitCannot {
		t.Errorf("an empty directory exits %d", code)
	}
	page, shuffles := at("page.html"), at("shuffles.jsonl")
	if _, errs, code := command(t, "audit", "verify", dir, "--policy", policy, "--html", page, "--shuffles", shuffles, "--at", "2036-01-01T00:00:00Z"); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	checkPage(t, page)
	checkLines(t, shuffles)
	if _, err := os.Stat(dir + ".progress"); !os.IsNotExist(err) {
		t.Errorf("the work directory is left: %v", err)
	}
}

// checkPage: the page is whole, and asks for nothing from elsewhere.
func checkPage(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, w := range []string{"<h1>Audit of inspect.example/ledger</h1>", "<strong>Proved:</strong>", "<rect class=\"void\"", "overdue", "</html>"} {
		if !strings.Contains(page, w) {
			t.Errorf("no %q in the page", w)
		}
	}
	for _, w := range []string{"<script", "http:", "https:", "url(", "ZgotmplZ", "@import"} {
		if strings.Contains(page, w) {
			t.Errorf("%q in the page", w)
		}
	}
}

// checkLines: there is a line for each shuffle.
func checkLines(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	states := make(map[string]int)
	ids := make(map[uint64]bool)
	for line := range strings.Lines(string(b)) {
		var s inspect.ShuffleLine
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		states[s.State]++
		if ids[s.ID] || s.Level != inspect.LevelWitnessed || (s.State == "closed") != (s.Tape != "") {
			t.Errorf("line %s", line)
		}
		ids[s.ID] = true
	}
	if states["open"] != 0 || states["overdue"] != 2 || states["closed"] < 60 {
		t.Errorf("states %v", states)
	}
}

// TestAuditVerifyKilled kills the command with SIGKILL at random moments. It goes
// on where it was, and ends with the report of a run that was left alone.
func TestAuditVerifyKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills checks for a while")
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	inspecttest.Fast(dir, 40_000)
	// One fault in an early part and one in a late one.
	for _, name := range []string{"tile/entries/011", "tile/entries/777"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b[5000] ^= 1
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	shuffles := filepath.Join(t.TempDir(), "shuffles")
	// Without --at each run says what is overdue by its own start.
	args := []string{"audit", "verify", dir, "--key", inspecttest.VKey(), "--json", "--shuffles", shuffles, "--at", "2036-01-01T00:00:00Z"}
	work := []string{"--work", filepath.Join(t.TempDir(), "work")}
	want, errs, code := command(t, append(args, work...)...)
	if code != exitFails || !strings.Contains(want, `"fault_count": 2`) {
		t.Fatalf("exit code %d\n%s%s", code, want, errs)
	}
	wantLines, err := os.ReadFile(shuffles)
	if err != nil {
		t.Fatal(err)
	}
	resumed := 0
	for i := range 200 {
		if _, err := os.Stat(filepath.Join(work[1], "progress.json")); err == nil {
			resumed++
		}
		c := exec.Command(path, append(args, work...)...)
		var out strings.Builder
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// A random moment: time is the experiment here, no condition is waited for. It
		// comes later and later, so that a slow machine gets done as well.
		killer := time.AfterFunc(time.Duration(50+rand.IntN(450+20*i))*time.Millisecond, func() { c.Process.Kill() })
		c.Wait()
		killer.Stop()
		if c.ProcessState.ExitCode() != exitFails {
			continue // killed
		}
		if out.String() != want {
			t.Errorf("after kills the report is\n%s\nnot\n%s", out.String(), want)
		}
		gotLines, err := os.ReadFile(shuffles)
		if err != nil || string(gotLines) != string(wantLines) {
			t.Errorf("after kills the file of shuffles is another: %v", err)
		}
		t.Logf("went on from %d kills", resumed)
		if resumed == 0 {
			t.Fatal("void: it was done before it was killed")
		}
		return
	}
	t.Fatalf("not done after 200 kills, of which %d left something to go on from", resumed)
}
