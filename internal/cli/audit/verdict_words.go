package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shuffled/internal/term"
	"shuffled/internal/verify"
)

// believed names the trusted auditors whose statements the file holds.
func believed(v *verify.Verdict) (names []string) {
	for _, a := range v.Statements {
		if a.Trusted {
			names = append(names, a.Name)
		}
	}
	return names
}

// isSandbox reports whether the file says that its ledger is a sandbox. Most receipts do not say it.
func isSandbox(v *verify.Verdict) bool {
	says := v.Kind == verify.KindTranscript || v.Entry != nil && (v.Entry.Type == "commit" || v.Entry.Type == "genesis")
	return says && !v.Production
}

func checked(v *verify.Verdict, name string) bool {
	for _, step := range v.Steps {
		if step.Name == name {
			return step.Result == verify.StepOK
		}
	}
	return false
}

// ranges says how many values are 1 to what, at most of the first 8 ranges.
func ranges(list []uint32) (text string) {
	for n := 0; len(list) > 0; n++ {
		same := 1
		for same < len(list) && list[same] == list[0] {
			same++
		}
		if text += fmt.Sprintf(", %d × 1–%d", same, list[0]); n == 7 && same < len(list) {
			return text[2:] + ", …"
		}
		list = list[same:]
	}
	return text[2:]
}

// shuffled says what was shuffled. A deck that is not published is told by how it differs from the one that it is most
// like.
func shuffled(v *verify.Verdict) string {
	s := v.Shuffled
	switch {
	case s.Kind == "draws":
		return fmt.Sprintf("no cards: %d values of a draw list (%s)", v.Places, ranges(s.Ranges))
	case s.Kind == "numbers":
		return fmt.Sprintf("no cards: %d of the numbers 1 to %d", v.Places, s.Of)
	}
	text := fmt.Sprintf("%d of %d cards of %s", v.Places, s.Cards, cmp.Or(s.Deck, "no published deck"))
	if s.Parent != 0 {
		text += fmt.Sprintf(", chosen by the house from those of shuffle %d", s.Parent)
	}
	if s.Like == "" {
		return text
	}
	differs := []string{text + ": those of " + s.Like + " in another order"}
	for _, card := range slices.Sorted(maps.Keys(s.Differs)) {
		differs[0] = text + ": as " + s.Like
		differs = append(differs, fmt.Sprintf("%+d %s", s.Differs[card], term.Spelt(card)))
	}
	return strings.Join(differs, ", ")
}
