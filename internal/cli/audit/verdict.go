package audit

import (
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// Sheet writes evidence and verdicts as text.
type Sheet struct{ term.Sheet }

// Verdict is the whole report on one file.
func (s Sheet) Verdict(name string, data []byte, v *verify.Verdict) string {
	text := s.P.Bold(s.title(name, v)) + "\n\n"
	if v.Level == "" {
		return text + s.steps(v) + "\n" + s.conclusion(v)
	}
	for _, means := range told(Conclude(v), "ended") {
		text += s.headline(capitals(endedBadly(v)), s.P.Warn, ": "+means) + "\n"
	}
	text += s.facts(handFacts(v)) + "\n" + s.steps(v) + "\n" + s.facts(about(v))
	for _, r := range roundsOf(data, v.Cards) {
		text += "\n"
		if r.Number > 0 {
			text += fmt.Sprintf("  Round %d\n", r.Number)
		}
		text += term.DrawHands(s.P, r.Hands, s.W)
	}
	return text + "\n" + s.conclusion(v)
}

func (s Sheet) title(name string, v *verify.Verdict) string {
	what := "neither a transcript nor a receipt"
	if v.Kind != "" {
		what = "a " + v.Kind
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
	paint := map[string]func(string) string{
		verify.StepOK: s.P.Good, verify.StepFailed: s.P.Bad, verify.StepNotChecked: s.P.Dim,
	}
	var b strings.Builder
	for _, step := range steps {
		label := fmt.Sprintf("  %-10s  %-11s  ", step.Name, step.Result)
		text := term.Hanging(label, term.Visible(step.Detail), s.W)
		if text == "" { // no detail
			text = strings.TrimRight(label, " ") + "\n"
		}
		b.WriteString(strings.Replace(text, "  "+step.Result, "  "+paint[step.Result](step.Result), 1))
	}
	return b.String()
}

// facts writes labels and facts in columns.
func (s Sheet) facts(all []fact) (text string) {
	for _, f := range all {
		text += term.Hanging(fmt.Sprintf("  %-10s  ", f.Label), f.Text, s.W)
	}
	return text
}

// conclusion is the verdict in words: what it says, and what it does not say.
func (s Sheet) conclusion(v *verify.Verdict) string {
	text, all := s.head(headOf(v)), Conclude(v)
	switch v.Verdict {
	case verify.Failed:
		for _, step := range v.Steps {
			if step.Cause != "" {
				text += term.Hanging("Likely cause: ", term.Visible(step.Cause)+".", s.W)
			}
		}
		return text + "Rely on nothing that this file says.\n"
	case verify.CannotJudge:
		return text
	case verify.Consistent:
		return text + "\n" + s.points([]string{
			"Anybody can make such a file with a key of their own.",
			"Take the ledger's verifier key from somewhere you trust (not from this file, nor from the person who gave it to you) and run this again with --key.",
		})
	}
	return text + "\nThis says\n" + s.points(told(all, "says")) + "\nIt does not say\n" + s.points(told(all, "not"))
}

// Proved is the headline for a file that holds under a trusted key.
func (s Sheet) Proved(v *verify.Verdict) string { return s.head(headOf(v)) }

// A head is the first sentence of a verdict. Its first word has the colour of the class: good, warn or bad.
type head struct{ Class, Word, Rest string }

func headOf(v *verify.Verdict) head {
	switch v.Verdict {
	case verify.Failed:
		return head{"bad", "FAILED", " at the step " + v.Failed + "."}
	case verify.CannotJudge:
		return head{"warn", "CANNOT JUDGE",
			": the file uses something that this version does not know. That is no sign of a fault."}
	case verify.Consistent:
		return head{"warn", "KEY NOT PINNED", ": the file agrees with itself, and nothing is proved."}
	}
	words := wordsOf("level", string(v.Level))
	if v.Kind == verify.KindReceipt && v.Level == verify.LevelWitnessed {
		words = "in the ledger, and seen there by outside witnesses" // a receipt does not say when
	}
	h := head{"good", "PROVED", fmt.Sprintf(", at the level %q%s: %s.", v.Level, forWhom(v), words)}
	if ended := endedBadly(v); ended != "" {
		h.Class, h.Word = "warn", "PROVED, AND "+capitals(ended)
	}
	return h
}

func capitals(code string) string { return strings.ToUpper(strings.ReplaceAll(code, "_", " ")) }

func (s Sheet) head(h head) string {
	paint := map[string]func(string) string{"good": s.P.Good, "warn": s.P.Warn, "bad": s.P.Bad}
	return s.headline(h.Word, paint[h.Class], h.Rest)
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
func (s Sheet) points(sentences []string) (text string) {
	for _, line := range sentences {
		text += term.Hanging("  - ", line, s.W)
	}
	return text
}
