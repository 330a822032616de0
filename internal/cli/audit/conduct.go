package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/term"
)

// listedConduct is how many lines of each list go to the terminal. --json has more.
const listedConduct = 20

// listed is a heading with at most listedConduct lines below it. all is how many there are.
func (s Sheet) listed(heading string, lines []string, all uint64) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + heading + "\n")
	for _, line := range lines[:min(len(lines), listedConduct)] {
		b.WriteString(term.Hanging("  ", term.Visible(line), s.W))
	}
	return b.String() + more(all, listedConduct)
}

// more says how many of all lines are not listed, "" for none.
func more(all, listed uint64) string {
	if all <= listed {
		return ""
	}
	return fmt.Sprintf("  and %s more: --json lists them\n", term.Counted(all-listed))
}

func (s Sheet) auditDealing(d *inspect.Dealing) string {
	all := uint64(len(d.Tables))
	if d.Rest != nil {
		all += d.Rest.Count
	}
	var lines []string
	for _, t := range d.Tables[:min(len(d.Tables), listedConduct)] {
		line := fmt.Sprintf("%s: %s", t.Table, dealingOf(t.DealingCounts))
		if m := t.Median; m != nil {
			line += fmt.Sprintf("; the median gap between deals of one shuffle is between %s and %s", pause(m[0]),
				pause(m[1]))
		}
		lines = append(lines, line)
	}
	if all > 1 {
		lines = append([]string{"all tables: " + dealingOf(d.Totals)}, lines[:min(len(lines), listedConduct-1)]...)
		all++
	}
	return s.listed("Who dealt, and how far ahead, at the tables about which the house can be asked:", lines, all)
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

func (s Sheet) auditActs(a *inspect.Acts) string {
	var lines []string
	for _, l := range a.List[:min(len(a.List), listedConduct)] {
		line := fmt.Sprintf("%s  entry %d  %s, by %s", l.Time, l.Entry, l.Act, strings.Join(l.Administrators, " and "))
		switch {
		case l.BreakGlass:
			line += ", BREAK-GLASS: it waited for a second signature, and took effect without it"
		case l.Waited && l.Cancelled != nil:
			line += fmt.Sprintf(", waited, cancelled by entry %d", *l.Cancelled)
		case l.Waited:
			line += ", with one signature instead of two: it took no effect"
		}
		if l.Approved != nil {
			line += fmt.Sprintf("; it approved entry %d", *l.Approved)
		}
		lines = append(lines, line)
	}
	return s.listed(fmt.Sprintf("Acts of administrators: %s, with one signature instead of two: %s, of these with effect (break-glass): %s",
		term.Counted(a.Count), term.Counted(a.Waited), term.Counted(a.BreakGlass)), lines, a.Count)
}

func (s Sheet) auditHeads(heads []inspect.AdoptedHead) string {
	var lines []string
	for _, h := range heads {
		line := fmt.Sprintf("%s  entry %d  %s adopted a head of %s entries", h.Time, h.Entry, h.Identity,
			term.Counted(h.Size))
		if h.LostSize > 0 {
			line += fmt.Sprintf(", after a head of %s entries was seen", term.Counted(h.LostSize))
		}
		lines = append(lines, line+": "+h.Reason)
	}
	return s.listed(fmt.Sprintf("Adopted heads, each of which revoked every credential: %d", len(heads)), lines,
		uint64(len(heads)))
}

func (s Sheet) auditCredentials(c *inspect.Credentials) string {
	if len(c.Created) == 0 {
		return ""
	}
	var roles []string
	for _, role := range slices.Sorted(maps.Keys(c.Created)) {
		roles = append(roles, fmt.Sprintf("%s %s (%s revoked)", role, term.Counted(c.Created[role]),
			term.Counted(c.Revoked[role])))
	}
	var lines []string
	for _, a := range c.Admins {
		line := fmt.Sprintf("%s  entry %d  %s of %s, %s", a.Created, a.Entry, a.Credential, a.Identity, a.Form)
		if a.Expires != "" {
			line += ", expires " + a.Expires
		}
		if a.Revoked != "" {
			line += ", revoked " + a.Revoked
		}
		lines = append(lines, line)
	}
	heading := "Credentials created: " + strings.Join(roles, ", ")
	if len(lines) == 0 {
		return "\n" + heading + "\n"
	}
	return s.listed(heading+"; those of administrators:", lines, c.Created[audit.RoleAdmin.String()])
}

func (s Sheet) auditPassed(codes []inspect.PassedCode) string {
	var lines []string
	for _, p := range codes {
		lines = append(lines, fmt.Sprintf("%s %d: %s, first in entry %d", p.List, p.Code, term.Counted(p.Count),
			p.First))
	}
	return s.listed("Codes that this version does not know, and that change nothing:", lines, uint64(len(codes)))
}

// auditKeys lists the keys in the entries, and the policy that they put in force. They are the operator's word:
// the reader compares them with what other sources say.
func (s Sheet) auditKeys(r *inspect.Report) string {
	if len(r.Keys) == 0 {
		return ""
	}
	var lines []string
	for _, k := range r.Keys {
		lines = append(lines, fmt.Sprintf("entry %d of %s: %s", k.Entry, k.Time, keyOf(k)))
	}
	out := s.listed("Keys and policies, as the ledger's entries name them:", lines, uint64(len(lines)))
	if r.Policy == "" {
		return out + "  no policy: no witness is asked for\n"
	}
	lines = nil
	for line := range strings.SplitSeq(r.Policy, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return out + s.listed("The ledger's policy for its next checkpoint:", lines, uint64(len(lines)))
}

func keyOf(k inspect.KeyLine) string {
	switch {
	case k.Subject == audit.SubjectPolicy.String():
		return "a policy"
	case k.Subject == audit.SubjectRetirement.String():
		return fmt.Sprintf("the %s key with the id %s deserves no trust from %s on", k.Retired, k.ID, k.From)
	case k.VKey != "":
		return fmt.Sprintf("the %s key %s", k.Subject, k.VKey)
	}
	return fmt.Sprintf("the %s key with the id %s", k.Subject, k.ID)
}
