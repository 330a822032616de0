package audit

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/term"
)

//go:embed report.txt
var reportText string

// lists renders a part of report.txt: facts, and lists of what the report on a
// ledger, or on a pair, has about tables, people and credentials.
func (s Sheet) lists(part string, r any) string {
	type listing struct {
		heading string
		lines   []string
		all     uint64
	}
	var (
		all   []*listing
		known facts
	)
	words := template.FuncMap{
		"list": func(n any, format string, args ...any) string {
			count, _ := strconv.ParseUint(fmt.Sprint(n), 10, 64)
			all = append(all, &listing{heading: fmt.Sprintf(format, args...), all: count})
			return ""
		},
		"line": func(format string, args ...any) string {
			last := all[len(all)-1]
			last.lines = append(last.lines, fmt.Sprintf(format, args...))
			return ""
		},
		"fact": func(label, format string, args ...any) string {
			known.add(label, format, args...)
			return ""
		},
		"counted": term.Counted, "tickets": ticketsOf, "pause": pause, "key": keyOf, "reason": reasonWords,
		"dealing": dealingOf, "rarest": rarest, "lines": strings.Lines, "trim": strings.TrimSpace,
		"shuffles": func(n uint64) string { return term.Plural(n, "shuffle") },
		"plural":   term.Plural, "whole": func(n int) uint64 { return uint64(n) },
		"join":    func(names []string) string { return strings.Join(names, " and ") },
		"number":  func(n *uint64) string { return fmt.Sprint(*n) },
		"dealers": dealers, "starts": starts,
		"less": func(n int, less uint64) uint64 { return uint64(n) - less },
	}
	if err := template.Must(template.New("").Funcs(words).Parse(reportText)).ExecuteTemplate(io.Discard, part, r); err != nil {
		panic(err) // the template is this program's own
	}
	text := s.facts(known)
	for _, l := range all {
		text += s.listed(l.heading, l.lines, max(l.all, uint64(len(l.lines))))
	}
	return text
}

// listedConduct is how many lines of each list go to the terminal. --json has more.
const listedConduct = 20

// listed is a heading with at most listedConduct lines below it. all is how many there are.
func (s Sheet) listed(heading string, lines []string, all uint64) string {
	if len(lines) == 0 {
		return ""
	}
	text := "\n" + heading + "\n"
	for _, line := range lines[:min(len(lines), listedConduct)] {
		text += term.Hanging("  ", term.Visible(line), s.W)
	}
	return text + more(all, listedConduct)
}

// more says how many of all lines are not listed, "" for none.
func more(all, listed uint64) string {
	if all <= listed {
		return ""
	}
	return fmt.Sprintf("  and %s more: --json lists them\n", term.Counted(all-listed))
}

// dealers is how many lines the list of who dealt has: one for each table, and one for all if there are several.
func dealers(d inspect.Dealing) uint64 {
	n := uint64(len(d.Tables))
	if d.Rest != nil {
		n += d.Rest.Count
	}
	if n > 1 {
		n++
	}
	return n
}

// starts counts the starts of daemons, which a report does not list.
func starts(events []inspect.EventLine) (n uint64) {
	for _, e := range events {
		if e.Kind == audit.EventInstanceStart.String() {
			n++
		}
	}
	return n
}

// deck is how often something was shuffled at a table.
type deck struct {
	Table, What string
	Count       uint64
}

// rarest lists what was shuffled, the rarest first: a deck that came in for a few hands stands there.
func rarest(tables []inspect.TableCounts) (all []deck) {
	for _, t := range tables {
		for what, n := range t.Shuffled {
			all = append(all, deck{t.Table, what, n})
		}
	}
	slices.SortFunc(all, func(a, b deck) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.Table, b.Table), cmp.Compare(a.What, b.What))
	})
	return all
}

// dealingOf lists the figures that are not 0.
func dealingOf(c inspect.DealingCounts) string {
	var parts []string
	say := func(n uint64, format string, args ...any) {
		if n > 0 {
			parts = append(parts, term.Counted(n)+fmt.Sprintf(format, args...))
		}
	}
	say(c.Owners, " of more than one identity")
	say(c.Credentials, " dealt by more than one credential")
	say(c.ToClose, " taken over to close")
	say(c.ToPlay, " taken over to play")
	of := " of " + term.Counted(c.Deals)
	say(c.InOneGo, "%s deals much sooner after the deal before than the table's median", of)
	say(c.LongBefore, "%s deals much longer before the next entry than the table's median", of)
	say(c.Exposed, " of %s reveals of a card that was seen by mistake", term.Counted(c.Reveals))
	return strings.Join(parts, ", ")
}

// pause writes a time in milliseconds.
func pause(ms uint64) string {
	if ms < 1000 {
		return fmt.Sprintf("%d ms", ms)
	}
	return fmt.Sprintf("%.1f s", float64(ms)/1000)
}

func keyOf(k inspect.KeyLine) string {
	switch {
	case k.Subject == audit.SubjectPolicy.String():
		return "a policy"
	case k.Subject == audit.SubjectRetirement.String():
		return fmt.Sprintf("the %s key with the id %s deserves no trust from %s on", k.Retired, k.ID, k.From)
	case k.Key == "":
		return "a change of " + k.Subject
	case k.VKey != "":
		return fmt.Sprintf("the %s key %s", k.Subject, k.VKey)
	}
	return fmt.Sprintf("the %s key with the id %s", k.Subject, k.ID)
}
