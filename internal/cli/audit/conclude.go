package audit

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"shuffled/internal/term"
	"shuffled/internal/verify"
)

//go:embed words.txt
var wordsText string

// A sentence is a line of words.txt.
type sentence struct{ Kind, Code, Text string }

var sentences = readWords(wordsText)

func readWords(text string) (all []sentence) {
	for line := range strings.Lines(text) {
		if parts := strings.SplitN(strings.TrimSpace(line), " ", 3); len(parts) == 3 && parts[0] != "#" {
			all = append(all, sentence{parts[0], parts[1], parts[2]})
		}
	}
	return all
}

// wordsOf returns the words of a code, and the code itself if it has none: a later version's.
func wordsOf(kind, code string) string {
	for _, s := range sentences {
		if s.Kind == kind && s.Code == code {
			return s.Text
		}
	}
	return code
}

// A Conclusion is what a proved file proves (Kind "says"), what a file that holds leaves open ("not"), or an end that
// no reader may take for that of a hand that was played ("ended"): a code of words.txt with the values of its sentence.
// The page computes the same list (client/typescript/src/verify/conclude.ts).
type Conclusion struct {
	Kind   string         `json:"kind"`
	Code   string         `json:"code"`
	Values map[string]any `json:"values,omitempty"`
}

// Conclude returns the conclusions from a verdict on a file that holds. Without a trusted key it proves nothing.
func Conclude(v *verify.Verdict) (all []Conclusion) {
	if v.Level == "" {
		return nil
	}
	holds, values := conclusionsOf(v), valuesOf(v)
	for _, s := range sentences {
		if !holds[s.Code] || s.Kind == "outcome" || s.Kind == "says" && v.Verdict != verify.Proved {
			continue
		}
		c := Conclusion{Kind: s.Kind, Code: s.Code}
		for _, in := range braced.FindAllStringSubmatch(s.Text, -1) {
			if c.Values == nil {
				c.Values = make(map[string]any)
			}
			c.Values[in[1]] = values[in[1]]
		}
		all = append(all, c)
	}
	return all
}

// conclusionsOf says of each conclusion whether a proved file allows it.
func conclusionsOf(v *verify.Verdict) map[string]bool {
	file, mixed := v.Kind == verify.KindTranscript, v.Level == verify.LevelMixed
	witnessed, everybody := v.Level == verify.LevelWitnessed, isFor(v, verify.ForEverybody)
	terms, what := cmp.Or(v.Terms, &verify.Terms{Count: 1}), cmp.Or(v.Shuffled, &verify.Shuffled{})
	stated, closed, tape := len(believed(v)) > 0, v.State == "closed", checked(v, "tape")
	unmade := file && !checked(v, "order")
	holds := map[string]bool{
		"entry_stands": !file, "entry_true": !file, "entry_seen": !file && witnessed,
		"order_fixed":  file,
		"places_fixed": file && len(v.Cards) > 0,
		"wheel":        len(terms.Labels) > 0, "pay_table": terms.Text != "",
		"rule_repeated": file && tape && checked(v, "order"),
		"deck_stated":   unmade && stated, "deck_unshown": unmade && !stated,
		"blind": v.Blind != nil, "one_party": v.Blind != nil, "house_sees": v.Blind != nil,
		"blind_deck":       v.Blind != nil && v.Blind.OrderChecked,
		"seen_before_deal": file && witnessed && v.Next > 0,
		"seen_undealt":     file && witnessed && v.Next == 0,
		"mixed_seen":       mixed, "mixed_all": everybody, "mixed_you": isFor(v, verify.ForSlot),
		"other_version":        v.Level == verify.LevelRecorded,
		"second_history":       witnessed || mixed,
		"key_in_force":         v.KeyInForce == verify.KeyNotShown,
		"opened_more":          v.DealtOn == verify.DealtOnNotShown,
		"order_sealed":         file && closed && !tape && !stated,
		"order_secret":         file && !closed && !tape,
		"blind_deck_unchecked": v.Blind != nil && !v.Blind.OrderChecked,
		"cards_of_game":        what.Kind == "cards" && (what.Deck == "" || what.Parent != 0),
		"terms_missing":        terms.Count == 0 && len(terms.Labels) == 0 && terms.Text == "",
		"tickets_unseen":       v.Terms != nil && terms.Count > 0,
		"winner_chosen":        terms.HouseCouldChoose,
		"clocks":               everybody, "others_need": mixed && !everybody, "ended_others": mixed,
		"house_looked": file && v.Blind == nil, "tried_several": file && !mixed,
		"sandbox": isSandbox(v),
	}
	holds[v.NotBlind], holds[endedBadly(v)] = true, true // "" is no code
	return holds
}

// valuesOf returns the values that a sentence can name.
func valuesOf(v *verify.Verdict) map[string]any {
	values := map[string]any{"names": believed(v), "overlap": v.Overlap, "places": v.NotDealtOn}
	if v.Blind != nil {
		values["co_dealer"] = v.Blind.CoDealer
	}
	for _, m := range v.Mixed {
		values["seen"] = m.Witnessed
		if m.For == verify.ForEverybody {
			values["round"], values["out"] = m.Round, m.Time
		}
	}
	return values
}

var braced = regexp.MustCompile(`\{(\w+)\}`)

// String is the sentence with its values.
func (c Conclusion) String() string {
	return braced.ReplaceAllStringFunc(wordsOf(c.Kind, c.Code), func(name string) string {
		switch value := c.Values[name[1:len(name)-1]].(type) {
		case []string:
			return term.Visible(strings.Join(value, " and "))
		default:
			return term.Visible(fmt.Sprint(value))
		}
	})
}

// told are the conclusions of a kind in words.
func told(all []Conclusion, kind string) (lines []string) {
	for _, c := range all {
		if c.Kind == kind {
			lines = append(lines, c.String())
		}
	}
	return lines
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

// isSandbox reports whether the file says that its ledger is a sandbox. Most receipts do not say it.
func isSandbox(v *verify.Verdict) bool {
	says := v.Kind == verify.KindTranscript || v.Entry != nil && (v.Entry.Type == "commit" || v.Entry.Type == "genesis")
	return says && !v.Production
}

func checked(v *verify.Verdict, name string) bool {
	return slices.ContainsFunc(v.Steps, func(s verify.Step) bool { return s.Name == name && s.Result == verify.StepOK })
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
