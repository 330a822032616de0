package main

import (
	"fmt"
	"math"
	"strings"

	"shuffled/internal/term"
	"shuffled/lab/controls"
)

// unseenText lists what no sample shows.
func unseenText(s sheet, list []controls.Unseen) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", s.P.Bold("Faults that statistics cannot find, or only with a very large sample"))
	rows := [][]string{{"sample", "at a million a second", "fault"}}
	for _, u := range list {
		rows = append(rows, []string{fmt.Sprintf("%.1e %s", u.Sample, u.Of), span(u.Years), u.Fault})
	}
	b.WriteString(term.Table(rows) + "\n")
	b.WriteString(term.Hanging("", "The sample shows the fault with a chance of 99 %: in draws by their counts at a level of 1 %, in decks by a deck that comes twice. To see that the true shuffle has no such fault takes no sample: "+
		list[0].Proof+" tries every lane of each draw up to 2^14, and counts the bits of every tape.", s.W))
	return b.String()
}

// span writes years to two digits, or hours.
func span(years float64) string {
	if years < 1 {
		return fmt.Sprintf("%.1f hours", years*365.25*24)
	}
	if years < 10 {
		return fmt.Sprintf("%.1f years", years)
	}
	unit := math.Pow(10, math.Floor(math.Log10(years))-1)
	return term.Counted(uint64(math.Round(years/unit)*unit)) + " years"
}
