package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/inspect"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/term"
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
	old := write("old", inspecttest.Sign("inspect.example/ledger\n1\n"+strings.Repeat("A", 43)+"=\n",
		inspecttest.Key("signing 0")))
	for _, test := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"not pinned", nil, term.ExitOK, []string{"KEY NOT PINNED", "t4", "█", "overdue"}},
		{"a key", []string{"--key", inspecttest.VKey()}, term.ExitOK,
			[]string{"PROVED", "sealed to auditors", "Keys and policies", ": the signing key", "a policy",
				"the auditor key with the id", "The ledger's policy for its next checkpoint", "quorum all-of-them"}},
		{"a policy", []string{"--policy", policy}, term.ExitOK, []string{"PROVED"}},
		{"another key", []string{"--key", "inspect.example/ledger+01234567+AAAA"}, term.ExitUsage, nil},
		{"a fork", []string{"--since", old}, term.ExitFails, []string{"since", "FAILED: 1 fault "}},
		{"no checkpoint", []string{"--since", policy}, term.ExitUsage, nil},
		{"json", []string{"--json", "--key", inspecttest.VKey(), "--at", "2036-01-01T00:00:00Z"}, term.ExitOK,
			[]string{`"verdict": "proved"`, `"fault_count": 0`, `"overdue": 2`, `"subject": "signing"`, `"policy": "`}},
		{"a period of the reader", []string{"--json", "--from", "2020-01", "--to", "2020-02"}, term.ExitOK,
			[]string{`"shuffles": 0`}},
		{"a period of the reader, in words", []string{"--from", "2020-01", "--to", "2020-02"}, term.ExitOK,
			[]string{": no activity"}},
		{"no period", []string{"--from", "yesterday"}, term.ExitUsage, nil},
		{"a time", []string{"--json", "--at", "2026-09-21T00:00:00Z"}, term.ExitOK, []string{`"overdue": 0`}},
		{"no time", []string{"--at", "yesterday"}, term.ExitUsage, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, errs, code := command(t, append([]string{"audit", "verify", dir}, test.args...)...)
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
	if _, _, code := command(t, "audit", "verify", t.TempDir()); code != term.ExitCannot {
		t.Errorf("an empty directory exits %d", code)
	}
	page, shuffles := at("page.html"), at("shuffles.jsonl")
	if _, errs, code := command(t, "audit", "verify", dir, "--policy", policy, "--html", page, "--shuffles", shuffles,
		"--at", "2036-01-01T00:00:00Z"); code != term.ExitOK {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	checkPage(t, page)
	checkLines(t, shuffles)
}

// checkPage: the page is whole, and asks for nothing from elsewhere.
func checkPage(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, w := range []string{"<h1>Audit of inspect.example/ledger</h1>", "<strong>Proved:</strong>",
		"Keys and policies, as the", "quorum all-of-them", "<rect class=\"void\"", "overdue", "</html>"} {
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
