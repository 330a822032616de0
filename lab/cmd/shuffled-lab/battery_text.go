package main

import (
	"fmt"
	"io"
	"strings"

	"shuffled/internal/term"
	"shuffled/lab/battery"
	"shuffled/lab/labreport"
)

// worstShown is the number of results on a terminal without --all.
const worstShown = 12

// print writes the report for people.
func (c *labBatteryCmd) print(s term.Streams, r *labreport.Report) error {
	sheet := sheetOf(s)
	var b strings.Builder
	for _, sample := range r.Samples {
		b.WriteString(sheet.P.Bold(fmt.Sprintf("%s: %s %s in %.1f s", term.Visible(sample.Title()),
			term.Counted(sample.First.Outcomes), sample.Unit(), sample.Seconds)) + "\n\n")
		for _, f := range sample.Files {
			fmt.Fprintf(&b, "  from %s\n  SHA-256 %s\n\n", term.Visible(f.Name), f.SHA256)
		}
		if sample.Note != "" {
			fmt.Fprintf(&b, "  %s\n\n", sample.Note)
		}
		c.results(&b, sample)
		if sample.Verdict.Retested != nil {
			b.WriteString("\n  Borderline tests on the second sample\n\n" + resultTable(sample.Verdict.Retested))
		}
		fmt.Fprintf(&b, "\n  %s\n\n", verdictOf(sheet.P, sample))
	}
	if c.HTML != "" {
		fmt.Fprintf(&b, "Page      %s\n", term.Visible(c.HTML))
	}
	b.WriteString(term.Hanging("Rule      ", r.Rule, sheet.W))
	for i, text := range r.CannotShow {
		label := "Not shown "
		if i > 0 {
			label = "          "
		}
		b.WriteString(term.Hanging(label, text, sheet.W))
	}
	_, err := io.WriteString(s.Out, b.String())
	return err
}

// results lists the tests that were made and those that were not.
func (c *labBatteryCmd) results(b *strings.Builder, sample *labreport.Sample) {
	worst := sample.Worst()
	shown := len(worst)
	if !c.All {
		shown = min(shown, worstShown)
	}
	b.WriteString(resultTable(worst[:shown]))
	if shown < len(worst) {
		fmt.Fprintf(b, "\n  The worst %d of %s tests; --all lists them all.\n", shown, term.Counted(uint64(len(worst))))
	} else {
		fmt.Fprintf(b, "\n  %s tests.\n", term.Counted(uint64(len(worst))))
	}
	if n := len(sample.First.Untested); n > 0 {
		fmt.Fprintf(b, "  Not tested, and not counted:\n")
		for i, text := range sample.First.Untested {
			if i == worstShown && !c.All {
				fmt.Fprintf(b, "    and %d more, with --all\n", n-i)
				break
			}
			fmt.Fprintf(b, "    %s\n", text)
		}
	}
}

func resultTable(results []battery.Result) string {
	test, name := len("test"), len("of")
	for _, r := range results {
		test, name = max(test, term.Cells(r.Test)), max(name, term.Cells(r.Name))
	}
	rows := [][]string{{term.Pad("test", test), term.Pad("of", name), "statistic", "df", "n", "p", "adjusted",
		"finds, with 99 %"}}
	for _, r := range results {
		rows = append(rows, []string{
			term.Pad(r.Test, test), term.Pad(r.Name, name), labreport.Figure(r.Statistic), labreport.DF(r.DF),
			term.Counted(r.N),
			labreport.P(r.P), labreport.P(r.Adjusted), r.Detects,
		})
	}
	return term.Table(rows)
}

func verdictOf(p term.Painter, sample *labreport.Sample) string {
	switch v := sample.Verdict; v.Decision {
	case battery.Accept:
		return p.Good(sample.Accepted()) + ": " + v.Why
	case battery.Reject:
		return p.Bad("Rejected") + ": " + v.Why
	}
	return "Not decided: " + sample.Verdict.Why
}
