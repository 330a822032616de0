package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"shuffled/internal/audit/openings"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// A fact is what a file that holds says, under a label.
type fact struct{ Label, Text string }

// facts are a list to which facts are added.
type facts []fact

func (f *facts) add(label, format string, args ...any) {
	*f = append(*f, fact{label, term.Visible(fmt.Sprintf(format, args...))})
}

// local writes a time of a verdict as the reader's clock shows it.
func local(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text // beyond the year 9999 there is none
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

// handFacts say which hand it is: of which house, table and number, when, by which service, and how it ended.
func handFacts(v *verify.Verdict) (f facts) {
	house := v.Ledger
	if isSandbox(v) {
		house += ", a sandbox"
	}
	f.add("house", "%s", house)
	if v.Table != "" {
		game := ""
		if v.GameRef != "" {
			game = ", game " + v.GameRef
		}
		f.add("hand", "number %d of table %s%s (shuffle %d)", v.Serial, v.Table, game, v.ID)
	}
	if e := v.Entry; e != nil {
		f.add("entry", "%d, %s by %s with %s at %s", e.Index, e.Type, e.Identity, e.Credential, local(e.Time))
	}
	if v.Kind != verify.KindTranscript {
		return f
	}
	f.add("committed", "%s by %s, to close by %s", local(v.CommittedAt), v.Owner, local(v.CloseBy))
	switch outcome := wordsOf("outcome", v.Outcome); {
	case v.State == "continued":
		f.add("continued", "%s: its cards are in a child, and its tape comes after the last one's close", local(v.ClosedAt))
	case v.State == "closed" && v.Reason != "":
		f.add("closed", "%s, as %s: %s", local(v.ClosedAt), outcome, wordsOf("reason", v.Reason))
	case v.State == "closed":
		f.add("closed", "%s, as %s", local(v.ClosedAt), outcome)
	default:
		f.add("closed", "not yet, as far as the file shows")
	}
	return f
}

// endedBadly is the code of an end that no reader may take for that of a hand that was played, "" for any other.
func endedBadly(v *verify.Verdict) string {
	switch {
	case v.DealtOn == verify.OpenedOnly:
		return "opened_and_not_dealt_on"
	case v.Kind == verify.KindTranscript && (v.Outcome == "void" || v.Outcome == "expired"):
		return v.Outcome
	}
	return ""
}

// about is what else a file that holds says.
func about(v *verify.Verdict) (f facts) {
	if v.Checkpoint != nil {
		f.add("ledger", "%s, of %d entries", v.Ledger, v.Checkpoint.Size)
	}
	f.witnesses(v)
	for _, u := range v.Mixed {
		switch u.For {
		case verify.ForEverybody:
			f.add("mixed", "for everybody: committed by %s, and round %d came out at %s", u.Witnessed, u.Round, u.Time)
		case verify.ForSlot:
			f.add("mixed", "for the holder of slot %s: committed by %s", u.Slot, u.Witnessed)
		}
	}
	for _, p := range v.PassedOver {
		f.add("passed over", "%d of the code %d of the list %s, first in entry %d: not known here, and without a say",
			p.Count, p.Code, p.List, p.First)
	}
	if v.Kind == verify.KindTranscript {
		f.shuffle(v)
	} else if v.Table != "" { // of a commit
		f.add("places", "%d", v.Places)
	}
	return f
}

// witnesses names who cosigned, and when.
func (f *facts) witnesses(v *verify.Verdict) {
	add := func(label string, by []verify.Cosigned) {
		for _, w := range by {
			f.add(label, "%s", strings.TrimSuffix(w.Name+" at "+w.Time, " at "))
			label = ""
		}
	}
	add("seen by", v.Witnesses)
	add("and late by", v.Late)
}

// shuffle is what a transcript says of its shuffle.
func (f *facts) shuffle(v *verify.Verdict) {
	f.add("dealt", "%d of %d places", v.Next, v.Places)
	f.add("shuffled", "%s", shuffled(v))
	for _, t := range v.Takeovers {
		f.add("taken over", "%s by %s from %s at place %d, to %s: %s", t.Time, t.Identity, t.From, t.Place, t.Extent,
			t.Reason)
	}
	f.terms(v)
	f.asked(v)
	if v.LastGoesOn {
		f.add("last round", "%d: more of its cards may follow, as far as the file shows", v.LastRound)
	}
	if v.EndAt != 0 {
		f.add("cut card", "in front of place %d", v.EndAt)
	}
	for _, a := range v.Statements {
		if a.Trusted {
			f.add("stated by", "%s, an auditor whom you trust", a.Name)
		} else {
			f.add("stated by", "%s, whose key you did not name: it gives nothing", a.Name)
		}
	}
	if v.Recipient != "" {
		f.add("file of", "%s: their cards and the public ones", v.Recipient)
	}
}

// A round is the cards of one round, by recipient. Cards without a round have the number 0.
type round struct {
	Number uint16
	Hands  []term.Hand
}

// roundsOf groups the opened cards by round, then by recipient or purpose.
func roundsOf(data []byte, shown []verify.CardShown) (rounds []round) {
	look := term.Plain
	if t, err := openings.ParseTranscript(data); err == nil {
		look = term.StyleOf(t.Deck)
	}
	for _, c := range shown {
		if len(rounds) == 0 || rounds[len(rounds)-1].Number != c.Round {
			rounds = append(rounds, round{Number: c.Round})
		}
		label := c.Purpose
		if c.Recipient != "" {
			label = c.Recipient
			if c.Purpose != "seat" {
				label += " (" + c.Purpose + ")"
			}
		}
		label = term.Visible(label)
		hands := &rounds[len(rounds)-1].Hands
		at := slices.IndexFunc(*hands, func(h term.Hand) bool { return h.Label == label })
		if at < 0 {
			at, *hands = len(*hands), append(*hands, term.Hand{Label: label})
		}
		f := look.Face(c.Name)
		if c.Name == "" { // of a draw list
			f = term.Face{Text: fmt.Sprint(c.Shows)}
		}
		(*hands)[at].Cards = append((*hands)[at].Cards, f)
	}
	return rounds
}

// listedDraws is how many drawn values go to the terminal with their labels. --json has more.
const listedDraws = 20

// terms writes the document that says what the values mean. Of a wheel it writes the label of each drawn value
// and how many values have that label, of a pay table the first line, of a list of tickets the count and root.
func (f *facts) terms(v *verify.Verdict) {
	t := v.Terms
	switch {
	case t == nil:
	case len(t.Labels) > 0:
		weights, total := make(map[string]uint32), uint64(0)
		for _, l := range t.Labels {
			weights[l.Label] = l.Weight
			total += uint64(l.Weight)
		}
		f.add("wheel", "%s, %s, with the hash %s", term.Plural(uint64(len(t.Labels)), "label"),
			term.Plural(total, "value"), t.Hash)
		for i, c := range v.Cards {
			if i == listedDraws {
				f.add("", "and %d more: --json lists them", len(v.Cards)-listedDraws)
				break
			}
			f.add("", "place %d shows %s: %s, %s of %s", c.Place, term.Counted(uint64(c.Shows)), c.Label,
				term.Counted(uint64(weights[c.Label])), term.Counted(total))
		}
	case t.Text != "":
		first, _, more := strings.Cut(t.Text, "\n")
		if more {
			first += " …"
		}
		f.add("pay table", "%s, with the hash %s", first, t.Hash)
	case t.Count > 0:
		f.add("tickets", "%s in a list with the root %s, which was not seen here", term.Counted(t.Count), t.Hash)
	default:
		f.add("terms", "a %s with the hash %s, which is not in the file", strings.ReplaceAll(t.Kind, "_", " "), t.Hash)
	}
}

// asked lists the requests to a co-dealer (docs/SPEC-BLIND.md section 8).
func (f *facts) asked(v *verify.Verdict) {
	if v.Blind == nil {
		return
	}
	for _, r := range v.Blind.Requests {
		var runs []string
		for _, run := range r.Runs {
			text := fmt.Sprintf("%d %s", run.Places, run.Purpose)
			if run.Recipient != "" {
				text += " for " + run.Recipient
			}
			if run.Public {
				text += ", public"
			}
			if run.Round > 0 {
				text += fmt.Sprintf(", round %d", run.Round)
			}
			runs = append(runs, text)
		}
		f.add("asked", "places %d to %d at %s by the co-dealer's clock, in one request (%s), %s; the file does not show that this was not early",
			r.Place, r.Place+r.Places-1, r.Time, strings.Join(runs, "; "), historyOf(r))
		if r.Unplayed {
			f.add("", "%s", unplayedOf(r))
		}
	}
}

// historyOf says what is known of the hash in a request.
func historyOf(r verify.Request) string {
	switch {
	case r.State == "":
		return "without a hash of the game's history"
	case r.History == verify.HistoryChecked:
		return fmt.Sprintf("behind line %d of the history that you gave", *r.Line)
	case r.History == verify.HistoryDiffers:
		return "with a hash of another history than you gave"
	}
	return "with a hash of a history that nobody checked here"
}

// unplayedOf says what was opened and not dealt.
func unplayedOf(r verify.Request) string {
	if r.Cards == nil {
		return "The co-dealer entered this. By the house's word no card of it was opened to the house. The shuffle ended without a deal of these places."
	}
	var cards []string
	for _, c := range r.Cards {
		cards = append(cards, cmp.Or(c.Name, fmt.Sprint(c.Shows)))
	}
	return "The shuffle ended without a deal of these places. They would have shown " + strings.Join(cards, " ") + "."
}
