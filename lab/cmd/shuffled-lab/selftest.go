package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"shuffled/internal/entropy"
	"shuffled/internal/term"
	"shuffled/lab"
	"shuffled/lab/battery"
	"shuffled/lab/controls"
)

type labSelftestCmd struct {
	Only    []string `placeholder:"NAME" help:"Only these controls."`
	Workers int      `placeholder:"N" help:"Work with N goroutines. Default: one for each processor."`
	JSON    bool     `name:"json" help:"Print JSON."`
}

func (labSelftestCmd) Help() string {
	return `Shows that the battery finds what it must find. It judges shufflers that are wrong on purpose, each with one fault that real houses had. The battery must reject each of them at its stated sample, by the test that is meant for it. It must accept the true shuffler. All of them take their bytes from the entropy source, so every run is different. The chance that a right battery fails here is below 1 in a billion. The exit code is 1 if a control does not come out as it must.

Faults that no sample shows are listed, with the size of a sample that would show them. shuffled lab prove tries every lane of the draws of a deck instead.

Examples:

    shuffled lab selftest
    shuffled lab selftest --only any-position --only true-deck --json`
}

// controlReport is what --json prints.
type controlReport struct {
	Passed   bool               `json:"passed"`
	Seconds  float64            `json:"seconds"`
	Controls []controls.Finding `json:"controls"`
	Unseen   []controls.Unseen  `json:"unseen,omitempty"`
}

func (c *labSelftestCmd) Run(ctx context.Context, s term.Streams) error {
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if err := lab.CheckWorkers(c.Workers); err != nil {
		return wrongField(err)
	}
	chosen, err := controls.Named(c.Only...)
	if err != nil {
		return term.WithHint(term.Usage("--only: %s", term.Visible(err.Error())), "there are %s",
			strings.Join(controls.Names(), ", "))
	}
	src, err := entropy.New(entropy.Config{})
	if err != nil {
		return err
	}
	began := time.Now()
	found, err := c.run(ctx, s, src, chosen)
	if err != nil {
		return err
	}
	r := &controlReport{Controls: found}
	if len(c.Only) == 0 {
		r.Unseen = controls.UnseenFaults()
	}
	r.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
	return c.conclude(s, r)
}

// conclude prints the report, and fails if a control does.
func (c *labSelftestCmd) conclude(s term.Streams, r *controlReport) error {
	r.Passed = !slices.ContainsFunc(r.Controls, func(f controls.Finding) bool { return !f.Passed })
	if err := c.print(s, r); err != nil {
		return err
	}
	if !r.Passed {
		return term.ErrFails
	}
	return nil
}

// run has the battery judge the controls, and shows each finding at once.
func (c *labSelftestCmd) run(ctx context.Context, s term.Streams, src *entropy.Source,
	chosen []controls.Control) ([]controls.Finding, error) {
	total, before := uint64(0), uint64(0)
	for _, control := range chosen {
		total += control.Sample
	}
	table := newControlTable(s, chosen)
	if !c.JSON {
		table.head()
	}
	p := term.NewProgress(s.Err, "outcomes")
	defer p.End()
	var found []controls.Finding
	for _, control := range chosen {
		f, err := control.Run(ctx, src, c.Workers, func(done uint64) { p.At(before+min(done, control.Sample), total) })
		if err != nil {
			return nil, err
		}
		before += control.Sample
		found = append(found, f)
		if !c.JSON {
			p.End()
			table.row(f)
		}
	}
	return found, nil
}

func (c *labSelftestCmd) print(s term.Streams, r *controlReport) error {
	if c.JSON {
		return term.PrintJSON(s.Out, r)
	}
	text := controlSummary(sheetOf(s), r)
	if r.Unseen != nil {
		text += unseenText(sheetOf(s), r.Unseen)
	}
	_, err := io.WriteString(s.Out, text)
	return err
}

// controlTable prints findings in columns of fixed width.
type controlTable struct {
	s           term.Streams
	p           term.Painter
	name, fault int
}

// finders is the width of the column that names tests.
const finders = 40

func newControlTable(s term.Streams, chosen []controls.Control) *controlTable {
	t := &controlTable{s: s, p: term.NewPainter(s.Out), name: len("control"), fault: len("fault")}
	for _, c := range chosen {
		t.name, t.fault = max(t.name, term.Cells(c.Name)), max(t.fault, term.Cells(faultOf(c.Fault)))
	}
	return t
}

func faultOf(fault string) string {
	if fault == "" {
		return "none: the shuffler that deals"
	}
	return fault
}

func (t *controlTable) head() {
	fmt.Fprintln(t.s.Out, t.p.Bold(t.line("control", "fault", "outcomes", "found by", "smallest p", "verdict")))
}

func (t *controlTable) line(name, fault, sample, by, p, verdict string) string {
	return term.Pad(name, t.name) + "  " + term.Pad(fault, t.fault) + "  " + fmt.Sprintf("%9s", sample) + "  " +
		term.Pad(term.Fit(by, finders), finders) + "  " + fmt.Sprintf("%10s", p) + "  " + verdict
}

func (t *controlTable) row(f controls.Finding) {
	by, p := "-", "-"
	switch {
	case f.Found != nil:
		by, p = f.Found.Test+": "+f.Found.Name, smallP(f.Found.P)
	case f.Fault == "" && f.Smallest != nil:
		by = fmt.Sprintf("none of %s p, adjusted %.2g", term.Counted(uint64(f.Tests)), f.Smallest.Adjusted)
		p = smallP(f.Smallest.P)
	}
	verdict := map[battery.Decision]string{battery.Accept: "accepted", battery.Reject: "rejected",
		battery.Repeat: "borderline"}[f.Verdict]
	if f.Passed {
		verdict = t.p.Good(verdict)
	} else {
		verdict = t.p.Bad(verdict + ": " + f.Why)
	}
	fmt.Fprintln(t.s.Out, t.line(f.Name, faultOf(f.Fault), term.Counted(f.Sample), by, p, verdict))
}

// smallP writes a p-value that may be smaller than a float can be.
func smallP(p float64) string {
	if p < 1e-300 {
		return "< 1e-300"
	}
	return fmt.Sprintf("%.1e", p)
}

// controlSummary is the verdict in a sentence.
func controlSummary(s sheet, r *controlReport) string {
	wrong := 0
	for _, f := range r.Controls {
		if !f.Passed {
			wrong++
		}
	}
	if wrong == 0 {
		return fmt.Sprintf("\n%s in %.1f s\n", s.P.Good(fmt.Sprintf("All %d came out as they must", len(r.Controls))),
			r.Seconds)
	}
	return fmt.Sprintf("\n%s in %.1f s\n",
		s.P.Bad(fmt.Sprintf("%d of %d did not come out as they must", wrong, len(r.Controls))), r.Seconds)
}
