package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"shuffled/internal/disclosure"
	"shuffled/internal/inspect"
	"shuffled/internal/terms"
)

// root is the directory of the files that version 1 wrote.
const root = "../../testdata/v1"

// frozen is the SHA-256 of SHA256SUMS, which lists the SHA-256 of every other file. It may change in
// a release candidate, and never after version 1 is released (docs/STABILITY.md).
const frozen = "0011072278e8ebd2393656e1b028f97dc0c13f1955dcd7643eece68e550ba58a"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	return b
}

// sums returns what SHA256SUMS must hold: a line for every other file, as sha256sum writes it.
func sums(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "SHA256SUMS" {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		fmt.Fprintf(&b, "%x  ./%s\n", sha256.Sum256(data), name)
		return err
	}))
	return b.Bytes()
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// TestFrozen: no file of version 1 is changed, added or removed.
func TestFrozen(t *testing.T) {
	listed := read(t, filepath.Join(root, "SHA256SUMS"))
	if !bytes.Equal(listed, sums(t)) {
		t.Errorf("%s does not hold what its SHA256SUMS lists: sha256sum -c says which file", root)
	}
	if got := digest(listed); got != frozen {
		t.Errorf("the digest of SHA256SUMS is %s and not %s: docs/STABILITY.md rules out a change of what version 1 wrote",
			got, frozen)
	}
}

// TestLedgers: the audit of each ledger and of the pair finds what it found when the ledger was
// written. A report may have members that the old report lacks.
func TestLedgers(t *testing.T) {
	for _, name := range []string{"house", "lab", "sandbox", "late"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, "ledgers", name)
			same(t, filepath.Join(dir, "report.json"), report(t, dir))
		})
	}
	t.Run("pair", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(root, "ledgers")
		same(t, filepath.Join(dir, "pair.json"), pairReport(t, dir))
	})
}

// same compares a report with the file of the old one: each member of the old one must be the same.
func same(t *testing.T, file string, report any) {
	t.Helper()
	var want, got any
	must(t, json.Unmarshal(read(t, file), &want))
	raw, err := json.Marshal(report)
	must(t, err)
	must(t, json.Unmarshal(raw, &got))
	if where := missing(want, got); where != "" {
		t.Errorf("the report differs at %s", where)
	}
}

// report audits a ledger.
func report(t *testing.T, dir string) *inspect.Report {
	t.Helper()
	source, o := ledgerOf(t, dir)
	defer source.Close()
	r, err := inspect.Run(t.Context(), source, o)
	must(t, err)
	return r
}

// pairReport audits the pair of the house and the lab, which is its co-dealer.
func pairReport(t *testing.T, dir string) *inspect.PairReport {
	t.Helper()
	var o inspect.PairOptions
	house, of := ledgerOf(t, filepath.Join(dir, "house"))
	defer house.Close()
	o.House = of
	lab, of := ledgerOf(t, filepath.Join(dir, "lab"))
	defer lab.Close()
	o.CoDealer, o.Limit = of, time.Hour
	r, err := inspect.Pair(t.Context(), house, lab, o)
	must(t, err)
	return r
}

// ledgerOf opens the bundle in a directory, and returns it with the options of its audit.
func ledgerOf(t *testing.T, dir string) (*inspect.Bundle, inspect.Options) {
	t.Helper()
	source, err := inspect.OpenBundle(filepath.Join(dir, "bundle"))
	must(t, err)
	return source, inspect.Options{Policy: read(t, filepath.Join(dir, "policy")),
		Auditors: []*disclosure.Auditor{auditor(t, string(read(t, filepath.Join(dir, "auditor"))))}}
}

// auditorPrefix is the beginning of the line in the file of an auditor's private key.
const auditorPrefix = "shuffled-auditor-key:v1:"

// auditor returns the auditor with the private key in this line. This key is for tests only.
func auditor(t *testing.T, line string) *disclosure.Auditor {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(strings.TrimPrefix(line, auditorPrefix)))
	must(t, err)
	a, err := disclosure.NewAuditor(key)
	must(t, err)
	return a
}

// missing returns the path of the first difference found: where the second value lacks a member or
// an element of the first, or has another value. It returns "" if there is none. Further members of
// the second value are no difference.
func missing(want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return "/"
		}
		for name, v := range w {
			if where := missing(v, g[name]); where != "" {
				return "/" + name + strings.TrimSuffix(where, "/")
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return "/"
		}
		for i := range w {
			if where := missing(w[i], g[i]); where != "" {
				return fmt.Sprintf("/%d%s", i, strings.TrimSuffix(where, "/"))
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return "/"
	}
	return ""
}

// TestTickets: the proof of each ticket leads to the root that the commit names.
func TestTickets(t *testing.T) {
	var proofs struct{ Tickets []struct{ Text string } }
	must(t, json.Unmarshal(read(t, filepath.Join(root, "tickets.json")), &proofs))
	var draw struct {
		Want struct{ Terms struct{ Hash []byte } }
	}
	must(t, json.Unmarshal(read(t, filepath.Join(root, "files", "house-tickets.json")), &draw))
	if len(proofs.Tickets) == 0 {
		t.Fatal("no tickets")
	}
	for _, p := range proofs.Tickets {
		ticket, err := terms.ParseTicket([]byte(p.Text))
		must(t, err)
		must(t, ticket.Check())
		if !bytes.Equal(ticket.Root[:], draw.Want.Terms.Hash) {
			t.Errorf("ticket %d is of another list", ticket.Number)
		}
	}
}
