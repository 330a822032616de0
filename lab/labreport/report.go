// Package labreport is the report of lab battery on samples of outcomes, as JSON and as a page: one file
// without scripts, which loads nothing.
package labreport

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"shuffled/lab"
	"shuffled/lab/battery"
)

// Report covers all samples of one command.
type Report struct {
	Command    string         `json:"command"`
	Parameters map[string]any `json:"parameters"`
	Algorithm  string         `json:"algorithm"`
	Build      lab.Build      `json:"build"`
	Started    string         `json:"started"` // UTC, RFC 3339
	Seconds    float64        `json:"seconds"`
	Rule       string         `json:"rule"` // when a sample is rejected, fixed beforehand
	CannotShow []string       `json:"cannot_show"`
	Decision   string         `json:"decision"` // accept, reject or repeat
	Samples    []*Sample      `json:"samples"`
}

// Sample has the results for outcomes of one kind.
type Sample struct {
	Name    string          `json:"name"`             // of the deck, or "draws"
	Cards   []string        `json:"cards,omitempty"`  // names of the columns of Positions; none for draws
	Files   []File          `json:"files,omitempty"`  // where the outcomes came from, if not from the generator now
	First   *battery.Report `json:"first"`            // on the first sample
	Second  *battery.Report `json:"second,omitempty"` // on the second one, if the first was borderline
	Verdict battery.Verdict `json:"verdict"`
	Note    string          `json:"note,omitempty"` // on a second file that was not needed
	Seconds float64         `json:"seconds"`        // to make and count the outcomes
}

// File is a file of outcomes that was judged.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Rule is the two-stage rule in words.
func Rule() string {
	return fmt.Sprintf("Each sample is judged by all its tests together, at a family-wise level of %g %% (Holm). "+
		"It is rejected at once when an adjusted p is below %g, and accepted when none is below %g. In between, the tests below %g are "+
		"judged alone on a second sample of the same size, made afterwards, at %g %% (Holm); a second sample below %g in any test is rejected too. "+
		"A perfect generator is rejected in %.3g %% of samples at most, as far as p-values are exact: for the smallest samples they are approximations (docs/LAB.md).",
		100*battery.Level, battery.RejectAtOnce, battery.Level, battery.Level, 100*battery.Level, battery.RejectAtOnce,
		100*battery.FalseAlarm)
}

// CannotShow says what no such report can show.
func CannotShow() []string {
	return []string{
		"That the generator cannot be predicted: output that looks random may be known to somebody. Whether the generator can be predicted depends on its design and on the source of its entropy.",
		"A deviation smaller than the table says for each test. Statistics cannot show that all draws and orders are exactly equally likely: shuffled lab prove tries every lane of draws up to 2^14 and every order up to nine cards, and says what it tried of larger decks; docs/PROOF.md has the argument for every size, checked by machine.",
		"What a test does not look for. That the tests find known faults is shown with shufflers that are wrong on purpose: shuffled lab selftest.",
	}
}

// Conclude sets Decision from the samples: the worst of theirs.
func (r *Report) Conclude() {
	r.Decision = string(battery.Accept)
	for _, s := range r.Samples {
		switch {
		case s.Verdict.Decision == battery.Reject:
			r.Decision = string(battery.Reject)
		case s.Verdict.Decision == battery.Repeat && r.Decision == string(battery.Accept):
			r.Decision = string(battery.Repeat)
		}
	}
}

// Accepted is the heading of the verdict of an accepted sample: by how many tests, if some were not possible.
func (s *Sample) Accepted() string {
	n, not := len(s.First.Results), len(s.First.Untested)
	if not == 0 {
		return "Accepted"
	}
	tests, were := "tests", "were"
	if n == 1 {
		tests = "test"
	}
	if not == 1 {
		were = "was"
	}
	return fmt.Sprintf("Accepted by %s %s; %s %s not possible at this sample size", Counted(uint64(n)), tests,
		Counted(uint64(not)), were)
}

// Title says what the outcomes are.
func (s *Sample) Title() string {
	shape := s.First.Shape
	switch {
	case shape.K > 0 && shape.Values == 1:
		return fmt.Sprintf("draws of 1 value, 1 to %s", Counted(uint64(shape.K)))
	case shape.K > 0:
		return fmt.Sprintf("draws of %d values, 1 to %s", shape.Values, Counted(uint64(shape.K)))
	}
	return s.Name
}

// Unit is the word for outcomes, in the plural.
func (s *Sample) Unit() string {
	switch shape := s.First.Shape; {
	case shape.K > 0:
		return "outcomes"
	case shape.Decks > 1:
		return "shoes"
	}
	return "decks"
}

// Worst returns the results of the first sample, smallest p first.
func (s *Sample) Worst() []battery.Result {
	results := slices.Clone(s.First.Results)
	slices.SortStableFunc(results, func(a, b battery.Result) int {
		switch {
		case a.P < b.P:
			return -1
		case a.P > b.P:
			return 1
		}
		return 0
	})
	return results
}

// Families returns the results of the first sample by test, in their order.
func (s *Sample) Families() (families []*Family) {
	at := make(map[string]*Family)
	for _, r := range s.First.Results {
		f := at[r.Test]
		if f == nil {
			f = &Family{Test: r.Test}
			at[r.Test] = f
			families = append(families, f)
		}
		f.Results = append(f.Results, r)
		if f.Smallest.Test == "" || r.P < f.Smallest.P {
			f.Smallest = r
		}
		if r.Rejected {
			f.Rejected++
		}
	}
	return families
}

// A Family is the results of one test.
type Family struct {
	Test     string
	Results  []battery.Result
	Smallest battery.Result // the one with the smallest p
	Rejected int
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"counted": Counted,
	"size":    func(n int) string { return Counted(uint64(n)) },
	"parameter": func(v any) string {
		if n, ok := v.(uint64); ok {
			return Counted(n)
		}
		return strings.Trim(fmt.Sprint(v), "[]")
	},
	"p":      P,
	"figure": Figure,
	"df":     DF,
	"heat":   newHeat,
	"curve":  newCurve,
	"plot":   newPlot,
}).Parse(pageText))

// WriteHTML writes the report as a page.
func (r *Report) WriteHTML(w io.Writer) error { return page.Execute(w, r) }

// P writes a p-value.
func P(p float64) string {
	switch {
	case p < 1e-300:
		return "<1e-300"
	case p < 0.001:
		return strconv.FormatFloat(p, 'e', 1, 64)
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// Figure writes a statistic.
func Figure(x float64) string {
	switch {
	case x >= 0 && x < 1e15 && x == math.Trunc(x):
		return Counted(uint64(x))
	case x >= 1000 || x <= -1000:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// DF writes degrees of freedom, nothing for a statistic that has none.
func DF(df float64) string {
	if df == 0 {
		return ""
	}
	return Counted(uint64(df))
}

// Counted writes a number with commas between thousands.
func Counted(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
