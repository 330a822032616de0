package main

import (
	"fmt"
	"io"
	"strings"

	"shuffled/internal/lab/battery"
	"shuffled/internal/lab/labreport"
)

// worstShown is how many results a terminal gets without --all.
const worstShown = 12

// print writes the report for people.
func (c *labBatteryCmd) print(s streams, r *labreport.Report) error {
	sheet := s.sheet()
	var b strings.Builder
	for _, sample := range r.Samples {
		b.WriteString(sheet.p.Bold(fmt.Sprintf("%s: %s %s in %.1f s", visible(sample.Title()), counted(sample.First.Outcomes), sample.Unit(), sample.Seconds)) + "\n\n")
		for _, f := range sample.Files {
			fmt.Fprintf(&b, "  from %s\n  SHA-256 %s\n\n", visible(f.Name), f.SHA256)
		}
		if sample.Note != "" {
			fmt.Fprintf(&b, "  %s\n\n", sample.Note)
		}
		c.results(&b, sample)
		if sample.Verdict.Retested != nil {
			b.WriteString("\n  Borderline tests on the second sample\n\n" + resultTable(sample.Verdict.Retested))
		}
		fmt.Fprintf(&b, "\n  %s\n\n", verdictOf(sheet.p, sample))
	}
	if c.HTML != "" {
		fmt.Fprintf(&b, "Page      %s\n", visible(c.HTML))
	}
	b.WriteString(hanging("Rule      ", r.Rule, sheet.w))
	for i, text := range r.CannotShow {
		label := "Not shown "
		if i > 0 {
			label = "          "
		}
		b.WriteString(hanging(label, text, sheet.w))
	}
	_, err := io.WriteString(s.out, b.String())
	return err
}

// results lists what was tested and what was not.
func (c *labBatteryCmd) results(b *strings.Builder, sample *labreport.Sample) {
	worst := sample.Worst()
	shown := len(worst)
	if !c.All {
		shown = min(shown, worstShown)
	}
	b.WriteString(resultTable(worst[:shown]))
	if shown < len(worst) {
		fmt.Fprintf(b, "\n  The worst %d of %s tests; --all lists them all.\n", shown, counted(uint64(len(worst))))
	} else {
		fmt.Fprintf(b, "\n  %s tests.\n", counted(uint64(len(worst))))
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
		test, name = max(test, cells(r.Test)), max(name, cells(r.Name))
	}
	rows := [][]string{{pad("test", test), pad("of", name), "statistic", "df", "n", "p", "adjusted", "finds, with 99 %"}}
	for _, r := range results {
		rows = append(rows, []string{
			pad(r.Test, test), pad(r.Name, name), labreport.Figure(r.Statistic), labreport.DF(r.DF), counted(r.N),
			labreport.P(r.P), labreport.P(r.Adjusted), r.Detects,
		})
	}
	return table(rows)
}

func verdictOf(p painter, sample *labreport.Sample) string {
	switch v := sample.Verdict; v.Decision {
	case battery.Accept:
		return p.Good(sample.Accepted()) + ": " + v.Why
	case battery.Reject:
		return p.Bad("Rejected") + ": " + v.Why
	}
	return "Not decided: " + sample.Verdict.Why
}
