package audit

import (
	"strings"

	"shuffled/internal/term"
	"shuffled/internal/verify"
)

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
