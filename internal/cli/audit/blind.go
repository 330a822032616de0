package audit

import (
	"cmp"
	"fmt"
	"strings"

	"shuffled/internal/verify"
)

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
		return "The co-dealer entered this, no card of it was opened to the house, and the shuffle ended without a deal of these places."
	}
	var cards []string
	for _, c := range r.Cards {
		cards = append(cards, cmp.Or(c.Name, fmt.Sprint(c.Shows)))
	}
	return "The shuffle ended without a deal of these places. They would have shown " + strings.Join(cards, " ") + "."
}
