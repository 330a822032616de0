package audit

import (
	"cmp"
	"fmt"
	"strings"

	"shuffled/internal/verify"
)

// blindly says what the part of a co-dealer shows (docs/SPEC-BLIND.md section 8).
func blindly(v *verify.Verdict) (lines []string) {
	lines = append(lines, fmt.Sprintf("Dealt blind: %s gave the order of the places. Before it entered a request in its own ledger, nobody with only the house's machines, keys and staff, root included, could know more of what its places show than which cards were left; and from then on the house could not change which of them go to which name.",
		v.Blind.CoDealer))
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
		lines = append(lines, fmt.Sprintf("Places %d to %d were asked for at %s by its clock, in one request (%s), %s. The file does not show that this was not early.",
			r.Place, r.Place+r.Places-1, r.Time, strings.Join(runs, "; "), historyOf(r)))
		if r.Unplayed {
			lines = append(lines, unplayedOf(r))
		}
	}
	checked := "not checked here"
	if v.Blind.OrderChecked {
		checked = "checked"
	}
	return append(lines, "That the house's deck held each "+noun(v)+" once is "+checked+".")
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

// notBlind says why a shuffle is not blind to a reader who trusts a co-dealer.
var notBlind = map[string]string{
	verify.NotNamed:  "This shuffle is not blind: it names no co-dealer. The policy for the co-dealer was not used.",
	verify.NotPinned: "This shuffle is not shown to be blind: no key and no policy of the house is trusted.",
	verify.NotShared: "This shuffle is not shown to be blind: two quorums of the policy for the co-dealer need share no witness.",
	verify.NotDealt:  "This shuffle names an order of a co-dealer. Nothing was dealt from it, as far as the file shows.",

	verify.NotOneHistory: "This shuffle is not shown to be blind: the file does not show that the checkpoints of its co-dealer are of one history.",
}
