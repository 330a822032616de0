package main

import (
	"fmt"
	"math"
	"strings"

	"shuffled/internal/term"
	"shuffled/lab/controls"
)

// curveCards is the size of the deck whose mean curve is drawn.
const curveCards = 9

func newSwapAnywhere() *swapAnywhere {
	w := controls.SwapAnywhere(3)
	e := &swapAnywhere{Orders: w.Orders, Ways: w.Counts, All: w.All}
	for _, mean := range controls.MeanCurve(curveCards) {
		f, _ := mean.Float64()
		e.Means = append(e.Means, f)
	}
	return e
}

// text shows the effect of swapping with any position.
func (e *swapAnywhere) text(s sheet) string {
	var b strings.Builder
	orders, ways := "  order", "  ways "
	for i, order := range e.Orders {
		orders += "  " + strings.Trim(strings.ReplaceAll(fmt.Sprint(order), " ", ""), "[]")
		ways += fmt.Sprintf("  %3d", e.Ways[i])
	}
	fmt.Fprintf(&b, "\n%s\n%s\n%s\n", s.P.Bold(fmt.Sprintf("Swapping with any position: the %d ways to shuffle three cards", e.All)), orders, ways)
	fmt.Fprintf(&b, "\n%s\n", s.P.Bold(fmt.Sprintf("Mean card at each position of nine: %d everywhere if it were right",
		(curveCards-1)/2)))
	b.WriteString(e.curve())
	return b.String()
}

// barDone is one cell of a bar.
const barDone = "█"

// curve draws the means as bars to the left and right of the right one.
func (e *swapAnywhere) curve() string {
	const perCell = 0.02
	right := float64(len(e.Means)-1) / 2
	left := 0
	for _, m := range e.Means {
		left = max(left, int(math.Round((right-m)/perCell)))
	}
	var b strings.Builder
	for p, m := range e.Means {
		bar := int(math.Round((m - right) / perCell))
		low, high := strings.Repeat(barDone, max(0, -bar)), strings.Repeat(barDone, max(0, bar))
		fmt.Fprintf(&b, "  %d  %.4f  %s%s│%s\n", p, m, strings.Repeat(" ", left-term.Cells(low)), low, high)
	}
	return b.String()
}

// unseenText lists what no sample shows.
func unseenText(s sheet, list []controls.Unseen) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", s.P.Bold("Faults that statistics cannot find, or only with a very large sample"))
	rows := [][]string{{"sample", "at a million a second", "fault"}}
	for _, u := range list {
		rows = append(rows, []string{fmt.Sprintf("%.1e %s", u.Sample, u.Of), span(u.Years), u.Fault})
	}
	b.WriteString(term.Table(rows) + "\n")
	b.WriteString(term.Hanging("", "The sample shows the fault with a chance of 99 %: in draws by their counts at a level of 1 %, in decks by a deck that comes twice. The proof that the true shuffle has no such fault needs no sample: "+
		list[0].Proof+" tries every lane and counts the bits of every tape.", s.W))
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
