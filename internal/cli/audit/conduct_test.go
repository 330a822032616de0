package audit

import (
	"encoding/json"
	"html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/inspect/inspecttest"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// TestAuditConduct: the terminal says what a report has about people and credentials. The
// report is the one that the tests of internal/inspect make from a ledger and keep.
func TestAuditConduct(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "inspect", "testdata", "conduct.json"))
	must(t, err)
	var r inspect.Report
	must(t, json.Unmarshal(b, &r))
	r.Tables[0].SetAside = map[string]uint64{"other": 200}
	r.Totals.SetAside, r.Totals.SetAsideMixed = r.Tables[0].SetAside, 3
	print := func() string {
		text := Sheet{term.Streams{Out: io.Discard}.Sheet()}.audit("story", &r)
		return strings.Join(strings.Fields(text), " ")
	}
	text := print()
	for _, want := range []string{
		"rules revision 1",
		"all tables: 2 of more than one identity, 1 dealt by more than one credential, 1 taken over to close, 1 taken over to play, 2 of 15 deals much longer before the next entry than the table's median",
		"t1: 1 of more than one identity, 1 taken over to close; the median gap between deals of one shuffle is between 4.1 s and 8.2 s",
		"Acts of administrators: 9, with one signature instead of two: 4, of these with effect (break-glass): 2",
		"takeover, by alice and bob; it approved entry",
		"kill_clear, by alice, waited, cancelled by entry",
		"kill_clear, by bob, BREAK-GLASS: it waited for a second signature, and took effect without it; it approved entry",
		"operator adopted a head of 565 entries, after a head of 572 entries was seen: restored",
		"Credentials created: admin 1 (1 revoked), dealer 2 (2 revoked); those of administrators:",
		"root-1 of root, token, expires 2026-09-22T14:13:20.000Z, revoked",
		"entry 200: 2, first in entry",
		"Set aside by a close of their table, 3 of them mixed: 200 shuffles of other at table t1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	page := filepath.Join(t.TempDir(), "page.html")
	must(t, writeAuditPage(page, "story", &r))
	if b, err = os.ReadFile(page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"revision 1", "dealer: 2 created, 2 revoked", "entry 200: 2, first",
		"<td>break-glass", "<td>t1<td class=\"left\">other<td>200", "<td class=\"left\">restored", "root-1"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	r.Dealing.Tables = append(r.Dealing.Tables, slices.Repeat(r.Dealing.Tables[:1], listedConduct)...)
	r.Dealing.Rest = &inspect.RestDealing{Count: 3}
	if text = print(); !strings.Contains(text, "and 6 more: --json lists them") {
		t.Errorf("no sum of tables in\n%s", text)
	}
}

// TestPageSays: the page has each sentence that the text has of a report without faults, its caveats and why shuffles
// are void too.
func TestPageSays(t *testing.T) {
	for _, verdict := range []string{inspect.Proved, inspect.Consistent} {
		r := &inspect.Report{Verdict: verdict}
		r.Totals.Shuffles, r.Totals.NeedsCoDealer, r.Totals.Void = 3, 1, 1
		r.Tables = []inspect.TableCounts{{Counts: inspect.Counts{VoidBy: make(map[string]uint64)}}}
		said := auditSays(r)
		for _, s := range sentences {
			if s.Kind == "reason" {
				r.Tables[0].VoidBy[s.Code], said = 1, append(said, s.Text)
			}
		}
		text := strings.Join(strings.Fields(Sheet{Sheet: term.Sheet{W: 80}}.audit("story", r)), " ")
		name := filepath.Join(t.TempDir(), "page.html")
		must(t, writeAuditPage(name, "story", r))
		page, err := os.ReadFile(name)
		must(t, err)
		for _, line := range said {
			if !strings.Contains(text, line) || !strings.Contains(string(page), ">"+html.EscapeString(line)) {
				t.Errorf("%s: text or page lacks %q", verdict, line)
			}
		}
	}
}

func TestParsePeriod(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, to, begin, end string }{
		{"2026-11", "2026-11", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"2026-12-31", "2026-12-31", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"2024-02", "2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"2026-11-07T12:00:00+01:00", "2026-11-07T12:00:00.5Z", "2026-11-07T11:00:00Z", "2026-11-07T12:00:00.5Z"},
		{"2026-11", "", "2026-11-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		{"", "", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
	} {
		begin, end, err := parsePeriod(test.from, test.to)
		if err != nil || time.UnixMilli(begin).UTC().Format(time.RFC3339Nano) != test.begin ||
			time.UnixMilli(end).UTC().Format(time.RFC3339Nano) != test.end {
			t.Errorf("%q to %q: %v to %v, %v", test.from, test.to, begin, end, err)
		}
	}
	for _, test := range [][2]string{{"2026-11", "2026-10"}, {"2026-11-07", "2026-11-06"},
		{"2026-11-07T00:00:00Z", "2026-11-07T00:00:00Z"},
		{"yesterday", ""}, {"", "2026-13"}, {"2026-02-30", ""}, {"1969-12", ""}, {"2026-11-07 12:00", ""},
		{"", "11/2026"}} {
		if begin, end, err := parsePeriod(test[0], test[1]); err == nil {
			t.Errorf("%q to %q: %v to %v", test[0], test[1], begin, end)
		}
	}
}

// TestKeysOf: a policy may have tabs, and a key entry no key.
func TestKeysOf(t *testing.T) {
	if keys := keysOf(verify.Trust{Policy: []byte("log\tKEY https://a.example\n\nlog \t OTHER\n")}); len(keys) != 2 {
		t.Errorf("%q", keys)
	}
	if text := keyOf(inspect.KeyLine{Subject: "two_persons", ID: "lvBS5Um6"}); strings.Contains(text, "id") {
		t.Error(text)
	}
}

// TestAuditOfOrphans: children whose parent is not known are shuffles, too: the bars of their table have 30 cells.
func TestAuditOfOrphans(t *testing.T) {
	l := inspecttest.New(t.TempDir(), "orphans", inspecttest.Plain())
	root := l.Commit("t1")
	root.Close(audit.OutcomeVoid, audit.ReasonMisdeal)
	l.Commit("t1", inspecttest.ChildOf(root, 4, 7)).Close(audit.OutcomeVoid, audit.ReasonMisdeal)
	l.Commit("t1", inspecttest.ChildOf(root, 4, 7)).Close(audit.OutcomeVoid, audit.ReasonMisdeal)
	l.Finish()
	b, err := inspect.OpenBundle(l.Dir)
	must(t, err)
	defer b.Close()
	r, err := inspect.Run(t.Context(), b, inspect.Options{})
	must(t, err)
	text := Sheet{term.Streams{Out: io.Discard}.Sheet()}.audit("orphans", r)
	if want := strings.Repeat(barDone, 3) + strings.Repeat(barVoid, 27); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
