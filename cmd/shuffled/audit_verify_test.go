package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
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
		must(t, os.WriteFile(at(name), data, 0o600))
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

// TestAuditTickets: lists of tickets that the auditor brings, in words, as JSON and on the page.
func TestAuditTickets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(code int, args ...string) string {
		t.Helper()
		out, errs, got := command(t, args...)
		if got != code {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, got, code, out, errs)
		}
		return out + errs
	}
	list := func(name, lines string) (root [32]byte) {
		must(t, os.WriteFile(at(name), []byte(lines), 0o600))
		var said struct{ Root []byte }
		out, errs, code := command(t, "tickets", "root", at(name), "--secret-file", at(name+".secret"), "--json")
		if err := json.Unmarshal([]byte(out), &said); err != nil || code != term.ExitOK {
			t.Fatalf("%v: %s%s", err, out, errs)
		}
		return [32]byte(said.Root)
	}
	bound := &audit.Terms{Kind: audit.TermsTicketList, Count: 3, Hash: list("sold", "T-1\nT-2\nT-3\n")}
	list("other", "T-1\nT-2\nT-4\n")
	l := inspecttest.New(at("b"), "tickets", inspecttest.Plain())
	for range 2 {
		l.Commit("raffle-1", inspecttest.Numbers(3, 2), inspecttest.Bound(bound)).Last(2, 0)
	}
	l.Finish()
	verify := []string{"audit", "verify", at("b"), "--key", inspecttest.VKey()}
	with := func(more ...string) []string { return append(slices.Clip(verify), more...) }
	sold := with("--tickets", at("sold"), "--tickets-secret-file", at("sold.secret"))
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{verify, term.ExitOK, []string{"2 shuffles drawn from lists of tickets; the list of 0 was seen, of 2 not",
			"Of 2 shuffles the list of tickets was not seen", "the house could choose the winner"}},
		{sold, term.ExitOK, []string{"the list of 2 was seen, of 0 not", "of 2 shuffles", "only its sales show"}},
		{with("--json"), term.ExitOK, []string{`"seen": 0`, `"mixed": 0`, `"lists": []`}},
		{append(slices.Clip(sold), "--json"), term.ExitOK, []string{`"seen": 2`, `"count": 3`, `"shuffles": 2`}},
		{with("--tickets", at("other"), "--tickets-secret-file", at("other.secret")), term.ExitFails,
			[]string{"FAILED: 1 fault ", "other: no shuffle of the ledger is drawn from this list"}},
		{with("--tickets", at("sold"), "--tickets-secret-file", at("other.secret")), term.ExitFails,
			[]string{"no shuffle of the ledger is drawn from this list"}},
		{with("--tickets", at("sold")), term.ExitUsage, []string{"each list needs its own secret"}},
		{with("--tickets", at("sold.secret"), "--tickets-secret-file", at("sold.secret")), term.ExitCannot,
			[]string{"line 1 is no ticket number"}},
	} {
		said := strings.Join(strings.Fields(run(c.code, c.args...)), " ")
		for _, w := range c.want {
			if !strings.Contains(said, w) {
				t.Errorf("%v: no %q in\n%s", c.args[4:], w, said)
			}
		}
	}
	run(term.ExitOK, append(slices.Clip(sold), "--html", at("page.html"))...)
	page := string(contents(t, at("page.html")))
	for _, w := range []string{"the list of 2 was seen, of 0 not. Of 2 the house could choose the winner",
		"sold: 3 tickets, of 2 shuffles, the root <code>"} {
		if !strings.Contains(page, w) {
			t.Errorf("no %q in the page", w)
		}
	}
}

// checkPage: the page is whole, and asks for nothing from elsewhere.
func checkPage(t *testing.T, name string) {
	t.Helper()
	page := string(contents(t, name))
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
	states := make(map[string]int)
	ids := make(map[uint64]bool)
	for line := range strings.Lines(string(contents(t, name))) {
		var s inspect.ShuffleLine
		must(t, json.Unmarshal([]byte(line), &s))
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

// TestAuditPair runs the command on the ledgers of a house and of its co-dealer, on ones with a fault between them,
// and on what is no pair.
func TestAuditPair(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	good := inspecttest.NewPair(at("house"), at("lab"))
	good.Play("t1")
	h := good.Begin("t2")
	h.Ask(nil, 2)
	good.Wait(1)
	good.See()
	h.End(audit.OutcomeVoid, audit.ReasonCoDealer, nil)
	h.Follow(nil)
	good.Wait(1)
	good.See()
	good.Finish()
	older := inspecttest.NewPair(at("house-1"), at("lab-1"))
	older.Play("t1")
	older.Finish()
	bad := inspecttest.NewPair(at("looks"), at("lab-2"))
	h = bad.Begin("t2")
	h.Ask(nil, 2)
	h.Ask(nil, 2)
	bad.See()
	bad.Wait(60)
	h.End(audit.OutcomeVoid, audit.ReasonCoDealer, func(c *audit.Close) { c.Blind = &audit.Blind{Head: c.Blind.Head} })
	bad.See()
	bad.Finish()
	for name, origin := range map[string]string{"house.policy": inspecttest.Origin,
		"lab.policy": inspecttest.CoDealer} {
		must(t, os.WriteFile(at(name), inspecttest.PolicyOf(origin, 2, "w1", "w2", "w3"), 0o600))
	}
	trust := []string{"--policy", at("house.policy"), "--co-dealer", at("lab.policy")}
	for _, test := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"a pair", append(trust, at("house"), at("lab")), term.ExitOK, []string{
			"inspect.example/ledger and its co-dealer lab.example/orders", "1 is blind: before lab.example/orders entered",
			"unplayed: shuffle 11 of table t2, 2 places from 0 on", "Daemons of the house"}},
		{"json", append(trust, "--json", at("house"), at("lab")), term.ExitOK, []string{`"format": "shuffled/v1/pair"`,
			`"blind": 1`, `"unplayed": 1`, `"needs_co_dealer": 0`, `"kind": "unplayed"`}},
		{"an older co-dealer's", append(trust, at("house"), at("lab-1")), term.ExitOK,
			[]string{"Entries of one ledger refer 2 times to what is beyond the evidence of the other"}},
		{"no trust", []string{at("house"), at("lab")}, term.ExitOK,
			[]string{"CONSISTENT", "No shuffle is shown to be blind"}},
		{"a look", append(trust, at("looks"), at("lab-2")), term.ExitFails,
			[]string{"looked", "silent: shuffle", "FAILED: 1 fault between"}},
		{"the wrong way round", []string{at("lab"), at("house")}, term.ExitCannot,
			[]string{"never named inspect.example/ledger as its co-dealer"}},
		{"a page", []string{at("house"), at("lab"), "--html", at("page")}, term.ExitUsage, nil},
		{"a policy for nobody", append(trust, at("house")), term.ExitUsage, nil},
		{"no bundle", []string{at("house"), at("nothing")}, term.ExitCannot, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, errOut, code := command(t, append([]string{"audit", "verify"}, test.args...)...)
			if code != test.code {
				t.Errorf("exit code %d, want %d: %s%s", code, test.code, out, errOut)
			}
			for _, want := range test.want {
				if !strings.Contains(strings.Join(strings.Fields(out+errOut), " "), want) {
					t.Errorf("no %q: %s%s", want, out, errOut)
				}
			}
		})
	}
}
