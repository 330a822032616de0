package lesson

import (
	"fmt"
	"math"
	"strings"

	"shuffled/lab/controls"
)

// picture gathers the elements of an SVG.
type picture struct{ strings.Builder }

func newPicture(width, height int, title string) *picture {
	p := new(picture)
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="14">`+
		"\n<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", width, height, title)
	return p
}

func (p *picture) end() []byte { return []byte(p.String() + "</svg>\n") }

func (p *picture) text(x, y float64, anchor, s string) {
	fmt.Fprintf(p, `<text x="%.4g" y="%.4g" text-anchor="%s">%s</text>`+"\n", x, y, anchor, s)
}

func (p *picture) rect(x, y, w, h float64, fill string) {
	fmt.Fprintf(p, `<rect x="%.4g" y="%.4g" width="%.4g" height="%.4g" fill="%s"/>`+"\n", x, y, w, h, fill)
}

func (p *picture) line(x1, y1, x2, y2 float64, style string) {
	fmt.Fprintf(p, `<path d="M%.4g %.4gL%.4g %.4g" %s/>`+"\n", x1, y1, x2, y2, style)
}

const (
	done  = "#cfe8cf"
	open  = "#e8e8e8"
	blue  = "#3465a4"
	red   = "#cc3311"
	thin  = `stroke="#888" stroke-dasharray="4 3"`
	solid = `stroke="#333"`
)

// stepsPicture shows the dry run: a row for each draw, and the swap as an arc.
func (f *figures) stepsPicture() []byte {
	p := newPicture(560, 60+64*len(f.Steps), "The swaps of five cards")
	x := func(place int) float64 { return 150 + 70*float64(place) }
	for row, s := range f.Steps {
		y := 40 + 64*float64(row)
		p.text(20, y+24, "start", fmt.Sprintf("draw 1..%d: %d", s.Range, s.Draw))
		for i, c := range s.Cards {
			fill := open
			if i < s.I {
				fill = done
			}
			p.rect(x(i), y, 56, 36, fill)
			p.text(x(i)+28, y+24, "middle", fmt.Sprint(c))
		}
		if s.I != s.J {
			from, to := x(s.I-1)+28, x(s.J-1)+28
			fmt.Fprintf(p, `<path d="M%.4g %.4gQ%.4g %.4g %.4g %.4g" fill="none" stroke="%s" stroke-width="2"/>`+"\n", from,
				y-2, (from+to)/2, y-26, to, y-2, blue)
		}
	}
	return p.end()
}

// treePicture shows that each list of draws of three cards ends in another order.
func treePicture() []byte {
	p := newPicture(560, 220, "Each order of three cards comes from one list of draws")
	for i, steps := range lists() {
		leaf, middle := 55+90*float64(i), 100+180*float64(i/2)
		p.line(280, 30, middle, 90, solid)
		p.text(middle, 110, "middle", fmt.Sprintf("draw 1..3: %d", steps[0].Draw))
		p.line(middle, 118, leaf, 160, solid)
		p.text(leaf, 180, "middle", fmt.Sprintf("1..2: %d", steps[1].Draw))
		p.text(leaf, 204, "middle", digits(steps[2].Cards))
	}
	return p.end()
}

// digits writes cards without spaces.
func digits(cards any) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(cards), " ", ""), "[]")
}

// waysPicture shows how many ways lead to each order of three cards.
func waysPicture(title string, w controls.Ways) []byte {
	var bars []bar
	for i, ways := range w.Counts {
		bars = append(bars, bar{digits(w.Orders[i]), fmt.Sprint(ways), 6 * float64(ways) / float64(w.All)})
	}
	return barsPicture(title, fmt.Sprintf("%d/6 would be fair", w.All), bars, 45)
}

// rifflesPicture shows how far decks of 52 are from shuffled ones after one to ten riffles.
func (f *figures) rifflesPicture() []byte {
	var bars []bar
	for _, r := range f.Riffles {
		bars = append(bars, bar{fmt.Sprint(r.Rounds), fmt.Sprintf("%.3f", r.Distance), r.Distance})
	}
	return barsPicture("Distance of 52 cards from a shuffle, after one to ten riffles", "1 is farthest", bars, 150)
}

// A bar has a name below it and its value above it. Its height is 1 at the line.
type bar struct {
	name, value string
	height      float64
}

// barsPicture draws bars.
func barsPicture(title, line string, bars []bar, unit float64) []byte {
	const floor = 210.0
	right := 50 + 80*float64(len(bars))
	p := newPicture(int(right)+150, 260, title)
	for i, b := range bars {
		x, h := 50+80*float64(i), unit*b.height
		p.rect(x, floor-h, 56, h, blue)
		p.text(x+28, floor-h-6, "middle", b.value)
		p.text(x+28, floor+20, "middle", b.name)
	}
	p.line(40, floor-unit, right, floor-unit, thin)
	p.text(right+6, floor-unit+5, "start", line)
	return p.end()
}

// curvePicture shows the means of nine places at their turn and in the end.
func (f *figures) curvePicture() []byte {
	p := newPicture(640, 330, "Mean card at each of nine places after the naive swap")
	n := len(f.Curve)
	x := func(i int) float64 { return 60 + 60*float64(i) }
	y := func(mean float64) float64 { return 280 - 45*mean }
	fair := y(float64(n-1) / 2)
	p.line(50, fair, 560, fair, thin)
	p.text(565, fair+4, "start", "fair")
	draw := func(color string, mean func(place) float64) {
		var points []string
		for i, c := range f.Curve {
			points = append(points, fmt.Sprintf("%.4g,%.4g", x(i), y(mean(c))))
			fmt.Fprintf(p, `<circle cx="%.4g" cy="%.4g" r="4" fill="%s"/>`+"\n", x(i), y(mean(c)), color)
		}
		fmt.Fprintf(p, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n",
			strings.Join(points, " "), color)
	}
	draw(red, func(c place) float64 { v, _ := c.After.Float64(); return v })
	draw(blue, func(c place) float64 { v, _ := c.Before.Float64(); return v })
	for i := range f.Curve {
		p.text(x(i), 305, "middle", fmt.Sprint(i))
	}
	fmt.Fprintf(p, `<g fill="%s">`+"\n", red)
	p.text(70, 24, "start", "in the end")
	fmt.Fprintf(p, "</g>\n"+`<g fill="%s">`+"\n", blue)
	p.text(170, 24, "start", "what the place holds when its turn comes")
	p.WriteString("</g>\n")
	return p.end()
}

// heatPicture shows position × card of 52 after the naive swap, exactly: red is too often, blue is too rare.
func heatPicture() []byte {
	const n, size = 52, 9
	p := newPicture(n*size+90, n*size+50, "Chance of each card at each place after the naive swap of 52")
	shades := []string{"#2166ac", "#67a9cf", "#d1e5f0", "#f7f7f7", "#fddbc7", "#ef8a62", "#b2182b"}
	cells := make([]strings.Builder, len(shades))
	low, high := 1.0, 1.0
	for place, row := range controls.SwapAnywhereChances(n) {
		for card, chance := range row {
			low, high = min(low, chance*n), max(high, chance*n)
			shade := min(max(int(math.Round((chance*n-1)*10))+3, 0), len(shades)-1)
			fmt.Fprintf(&cells[shade], "M%d %dh%dv%dh-%dz", 60+place*size, 10+card*size, size, size, size)
		}
	}
	for i, shade := range shades {
		fmt.Fprintf(p, `<path d="%s" fill="%s"/>`+"\n", cells[i].String(), shade)
	}
	p.text(60, n*size+30, "start", fmt.Sprintf("place 0 … 51; between %+.0f %% and %+.0f %% of 1/52", 100*(low-1),
		100*(high-1)))
	p.text(57, 22, "end", "card 0")
	p.text(57, n*size+8, "end", "card 51")
	return p.end()
}

// decksPicture shows the largest deck of each state.
func (f *figures) decksPicture() []byte {
	var bars []bar
	for _, l := range f.Largest {
		bars = append(bars, bar{fmt.Sprintf("%d bits", l.Bits), fmt.Sprint(l.Cards), float64(l.Cards) / 52})
	}
	return barsPicture("Largest deck that a state of so many bits can order in every way", "52 cards", bars, 150)
}
