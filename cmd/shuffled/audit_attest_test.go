package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

// TestAuditAttest: the command signs for shuffles whose tapes the auditor's key opens and
// whose order it recomputed, for no other, and not at all for a ledger with a fault.
func TestAuditAttest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	auditor, err := keys.GenerateAuditor()
	must(t, err)
	lab, err := keys.GenerateSigning("lab.example/shuffles")
	must(t, err)
	foreign, err := keys.GenerateAuditor()
	must(t, err)
	for _, err := range []error{auditor.WriteFile(at("auditor.key"), keys.Secret{}),
		foreign.WriteFile(at("foreign.key"), keys.Secret{}), lab.WriteFile(at("lab.key"), keys.Secret{})} {
		must(t, err)
	}
	g := inspecttest.Plain()
	g.AuditorKeys = [][]byte{auditor.Public()}
	l := inspecttest.New(at("bundle"), "attest", g)
	l.Disclosure()
	sealed := func(table string) *inspecttest.Shuffle {
		s := l.Commit(table, inspecttest.ForAuditors)
		s.Deal(2, 0)
		return s
	}
	first, second := sealed("t1"), sealed("t1")
	first.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	second.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	foul := sealed("t2")
	foul.Tape = l.Bytes(len(foul.Tape)) // another one than was committed to
	foul.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	open := sealed("t3")
	l.Finish()

	attest := func(out string, args ...string) (string, string, int) {
		opens := map[bool]string{false: "auditor.key", true: "foreign.key"}[out == "foreign"]
		return command(t, append([]string{"audit", "attest", at("bundle"), "--auditor-key", at(opens),
			"--sign-key", at("lab.key"), "--out", at(out)}, args...)...)
	}
	key, err := audit.ParseVKey(lab.VKey())
	must(t, err)
	signed := func(out string) (ids []uint64) {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(at(out), "*"))
		must(t, err)
		for _, name := range names {
			s, err := openings.ParseStatement(contents(t, name))
			if err != nil || !s.SignedBy(key) || s.Origin != inspecttest.Origin ||
				filepath.Base(name) != fmt.Sprintf("%d.statement", s.ID) {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
			ids = append(ids, s.ID)
		}
		return ids
	}
	trusting := []string{"--key", inspecttest.VKey()}
	id := func(s *inspecttest.Shuffle) string { return fmt.Sprint(s.ID) }
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
		ids  []uint64
	}{
		{"everything", trusting, term.ExitFails, "2 statements in", []uint64{first.ID, second.ID}},
		{"one", append(trusting, "--shuffle", id(second)), term.ExitOK, lab.VKey(), []uint64{second.ID}},
		{"foul", append(trusting, "--shuffle", id(foul)), term.ExitFails, "1 shuffle without", nil},
		{"open", append(trusting, "--shuffle", id(open), "--json"), term.ExitFails,
			`"kept_back": [` + "\n    " + id(open), nil},
		{"a-period", append(trusting, "--from", "2020-01", "--to", "2020-02"), term.ExitOK, "0 statements", nil},
		{"foreign", trusting, term.ExitFails, "3 shuffles without", nil},
		{"both", append(trusting, "--from", "2020-01", "--shuffle", id(open)), term.ExitUsage, "", nil},
		{"untrusted", nil, term.ExitUsage, "", nil},
		{"another-ledger", []string{"--key", lab.VKey()}, term.ExitFails, "key_not_in_force", nil},
	} {
		out, errs, code := attest(test.name, test.args...)
		if code != test.code || !strings.Contains(out, test.want) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", test.name, code, test.code, test.want, out, errs)
		}
		if got := signed(test.name); fmt.Sprint(got) != fmt.Sprint(test.ids) {
			t.Errorf("%s: signed for %v, want %v", test.name, got, test.ids)
		}
	}
}
