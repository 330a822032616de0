package audit

import (
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// Sheet writes evidence and verdicts as text.
type Sheet struct{ term.Sheet }

// Verdict is the whole report on one file.
func (s Sheet) Verdict(name string, data []byte, v *verify.Verdict) string {
	var b strings.Builder
	b.WriteString(s.P.Bold(s.title(name, v)) + "\n\n")
	b.WriteString(s.steps(v))
	if v.Verdict == verify.Proved || v.Verdict == verify.Consistent {
		b.WriteString("\n" + s.about(v))
		if cards := s.cards(data, v.Cards); cards != "" {
			b.WriteString("\n" + cards)
		}
		if v.DealtOn == verify.OpenedOnly {
			b.WriteString("\n" + s.headline("OPENED AND NOT DEALT ON", s.P.Warn, fmt.Sprintf(": the co-dealer's ledger says that it opened more places of this shuffle (%d) than were dealt, or are named by the close. The house can have looked at what lies there and ended the hand, or the co-dealer opened it unasked. An audit of both ledgers says which.", v.NotDealtOn)))
		}
	}
	b.WriteString("\n" + s.conclusion(v))
	return b.String()
}

func (s Sheet) title(name string, v *verify.Verdict) string {
	what := "neither a transcript nor a receipt"
	switch v.Kind {
	case verify.KindTranscript:
		what = "a transcript"
	case verify.KindReceipt:
		what = "a receipt"
	}
	if name == "-" {
		name = "standard input"
	}
	return term.Fit(term.Visible(name), max(s.W-len(what)-2, 8)) + ": " + what
}

// steps lists the steps of a verdict. If the verdict is proved, the steps that had nothing to check come last.
func (s Sheet) steps(v *verify.Verdict) string {
	if v.Verdict != verify.Proved {
		return s.Steps(v.Steps)
	}
	var checked, others []verify.Step
	for _, step := range v.Steps {
		if step.Result == verify.StepNotChecked {
			others = append(others, step)
		} else {
			checked = append(checked, step)
		}
	}
	if others == nil {
		return s.Steps(checked)
	}
	return s.Steps(checked) + "\nNot in the file, or not asked for:\n" + s.Steps(others)
}

// Steps lists the steps in columns: name, result, what was found.
func (s Sheet) Steps(steps []verify.Step) string {
	var b strings.Builder
	for _, step := range steps {
		label := fmt.Sprintf("  %-10s  %-11s  ", step.Name, step.Result)
		text := term.Hanging(label, term.Visible(step.Detail), s.W)
		if text == "" { // no detail
			text = strings.TrimRight(label, " ") + "\n"
		}
		b.WriteString(s.result(text, step.Result))
	}
	return b.String()
}

// result colours the result in the line of a step.
func (s Sheet) result(text, result string) string {
	paint := map[string]func(string) string{
		verify.StepOK: s.P.Good, verify.StepFailed: s.P.Bad, verify.StepNotChecked: s.P.Dim,
	}[result]
	head, rest, found := strings.Cut(text, "  "+result)
	if paint == nil || !found {
		return text
	}
	return head + "  " + paint(result) + rest
}

// facts returns a function that writes a label and a fact.
func (s Sheet) facts(to *strings.Builder) func(label, format string, args ...any) {
	return func(label, format string, args ...any) {
		to.WriteString(term.Hanging(fmt.Sprintf("  %-10s  ", label), term.Visible(fmt.Sprintf(format, args...)), s.W))
	}
}

// about is what the file says. The file must hold.
func (s Sheet) about(v *verify.Verdict) string {
	var b strings.Builder
	fact := s.facts(&b)
	ledger := v.Ledger
	if v.Checkpoint != nil {
		ledger += fmt.Sprintf(", of %d entries", v.Checkpoint.Size)
	}
	if isSandbox(v) {
		ledger += ", a sandbox"
	}
	fact("ledger", "%s", ledger)
	seen := func(label string, by []verify.Cosigned) {
		for _, w := range by {
			fact(label, "%s", strings.TrimSuffix(w.Name+" at "+w.Time, " at "))
			label = ""
		}
	}
	seen("seen by", v.Witnesses)
	seen("and late by", v.Late)
	for _, u := range v.Mixed {
		switch u.For {
		case verify.ForEverybody:
			fact("mixed", "for everybody: committed by %s, and round %d came out at %s", u.Witnessed, u.Round, u.Time)
		case verify.ForSlot:
			fact("mixed", "for the holder of slot %s: committed by %s", u.Slot, u.Witnessed)
		}
	}
	if v.Entry != nil {
		fact("entry", "%d, %s by %s with %s at %s", v.Entry.Index, v.Entry.Type, v.Entry.Identity, v.Entry.Credential,
			v.Entry.Time)
	}
	for _, p := range v.PassedOver {
		fact("passed over", "%d of the code %d of the list %s, first in entry %d: not known here, and without a say",
			p.Count, p.Code, p.List, p.First)
	}
	switch {
	case v.Kind == verify.KindTranscript:
		s.shuffle(v, fact)
	case v.Table != "": // of a commit
		fact("shuffle", "%d, number %d of table %s, %d places", v.ID, v.Serial, v.Table, v.Places)
	}
	return b.String()
}

// shuffle is what a transcript says of its shuffle.
func (s Sheet) shuffle(v *verify.Verdict, fact func(label, format string, args ...any)) {
	fact("shuffle", "%d, number %d of table %s; %d of %d places dealt", v.ID, v.Serial, v.Table, v.Next, v.Places)
	if v.GameRef != "" {
		fact("game", "%s", v.GameRef)
	}
	fact("shuffled", "%s", shuffled(v))
	fact("committed", "%s by %s, to close by %s", v.CommittedAt, v.Owner, v.CloseBy)
	for _, t := range v.Takeovers {
		fact("taken over", "%s by %s from %s at place %d, to %s: %s", t.Time, t.Identity, t.From, t.Place, t.Extent,
			t.Reason)
	}
	switch {
	case v.State == "closed" && v.Reason != "":
		fact("closed", "%s, as %s: %s", v.ClosedAt, wordsOf("outcome", v.Outcome), wordsOf("reason", v.Reason))
	case v.State == "continued":
		fact("continued", "%s: its cards are in a child, and its tape comes after the last one's close", v.ClosedAt)
	case v.State == "closed":
		fact("closed", "%s, as %s", v.ClosedAt, wordsOf("outcome", v.Outcome))
	default:
		fact("closed", "not yet, as far as the file shows")
	}
	s.terms(v, fact)
	asked(v, fact)
	if v.LastGoesOn {
		fact("last round", "%d: more of its cards may follow, as far as the file shows", v.LastRound)
	}
	if v.EndAt != 0 {
		fact("cut card", "in front of place %d", v.EndAt)
	}
	for _, a := range v.Statements {
		if a.Trusted {
			fact("stated by", "%s, an auditor whom you trust", a.Name)
		} else {
			fact("stated by", "%s, whose key you did not name: it gives nothing", a.Name)
		}
	}
	if v.Recipient != "" {
		fact("file of", "%s: their cards and the public ones", v.Recipient)
	}
}

// cards draws the opened cards, a row for each run of one recipient.
func (s Sheet) cards(data []byte, shown []verify.CardShown) string {
	if len(shown) == 0 {
		return ""
	}
	look := term.Plain
	if t, err := audit.ParseTranscript(data); err == nil {
		look = term.StyleOf(t.Deck)
	}
	var hands []term.Hand
	for _, c := range shown {
		label := c.Purpose
		if c.Recipient != "" {
			label = c.Recipient
			if c.Purpose != "seat" {
				label += " (" + c.Purpose + ")"
			}
		}
		if c.Round > 0 {
			label = fmt.Sprintf("round %d, %s", c.Round, label)
		}
		f := look.Face(c.Name)
		if c.Name == "" { // of a draw list
			f = term.Face{Text: fmt.Sprint(c.Shows)}
		}
		if label = term.Visible(label); len(hands) == 0 || hands[len(hands)-1].Label != label {
			hands = append(hands, term.Hand{Label: label})
		}
		last := &hands[len(hands)-1]
		last.Cards = append(last.Cards, f)
	}
	return term.DrawHands(s.P, hands, s.W)
}

// conclusion is the verdict in words: what it says, and what it does not say.
func (s Sheet) conclusion(v *verify.Verdict) string {
	switch v.Verdict {
	case verify.Failed:
		text := s.headline("FAILED", s.P.Bad, " at the step "+v.Failed+".")
		for _, step := range v.Steps {
			if step.Cause != "" {
				text += term.Hanging("Likely cause: ", term.Visible(step.Cause)+".", s.W)
			}
		}
		return text + "Rely on nothing that this file says.\n"
	case verify.CannotJudge:
		return s.headline("CANNOT JUDGE", s.P.Warn,
			": the file uses something that this version does not know. That is no sign of a fault.")
	case verify.Consistent:
		return s.headline("KEY NOT PINNED", s.P.Warn, ": the file agrees with itself, and nothing is proved.") + "\n" +
			s.points([]string{
				"Anybody can make such a file with a key of their own.",
				"Take the ledger's verifier key from somewhere you trust (not from this file, nor from the person who gave it to you) and run this again with --key.",
			})
	}
	all := Conclude(v)
	return s.Proved(v) + "\nThis says\n" + s.points(told(all, "says")) + "\nIt does not say\n" +
		s.points(told(all, "not"))
}

// Proved is the headline for a file that holds under a trusted key.
func (s Sheet) Proved(v *verify.Verdict) string {
	words := inWords[v.Level]
	if v.Kind == verify.KindReceipt && v.Level == verify.LevelWitnessed {
		words = "in the ledger, and seen there by outside witnesses" // a receipt does not say when
	}
	return s.headline("PROVED", s.P.Good, fmt.Sprintf(", at the level %q%s: %s.", v.Level, forWhom(v), words))
}

// forWhom says for whom the level is mixed, "" at other levels.
func forWhom(v *verify.Verdict) string {
	switch {
	case v.Level != verify.LevelMixed:
		return ""
	case isFor(v, verify.ForEverybody):
		return " for everybody"
	}
	return " for you who gave the slot, and for nobody else"
}

func isFor(v *verify.Verdict, whom string) bool {
	return slices.ContainsFunc(v.Mixed, func(u verify.Mixed) bool { return u.For == whom })
}

// headline writes a sentence that begins with a coloured word.
func (s Sheet) headline(word string, paint func(string) string, rest string) string {
	return strings.Replace(term.Hanging("", word+rest, s.W), word, paint(word), 1)
}

// points writes sentences as a list.
func (s Sheet) points(sentences []string) string {
	var b strings.Builder
	for _, line := range sentences {
		b.WriteString(term.Hanging("  - ", line, s.W))
	}
	return b.String()
}
