package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shuffled/internal/inspect"
	"shuffled/internal/term"
)

// shownFaults is how many faults go to the terminal. --json has more.
const shownFaults = 50

// audit is the report on one ledger.
func (s Sheet) audit(name string, r *inspect.Report) string {
	text := s.P.Bold(term.Fit(term.Visible(name), max(s.W-20, 8))+": a whole ledger") + "\n\n" + s.lists("facts", r)
	if len(r.Tables) > 0 {
		text += "\n" + auditTable(r) + "\n" + s.auditBars(r) + s.lists("tables", r)
	}
	return text + s.lists("conduct", r) + s.auditFaults(r.Faults, r.FaultCount, r.FaultCodes) + "\n" +
		s.auditConclusion(r)
}

// ticketsOf says of how many shuffles the list of tickets was seen.
func ticketsOf(t inspect.Tickets) string {
	return fmt.Sprintf("%s drawn from lists of tickets; the list of %s was seen, of %s not",
		term.Plural(t.Shuffles, "shuffle"), term.Counted(t.Seen), term.Counted(t.Shuffles-t.Seen))
}

// auditTable lists the figures of all tables in columns.
func auditTable(r *inspect.Report) string {
	rows := [][]string{{"table", "shuffles", "completed", "early", "void", "expired", "open", "overdue", "witnessed",
		"mixed", "recomputed", "sealed"}}
	row := func(name string, c *inspect.Counts) {
		rows = append(rows, figures(name, c.Shuffles, c.Completed+c.Continued, c.EndedEarly, c.Void, c.Expired, c.Open,
			c.Overdue, c.Witnessed(), c.Levels[inspect.LevelMixed], c.Tapes[inspect.TapeRecomputed],
			c.Tapes[inspect.TapeSealed]))
	}
	for i := range r.Tables {
		row(r.Tables[i].Table, &r.Tables[i].Counts)
	}
	row("all", &r.Totals)
	return term.Aligned("    ", rows)
}

// figures is a row of a table: a name, and its figures.
func figures(name string, all ...uint64) []string {
	row := []string{term.Visible(name)}
	for _, n := range all {
		row = append(row, fmt.Sprint(n))
	}
	return row
}

// The cells of a bar.
const (
	barDone    = "█"
	barEarly   = "▓"
	barVoid    = "▒"
	barExpired = "░"
	barCells   = 30
)

// auditBars draws, for each table, how the closed shuffles ended.
func (s Sheet) auditBars(r *inspect.Report) string {
	var b strings.Builder
	width := 5
	for _, t := range r.Tables {
		width = min(max(width, term.Cells(term.Visible(t.Table))), 20)
	}
	for _, t := range r.Tables {
		c := t.Counts
		if c.Closed() == 0 {
			continue
		}
		fmt.Fprintf(&b, "  %s  %s%s%s%s  early %s, void %s, expired %s\n",
			term.Pad(term.Fit(term.Visible(t.Table), width), width),
			strings.Repeat(barDone, barCells-cellsOf(c.EndedEarly, c)-cellsOf(c.Void, c)-cellsOf(c.Expired, c)),
			s.P.Dim(strings.Repeat(barEarly, cellsOf(c.EndedEarly, c))),
			s.P.Warn(strings.Repeat(barVoid, cellsOf(c.Void, c))),
			s.P.Bad(strings.Repeat(barExpired, cellsOf(c.Expired, c))),
			percent(c.Shares.EndedEarly), percent(c.Shares.Void), percent(c.Shares.Expired))
	}
	if b.Len() > 0 {
		fmt.Fprintf(&b, "  %s  %s played  %s ended early  %s void  %s expired\n", term.Pad("", width),
			barDone, barEarly, barVoid, barExpired)
	}
	return b.String()
}

// cellsOf is the length of a part of a bar. A part that is not 0 has at least one cell.
func cellsOf(part uint64, of inspect.Counts) int {
	if part == 0 {
		return 0
	}
	return max(1, int(part*(barCells-3)/of.Closed()))
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func reasonWords(code string) string { return wordsOf("reason", code) }

func (s Sheet) auditFaults(faults []inspect.Fault, all uint64, codes map[string]uint64) string {
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("\nFaults: %s\n", s.P.Bad(term.Counted(all)))
	for _, f := range faults[:min(len(faults), shownFaults)] {
		text += term.Hanging("  "+s.P.Bad(f.Code)+"  ", placeOfFault(f)+": "+term.Visible(f.Detail), s.W)
	}
	text += more(all, shownFaults)
	if all > shownFaults {
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			text += fmt.Sprintf("  %s in all: %s\n", code, term.Counted(codes[code]))
		}
	}
	return text
}

// placeOfFault says where a fault is.
func placeOfFault(f inspect.Fault) string {
	var parts []string
	if f.Entry != nil {
		parts = append(parts, fmt.Sprintf("entry %d", *f.Entry))
	}
	if f.Shuffle != nil && (f.Entry == nil || *f.Entry != *f.Shuffle) {
		parts = append(parts, fmt.Sprintf("shuffle %d", *f.Shuffle))
	}
	if f.Where != "" {
		parts = append(parts, term.Visible(f.Where))
	}
	return cmp.Or(strings.Join(parts, ", "), "the ledger")
}

func (s Sheet) auditConclusion(r *inspect.Report) string {
	switch r.Verdict {
	case inspect.Failed:
		return s.headline("FAILED", s.P.Bad,
			fmt.Sprintf(": %s in the evidence. Ask the house about each.", term.Plural(r.FaultCount, "fault")))
	case inspect.CannotJudge:
		return s.headline("CANNOT JUDGE", s.P.Warn,
			": the ledger uses something that this version does not know. That is no sign of a fault.")
	case inspect.Consistent:
		return s.headline("KEY NOT PINNED", s.P.Warn, ": the ledger agrees with itself, and nothing is proved.") +
			"\n" + s.points(auditSays(r))
	}
	return s.headline("PROVED", s.P.Good, ": all of it holds.") + "\n" + s.points(auditSays(r))
}

// auditSays is what a report without faults says and leaves open, in the text and in the page.
func auditSays(r *inspect.Report) []string {
	switch r.Verdict {
	case inspect.Failed, inspect.CannotJudge:
		return nil
	case inspect.Consistent:
		return []string{
			"Anybody can make such a ledger with a key of their own.",
			"Take the ledger's verifier key from somewhere you trust (not from this directory, nor from the person who gave it to you) and run this again with --key.",
		}
	}
	lines := []string{"Every entry stands under the key you trust, no rule is broken, and every available tape gives exactly the order that was committed to."}
	for _, of := range []struct {
		shuffles uint64
		said     string
	}{
		{r.Totals.Tapes[inspect.TapeSealed], "%s not recomputed: their tapes are sealed to auditors. --auditor-key opens them."},
		{r.Totals.Levels[inspect.LevelMixed], "Of %s the order hangs on a beacon's round that was out only after your witnesses had seen the commitment: a value that the house could not know when it committed. Who got which of the next places was still the house's word."},
		{r.Totals.NeedsCoDealer, "Of %s the places hang on the ledger of a co-dealer, which was not looked at or does not show them: what the co-dealer gave is here the house's word, and the level is recorded at most."},
		{r.Tickets.Seen, "Of %s the list of tickets is one that you gave. That every ticket that was sold stands in it, and nothing else, only its sales show."},
		{r.Tickets.Shuffles - r.Tickets.Seen, "Of %s the list of tickets was not seen: give it with --tickets."},
		{r.Tickets.Shuffles - r.Tickets.Mixed, "Of %s with a list of tickets the house could choose the winner: it knows the list, and the level is not mixed."},
	} {
		if of.shuffles > 0 {
			lines = append(lines, fmt.Sprintf(of.said, term.Plural(of.shuffles, "shuffle")))
		}
	}
	if r.Totals.Witnessed() > 0 {
		lines = append(lines, fmt.Sprintf("To make a second history with witnessed shuffles, %d of the witnesses of your policy must lie. Which operators run the witnesses is not known here, and readers with another policy are not covered.", r.Witnesses.Overlap))
	}
	if r.Totals.Witnessed() < r.Totals.Shuffles {
		lines = append(lines, fmt.Sprintf("For %s no outside witness whom you trust saw the commitment before the first card. Against an operator who holds the signing key and rebuilds the ledger, that is no proof.",
			term.Plural(r.Totals.Shuffles-r.Totals.Witnessed(), "shuffle")))
	}
	return lines
}
