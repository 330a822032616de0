package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"shuffled/internal/term"
	"shuffled/perf/load"
)

// second is a line of progress.
func second(p load.Progress) string {
	line := fmt.Sprintf("%4d s  %9s/s  p50 %8.2f ms  p99 %8.2f ms", int(p.At.Round(time.Second).Seconds()),
		term.Counted(uint64(p.Rate)), inMS(p.P50), inMS(p.P99))
	if p.Refused > 0 {
		line += fmt.Sprintf("  refused %s", term.Counted(p.Refused))
	}
	if p.Errors > 0 {
		line += fmt.Sprintf("  errors %s", term.Counted(p.Errors))
	}
	if p.Warming {
		line += "  warming up"
	}
	return line
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// print writes the report, and fails if the evidence does or nothing was measured.
func (c *benchCmd) print(s term.Streams, r *load.Report) error {
	if c.JSON {
		if err := term.PrintJSON(s.Out, r); err != nil {
			return err
		}
	} else {
		printReport(s, r)
	}
	for _, f := range r.Verified.Faults {
		fmt.Fprintf(s.Err, "shuffled: error: an acknowledged answer is wrong: %s\n", term.Visible(f.What))
	}
	if r.Verified.Failed > 0 {
		fmt.Fprintf(s.Err, "shuffled: hint: check that --key is the ledger's own key; --json shows the answers\n")
		return term.ErrFails
	}
	if r.Unusable != "" {
		return fmt.Errorf("%w: %s", errUnusable, term.Visible(r.Unusable))
	}
	return nil
}

func printReport(s term.Streams, r *load.Report) {
	p := s.Sheet().P
	pace := "each waiting for its answer"
	if r.Rate > 0 {
		pace = fmt.Sprintf("%g due per second", r.Rate)
	}
	fmt.Fprintf(s.Out, "%s\n\n", p.Bold(fmt.Sprintf("%s in %.1f s on %d connections, %s", r.Mix, r.Seconds,
		r.Connections, pace)))
	done := fmt.Sprintf("%s requests/s", term.Counted(uint64(r.PerSecond)))
	if r.Shuffles > 0 {
		done += fmt.Sprintf(", %s shuffles/s", term.Counted(uint64(r.Shuffles)))
	}
	fmt.Fprintf(s.Out, "  acknowledged  %s\n", done)
	fmt.Fprintf(s.Out, "  refused       %s\n", refusals(r))
	fmt.Fprintf(s.Out, "  errors        %s\n", faults(r))
	fmt.Fprintf(s.Out, "  verified      %s\n", verdictOn(&r.Verified))
	if r.Unusable != "" {
		fmt.Fprintf(s.Out, "  unusable      %s\n", term.Visible(r.Unusable))
	}
	fmt.Fprintf(s.Out, "  generator     %.1f µs of processor time for each request\n\n", r.Generator.CPUPerRequest)
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "  ms\tcount\tmean\tp50\tp90\tp99\tp99.9\tmax\t")
	for _, kind := range slices.Sorted(maps.Keys(r.LatencyMS)) {
		l := r.LatencyMS[kind]
		fmt.Fprintf(w, "  %s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", kind, term.Counted(l.Count), l.Mean, l.P50,
			l.P90, l.P99, l.P999, l.Max)
	}
	if r.Rate > 0 {
		l := r.LateMS
		fmt.Fprintf(w, "  sent late\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", term.Counted(l.Count), l.Mean, l.P50,
			l.P90, l.P99, l.P999, l.Max)
	}
	w.Flush()
}

func refusals(r *load.Report) string {
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(r.Refused)) {
		parts = append(parts, fmt.Sprintf("%s %s", term.Visible(code), term.Counted(r.Refused[code])))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// faults lists the requests that failed or were never sent.
func faults(r *load.Report) string {
	var parts []string
	for _, p := range []struct {
		n    uint64
		what string
	}{{r.Errors, "of connections"}, {r.GivenUp, "without an outcome"}, {r.Unsent, "due and never sent"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", term.Counted(p.n), p.what))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	line := strings.Join(parts, ", ")
	if r.FirstError != "" {
		line += ": " + term.Visible(r.FirstError)
	}
	return line
}

func verdictOn(v *load.Verified) string {
	which := fmt.Sprintf("all %s answers", term.Counted(uint64(v.Answers)))
	if uint64(v.Answers) < v.Of {
		which = fmt.Sprintf("%s of %s answers, by whole shuffles, spread evenly", term.Counted(uint64(v.Answers)),
			term.Counted(v.Of))
	}
	if v.Failed > 0 {
		return fmt.Sprintf("%s: %s FAILED", which, term.Counted(uint64(v.Failed)))
	}
	line := fmt.Sprintf("%s: %s entries under %s checkpoints, signed and included", which,
		term.Counted(uint64(v.Entries)), term.Counted(uint64(v.Checkpoints)))
	if v.Cards > 0 {
		line += fmt.Sprintf("; %s cards open their deck roots", term.Counted(uint64(v.Cards)))
	}
	if v.Tapes > 0 {
		line += fmt.Sprintf("; %s tapes lead to theirs", term.Counted(uint64(v.Tapes)))
	}
	return line
}
