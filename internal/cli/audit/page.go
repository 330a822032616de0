package audit

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"

	"shuffled/internal/inspect"
	"shuffled/internal/term"
)

//go:embed page.html
var auditPageText string

// auditPage is a page without scripts and without anything from another place.
var auditPage = template.Must(template.New("audit").Funcs(template.FuncMap{
	"counted": term.Counted, "percent": percent, "place": placeOfFault, "key": keyOf, "bar": barOf,
	"tickets": ticketsOf, "says": auditSays, "reason": reasonWords,
	"less":   func(a, b uint64) uint64 { return a - b },
	"closed": func(c inspect.Counts) uint64 { return c.Closed() },
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
	f, err := os.Create(name)
	if err == nil {
		err = errors.Join(page.Execute(f, data), f.Close())
	}
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
