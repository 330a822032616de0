package audit

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"os"
	"strings"

	"shuffled/internal/build"
	"shuffled/internal/inspect"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

//go:embed page.html
var auditPageText string

// auditPage is a page without scripts and without anything from another place.
var auditPage = template.Must(template.New("audit").Funcs(template.FuncMap{
	"counted": term.Counted, "percent": percent, "place": placeOfFault, "key": keyOf, "bar": barOf,
	"tickets": ticketsOf, "says": auditSays, "reason": reasonWords, "closed": inspect.Counts.Closed,
	"less": func(a, b uint64) uint64 { return a - b },
}).Parse(auditPageText))

// barPart is a part of a table's bar, in hundredths of its length.
type barPart struct {
	Class string
	X, W  float64
}

// barOf divides a table's bar by how the shuffles ended.
func barOf(c inspect.Counts) (parts []barPart) {
	if c.Closed() == 0 {
		return nil
	}
	x := 0.0
	for _, p := range []struct {
		class string
		n     uint64
	}{{"done", c.Completed + c.Continued}, {"early", c.EndedEarly}, {"void", c.Void}, {"expired", c.Expired}} {
		w := 100 * float64(p.n) / float64(c.Closed())
		if p.n > 0 {
			parts = append(parts, barPart{p.class, x, w})
		}
		x += w
	}
	return parts
}

// writeAuditPage writes the report to a file, as a page with at most 1,000 faults.
func writeAuditPage(name, dir string, r *inspect.Report) error {
	more := max(0, len(r.Faults)-1000)
	return writePage(name, auditPage, struct {
		Dir    string
		Faults []inspect.Fault
		More   int
		*inspect.Report
	}{dir, r.Faults[:len(r.Faults)-more], more, r})
}

func writePage(name string, page *template.Template, data any) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // evidence may have the name
	if err == nil {
		err = errors.Join(page.Execute(f, data), f.Close())
	}
	if errors.Is(err, os.ErrExist) {
		return term.Usage("--html: %s exists, and nothing is overwritten: name a new one", term.Visible(name))
	}
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

//go:embed verdict.html
var verdictPageText string

// verdictPage is one sheet of paper for a reader who was not there, without scripts and without anything from another
// place.
var verdictPage = template.Must(template.New("verdict").Parse(verdictPageText))

// writeVerdictPage writes the verdict on a file to a page. how are the flags of trust, to repeat the check with.
func writeVerdictPage(page, name string, data []byte, t verify.Trust, v *verify.Verdict) error {
	sum, all := sha256.Sum256(data), Conclude(v)
	sheet := struct {
		head
		*verify.Verdict
		Hand, More             facts
		Rounds                 []round
		Ended, Says, Not, Keys []string
		Name, Digest, Binary   string
		Bytes                  int
	}{head: headOf(v), Verdict: v, Ended: told(all, "ended"), Says: told(all, "says"), Not: told(all, "not"),
		Name: name, Keys: keysOf(t), Digest: hex.EncodeToString(sum[:]), Binary: build.This().Name(), Bytes: len(data)}
	if v.Level != "" {
		sheet.Hand, sheet.More, sheet.Rounds = handFacts(v), about(v), roundsOf(data, v.Cards)
	}
	return writePage(page, verdictPage, sheet)
}

// keysOf lists the keys of the ledger that the reader trusts.
func keysOf(t verify.Trust) (keys []string) {
	if t.VKey != "" {
		keys = append(keys, t.VKey)
	}
	for line := range strings.Lines(string(t.Policy)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "log" {
			keys = append(keys, term.Visible(strings.Join(words[1:], " ")))
		}
	}
	return keys
}
