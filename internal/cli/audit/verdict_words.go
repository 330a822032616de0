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

// inWords says what the levels mean (docs/SPEC.md section 10.2).
var inWords = map[verify.Level]string{
	verify.LevelRecorded:  "signed, and in the ledger",
	verify.LevelWitnessed: "in the ledger, and seen there in time by outside witnesses",
	verify.LevelMixed:     "the order hangs on a value that the house could not know when it committed; who got which of the next places was still the house's word",
}

// says is what a proved file proves, as far as it was checked.
func says(v *verify.Verdict) (lines []string) {
	if v.Kind == verify.KindReceipt {
		lines = append(lines, "This entry stands at this place in the ledger whose key you trust.")
		if v.Level == verify.LevelWitnessed {
			lines = append(lines, "Enough witnesses of your policy saw it there: the house cannot take it back and show them another ledger.")
		}
		return lines
	}
	lines = append(lines, "In the ledger, signed by the key you trust, the whole order stands fixed before the first deal.")
	if len(v.Cards) > 0 {
		lines = append(lines, "Each "+noun(v)+" shown is the one that was fixed for its place.")
	}
	if t := v.Terms; t != nil && len(t.Labels) > 0 {
		lines = append(lines, "What each value wins is what the wheel says that stands in the commitment: each label has as many values as its weight.")
	}
	if t := v.Terms; t != nil && t.Text != "" {
		lines = append(lines, "The pay table in the file is the one that stands in the commitment. No program reads it: compare what was paid.")
	}
	if checked(v, "tape") && checked(v, "order") {
		lines = append(lines, "The published rule, run again here over the disclosed random bytes, gives exactly this order.")
	}
	if names := believed(v); unmade(v) && len(names) > 0 {
		lines = append(lines, fmt.Sprintf("%s %s, after opening the random bytes with an auditor's key, that the published rule gives exactly this order: %s, and every place shows what was committed.",
			strings.Join(names, " and "), states(len(names)), fairly(v)))
	}
	if v.Blind != nil {
		lines = append(lines, blindly(v)...)
	}
	if why := notBlind[v.NotBlind]; why != "" {
		lines = append(lines, why)
	}
	switch v.Level {
	case verify.LevelWitnessed:
		when := "before the first deal"
		if v.Next == 0 {
			when = "with nothing dealt, as far as the file shows"
		}
		lines = append(lines, "Enough witnesses of your policy saw the commitment "+when+": from then on the house could not exchange it, not even with its signing key.")
	case verify.LevelMixed:
		lines = append(lines, "Enough witnesses of your policy had seen the commitment by "+v.Mixed[0].Witnessed+", before anything was dealt: from then on the house could not exchange it, not even with its signing key.")
		lines = append(lines, hangsOn(v)...)
	}
	return lines
}

// hangsOn names the values that moved the order and that the house could not know, and for whom they count.
func hangsOn(v *verify.Verdict) (lines []string) {
	for _, u := range v.Mixed {
		switch u.For {
		case verify.ForEverybody:
			lines = append(lines, fmt.Sprintf("The order hangs on round %d of drand's quicknet as well, which came out at %s: a value that the house could not know when it committed.", u.Round, u.Time))
		case verify.ForSlot:
			lines = append(lines, fmt.Sprintf("To you alone: the order hangs on your slot as well, a value that the house could not know when it committed, if you gave it to nobody before %s, and for no other commit.", u.Witnessed))
		}
	}
	return lines
}

// liars says how many witnesses must lie to make two histories at the level witnessed.
func liars(n int) string {
	if n == 1 {
		return "one witness of your policy who lies"
	}
	return fmt.Sprintf("%d witnesses of your policy who lie", n)
}

// silent is what the level leaves open (docs/SPEC.md section 10.2).
func silent(v *verify.Verdict) (lines []string) {
	if v.Level == verify.LevelRecorded {
		lines = append(lines, "That there is no other version of this ledger. The level stops a database administrator, a thief of backups and a later change of mind, not an operator who holds the signing key and rebuilds the ledger.")
	}
	if v.Level == verify.LevelWitnessed || v.Level == verify.LevelMixed {
		lines = append(lines, fmt.Sprintf("That there is no second history at this level: it takes %s. Which operators run the witnesses is not known to this verdict, and readers with another policy are not covered.", liars(v.Overlap)))
	}
	if v.KeyInForce == verify.KeyNotShown {
		lines = append(lines, "That the key which signed was still in force. The file shows no later one, and a key that was replaced may be in other hands.")
	}
	if v.DealtOn == verify.DealtOnNotShown {
		lines = append(lines, "That the co-dealer opened no more places than were dealt. The house can have looked at more, and ended the hand.")
	}
	switch {
	case v.Kind == verify.KindReceipt:
		lines = append(lines, "That what the entry says is true: that takes the shuffle's transcript.")
	case !checked(v, "tape") && v.State == "closed" && len(believed(v)) == 0:
		lines = append(lines, "How the order was made. The random bytes were disclosed to auditors only.")
	case !checked(v, "tape") && v.State != "closed":
		lines = append(lines, "How the order was made. The random bytes come with the close.")
	}
	if unmade(v) && len(believed(v)) == 0 {
		lines = append(lines, "That "+fairly(v)+", which this file does not show. An auditor can state it: see --auditor.")
	}
	if s := v.Shuffled; s != nil && s.Kind == "cards" && (s.Deck == "" || s.Parent != 0) {
		lines = append(lines, "That such cards are those of the game: these are "+term.Visible(shuffled(v))+".")
	}
	lines = append(lines, untold(v)...)
	if v.Kind == verify.KindTranscript {
		if isFor(v, verify.ForEverybody) {
			lines = append(lines, "That the clocks of your witnesses were right, and that too few of drand's operators work with the house to know a round before it comes out.")
		}
		if v.Level == verify.LevelMixed {
			lines = append(lines, "That the house did not end other shuffles which it did not like, once it knew their order. They stay in the ledger as void or expired, and an audit counts them by table.")
		} else {
			lines = append(lines, "That the house did not try several shuffles and commit to the one it liked.")
		}
		if v.Blind != nil {
			lines = append(lines, "That "+v.Blind.CoDealer+" and the house are different parties: who has both knows every "+noun(v)+".",
				"What the house does with "+noun(v)+"s once they are dealt: it sees them.")
		} else {
			lines = append(lines, "That nobody at the house looked at "+noun(v)+"s before they were dealt.")
		}
	}
	if isSandbox(v) {
		lines = append(lines, "Anything about a real game: this ledger is a sandbox.")
	}
	return lines
}

// unmade reports whether the order of a closed shuffle was not recomputed.
func unmade(v *verify.Verdict) bool {
	return v.State == "closed" && v.Places > 0 && !checked(v, "order")
}

// believed names the trusted auditors whose statements the file holds.
func believed(v *verify.Verdict) (names []string) {
	for _, a := range v.Statements {
		if a.Trusted {
			names = append(names, a.Name)
		}
	}
	return names
}

func states(n int) string {
	if n == 1 {
		return "states"
	}
	return "state"
}

// fairly is what a recomputed order shows about cards, or about drawn values.
func fairly(v *verify.Verdict) string {
	if noun(v) == "value" {
		return "every value was drawn by that rule"
	}
	return "the deck held each card once"
}

// noun is what the shuffle gives: cards, or values of a draw list.
func noun(v *verify.Verdict) string {
	if len(v.Cards) > 0 && v.Cards[0].Name == "" {
		return "value"
	}
	return "card"
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

// shuffled says what was shuffled. A deck that is not published is told by how it differs from the one that it is most
// like.
func shuffled(v *verify.Verdict) string {
	s := v.Shuffled
	switch {
	case s.Kind == "draws":
		return fmt.Sprintf("no cards: %d values of a draw list", v.Places)
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
