package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// runPair checks the bundles of a house and of its co-dealer, and compares them.
func (c auditVerifyCmd) runPair(ctx context.Context, s term.Streams, house inspect.Options) error {
	if c.HTML != "" || c.Outcomes != "" {
		return term.Usage("--html and --outcomes are for one ledger, and two bundles were given: leave out the flag or the second bundle")
	}
	o := inspect.PairOptions{House: house, Limit: c.Limit,
		CoDealer: inspect.Options{At: house.At, Auditors: house.Auditors}}
	if c.CoDealer != "" {
		var err error
		if o.CoDealer.Policy, err = term.ReadBounded(c.CoDealer, audit.MaxPolicyFile); err != nil {
			return fmt.Errorf("reading the co-dealer's policy: %w", err)
		}
	}
	a, err := openBundle(c.Dir)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := openBundle(c.Second)
	if err != nil {
		return err
	}
	defer b.Close()
	r, err := inspecting(ctx, s, func(progress func(done, total uint64)) (*inspect.PairReport, error) {
		o.House.Progress, o.CoDealer.Progress = progress, progress
		return inspect.Pair(ctx, a, b, o)
	})
	if err != nil {
		return err
	}
	sheet := Sheet{s.Sheet()}
	err = s.Answer(c.JSON, r, "%s\n%s\n%s", sheet.audit(c.Dir, r.House), sheet.audit(c.Second, r.CoDealer),
		sheet.pair(r))
	return cmp.Or(err, judgement(r.Verdict, append(slices.Clone(r.House.Unknown), r.CoDealer.Unknown...)))
}

// pair is the report on what two ledgers show of each other.
func (s Sheet) pair(r *inspect.PairReport) string {
	text := s.P.Bold(term.Fit(term.Visible(r.House.Origin)+" and its co-dealer "+term.Visible(r.CoDealer.Origin),
		s.W)) + "\n\n" + s.lists("pair", r)
	if r.Judged {
		text += "\n" + pairTable(r) + s.lists("unplayed", r)
	}
	return text + s.auditFaults(r.Faults, r.FaultCount, r.FaultCodes) + "\n" + s.pairConclusion(r)
}

// pairTable lists the figures of the house's tables in columns.
func pairTable(r *inspect.PairReport) string {
	rows := [][]string{{"table", "shuffles", "blind", "unchecked", "requests", "dealt on", "unplayed", "unanswered",
		"silent", "unread", "withheld", "tape lost", "restarted", "pending", "beyond", "median gap", "longest"}}
	row := func(name string, c *inspect.PairCounts, gaps ...string) {
		row := figures(name, c.Shuffles, c.Blind, c.BlindUnchecked, c.Requests, c.Matched, c.Unplayed, c.Unanswered,
			c.Silent, c.Unread, c.Withheld, c.TapeLost, c.Restarted, c.Pending, c.Beyond)
		rows = append(rows, append(row, gaps...))
	}
	for i := range r.Tables {
		t, gaps := &r.Tables[i], []string(nil)
		if t.Median != nil {
			gaps = []string{"< " + pause(t.Median[1]), fmt.Sprintf("%d s", t.Longest)}
		}
		row(t.Table, &t.PairCounts, gaps...)
	}
	row("all", &r.Totals)
	return term.Aligned("    ", rows)
}

// whyNotBlind says why no shuffle of a pair is shown to be blind.
var whyNotBlind = map[string]string{
	verify.NotPinned: "No shuffle is shown to be blind, because no key of one of the ledgers is trusted: give --key or --policy for the house's ledger, and --co-dealer for the co-dealer's.",
	verify.NotShared: "No shuffle is shown to be blind: no witness of both trusted policies cosigned both ledgers, or two quorums of the policy for the co-dealer share none.",
}

func (s Sheet) pairConclusion(r *inspect.PairReport) string {
	switch {
	case r.FaultCount > 0:
		return s.headline("FAILED", s.P.Bad, fmt.Sprintf(": %s between the two ledgers. Ask both parties about each.",
			term.Plural(r.FaultCount, "fault")))
	case !r.Judged:
		return s.headline("NOT JUDGED", s.P.Warn, ": the two ledgers were not compared.")
	case r.Verdict == inspect.Failed:
		return s.headline("FAILED", s.P.Bad, ": one of the ledgers has a fault; between the two ledgers there is no fault.")
	case r.NotBlind != "":
		return s.headline("CONSISTENT", s.P.Warn, ": the two ledgers agree with each other.") + "\n" +
			s.points([]string{whyNotBlind[r.NotBlind]})
	}
	lines := []string{fmt.Sprintf("Of %s that name the co-dealer %s blind: before %s entered a request, nobody with only the house's machines, keys and staff, root included, could know more of what its places show than which cards were left; and from then on the house could not change which of them go to which name.",
		term.Plural(r.Totals.Shuffles, "shuffle"), term.Counted(r.Totals.Blind)+are(r.Totals.Blind), r.CoDealer.Origin),
		"That the two are different parties, and that a request was not early, no ledger shows."}
	if n := r.Totals.Shuffles - r.Totals.OrdersChecked; n > 0 {
		lines = append(lines, fmt.Sprintf("Of %s the co-dealer's order was not recomputed: its tape is not disclosed, or no key was given that opens it. %s of these would be blind if the house has the values of the order, which only the house says.",
			term.Plural(n, "shuffle"), term.Counted(r.Totals.BlindUnchecked)))
	}
	if n := r.Totals.Beyond; n > 0 {
		lines = append(lines, fmt.Sprintf("Entries of one ledger refer %s to what is beyond the evidence of the other: ask for a newer bundle of the other.",
			term.Plural(n, "time")))
	}
	if n := r.Totals.Silent; n > 0 {
		lines = append(lines, fmt.Sprintf("Closes do not name %s that witnesses had seen long before: the house looked, or had no answer. Ask both parties for their records of these minutes.",
			term.Plural(n, "request")))
	}
	if n := r.Totals.Pending; n > 0 {
		lines = append(lines, fmt.Sprintf("Of %s %s pending: the shuffle is open in the house's bundle, or not in it.",
			term.Plural(r.Totals.Requests, "request"), term.Counted(n)+are(n)))
	}
	return s.headline("PROVED", s.P.Good, ": the two ledgers hold against each other.") + "\n" + s.points(lines)
}

func are(n uint64) string {
	if n == 1 {
		return " is"
	}
	return " are"
}
