package labreport

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/stat/distuv"
)

// Measures of the plots, in the units of their view boxes.
const (
	plotWidth  = 1040.0 // without the labels at the left
	plotLeft   = 70.0
	plotTop    = 24.0
	plotHeight = 300.0
)

// A frame is around a plot.
type frame struct{ Left, Right, TopEdge, Across, Down float64 }

func newFrame(height float64) frame {
	return frame{plotLeft, plotLeft + plotWidth, plotTop, plotWidth, height}
}

// A label is text at a point.
type label struct {
	X, Y float64
	Text string
}

// axis distributes n columns over the width of a plot.
type axis struct{ n int }

func (a axis) step() float64        { return plotWidth / float64(a.n) }
func (a axis) middle(i int) float64 { return plotLeft + (float64(i)+0.5)*a.step() }

// labels names the columns for which there is room: the multiples of 1, 2, 5, 10 …
func (a axis) labels(y float64, name func(int) string) (out []label) {
	longest := 0
	for i := range a.n {
		longest = max(longest, utf8.RuneCountInString(name(i)))
	}
	room := 6*float64(longest) + 1
	every := 1
	for i := 0; float64(every)*a.step() < room; i++ {
		every = []int{2, 5, 10}[i%3] * int(math.Pow10(i/3))
	}
	for i := 0; i < a.n; i += every {
		out = append(out, label{a.middle(i), y, name(i)})
	}
	return out
}

func number(i int) string { return fmt.Sprint(i) }

// short cuts the name of a card to the length that fits next to a plot.
func short(name string) string {
	if runes := []rune(name); len(runes) > 12 {
		return string(runes[:11]) + "…"
	}
	return name
}

// A heat is the map of position × card: how far each cell is from what is expected, in standard deviations.
type heat struct {
	Across, Down  string // what columns and rows are
	Width, Height float64
	Columns, Rows []label
	Shades        []shade
	Far           []cell // the cells that are farthest off
}

// A shade is the cells between two deviations.
type shade struct {
	Class    string
	Range    string
	Path     string
	Seen     int
	Expected float64 // by chance
}

type cell struct {
	Position string
	Card     string
	Count    uint64
	Expected float64
	Off      float64
}

// shadeLimits are the deviations at which a shade ends, lowest first.
var shadeLimits = []float64{-4, -3, -2, -1, 1, 2, 3, 4}

// farCells is the number of cells that are listed.
const farCells = 10

// newHeat draws the counts by position. The longer side of the table is horizontal.
func newHeat(s *Sample) *heat {
	shares := s.First.Shape.Shares()
	positions := s.First.Positions
	if len(positions) == 0 || s.First.Outcomes == 0 {
		return nil
	}
	h := &heat{Across: "position", Down: s.ColumnName()}
	flip := len(positions) < len(shares) // a few positions are below each other
	columns, rows := len(positions), len(shares)
	nameColumn, nameRow := number, func(j int) string { return short(s.column(j)) }
	if flip {
		h.Across, h.Down = h.Down, h.Across
		columns, rows = rows, columns
		nameColumn, nameRow = nameRow, nameColumn
	}
	a, rowHeight := axis{columns}, 12.0
	if rows < 12 {
		rowHeight = 28
	}
	h.Width, h.Height = plotLeft+plotWidth+6, plotTop+float64(rows)*rowHeight+6
	h.Columns = a.labels(plotTop-8, nameColumn)
	for i := range rows {
		h.Rows = append(h.Rows, label{plotLeft - 6, plotTop + (float64(i)+0.5)*rowHeight, nameRow(i)})
	}
	paths := make([]strings.Builder, len(shadeLimits)+1)
	h.Shades = newShades(columns * rows)
	var all []cell
	for i, counts := range positions {
		for j, n := range counts {
			c := cell{Position: fmt.Sprint(i), Card: s.column(j), Count: n,
				Expected: float64(s.First.Outcomes) * shares[j]}
			c.Off = (float64(n) - c.Expected) / math.Sqrt(c.Expected*(1-shares[j]))
			all = append(all, c)
			at, _ := slices.BinarySearch(shadeLimits, c.Off)
			h.Shades[at].Seen++
			x, y := i, j
			if flip {
				x, y = j, i
			}
			fmt.Fprintf(&paths[at], "M%.4g %.5gh%.4gv%.4gh-%.4gz", plotLeft+float64(x)*a.step(),
				plotTop+float64(y)*rowHeight, a.step(), rowHeight, a.step())
		}
	}
	for i := range paths {
		h.Shades[i].Path = paths[i].String()
	}
	slices.SortStableFunc(all, func(a, b cell) int { return cmp.Compare(math.Abs(b.Off), math.Abs(a.Off)) })
	h.Far = all[:min(farCells, len(all))]
	return h
}

// newShades names the shades, and says how many cells each has by chance.
func newShades(cells int) []shade {
	out := make([]shade, len(shadeLimits)+1)
	for i := range out {
		low, high := math.Inf(-1), math.Inf(1)
		if i > 0 {
			low = shadeLimits[i-1]
		}
		if i < len(shadeLimits) {
			high = shadeLimits[i]
		}
		name := fmt.Sprintf("%+g to %+g", low, high)
		switch {
		case i == 0:
			name = fmt.Sprintf("below %+g", high)
		case i == len(out)-1:
			name = fmt.Sprintf("above %+g", low)
		}
		share := distuv.UnitNormal.CDF(high) - distuv.UnitNormal.CDF(low)
		out[i] = shade{Class: fmt.Sprintf("s%d", i), Range: strings.ReplaceAll(name, "-", "−"),
			Expected: float64(cells) * share}
	}
	return out
}

// ColumnName names what a column of Positions counts.
func (s *Sample) ColumnName() string {
	if s.First.Shape.K > 0 {
		return "value"
	}
	return "card"
}

// column names a column of Positions.
func (s *Sample) column(j int) string {
	shape := s.First.Shape
	if j < len(s.Cards) {
		return s.Cards[j]
	}
	if shape.K == 0 {
		return fmt.Sprint(j)
	}
	n := uint64(len(shape.Shares()))
	if n == uint64(shape.K) {
		return fmt.Sprint(j + 1)
	}
	return "≥" + Counted((uint64(j)*uint64(shape.K)+n-1)/n+1)
}

// A curve is the mean value at each position with the band that all means are in together with 99 %.
type curve struct {
	Width, Height  float64
	Expected, Band float64 // the band is as far below as above
	Middle         float64 // the height of what is expected
	frame
	Line                 string
	Columns, Rows        []label
	Outside, Positions   int
	Farthest             string
	BandWidth, BandStart float64
}

// bandLevel is the chance that any mean is outside the band.
const bandLevel = 0.01

func newCurve(s *Sample) *curve {
	means := s.First.Means
	if len(means) < 2 || s.First.Outcomes == 0 {
		return nil
	}
	low, high := 0.0, float64(len(s.First.Shape.Shares())-1)
	if k := s.First.Shape.K; k > 0 {
		low, high = 1, float64(k)
	}
	// Uniform on the whole numbers from low to high.
	n := high - low + 1
	deviation := math.Sqrt((n*n - 1) / 12 / float64(s.First.Outcomes))
	c := &curve{
		Width: plotLeft + plotWidth + 6, Height: plotTop + plotHeight + 10, Positions: len(means),
		Expected: (low + high) / 2, Band: deviation * distuv.UnitNormal.Quantile(1-bandLevel/2/float64(len(means))),
		frame: newFrame(plotHeight),
	}
	reach, far := 1.4*c.Band, 0
	for i, m := range means {
		if math.Abs(m-c.Expected) > math.Abs(means[far]-c.Expected) {
			far = i
		}
		if math.Abs(m-c.Expected) > c.Band {
			c.Outside++
		}
		reach = max(reach, 1.1*math.Abs(m-c.Expected))
	}
	c.Farthest = fmt.Sprintf("position %d: %.*f", far, decimals(c.Band), means[far])
	y := func(v float64) float64 { return plotTop + plotHeight/2 - (v-c.Expected)/reach*plotHeight/2 }
	c.Middle, c.BandStart, c.BandWidth = y(c.Expected), y(c.Expected+c.Band), y(c.Expected-c.Band)-y(c.Expected+c.Band)
	a := axis{len(means)}
	var line strings.Builder
	for i, m := range means {
		fmt.Fprintf(&line, "%.5g,%.5g ", a.middle(i), y(m))
	}
	c.Line = line.String()
	c.Columns = a.labels(plotTop-8, number)
	for _, v := range []float64{c.Expected + c.Band, c.Expected, c.Expected - c.Band} {
		c.Rows = append(c.Rows, label{plotLeft - 6, y(v), fmt.Sprintf("%.*f", decimals(c.Band), v)})
	}
	return c
}

// decimals is the number of decimals that show a difference of size d.
func decimals(d float64) int { return max(0, 2-int(math.Floor(math.Log10(d)))) }

// A plot shows all p-values in order, on logarithmic scales: uniform ones are on the line, rejected ones
// below Holm's line.
type plot struct {
	Width, Height float64
	frame
	Tests          int
	Good, Bad      string // points of accepted and rejected p-values
	Uniform, Holm  string // lines
	Columns, Rows  []label
	HolmX, HolmY   float64 // the label of Holm's line
	Center, Legend float64 // where the ranks are
}

func newPlot(s *Sample) *plot {
	worst := s.Worst()
	m := len(worst)
	if m == 0 {
		return nil
	}
	const height = 360.0
	p := &plot{
		Tests: m, Width: plotLeft + plotWidth + 6, Height: plotTop + height + 44, frame: newFrame(height),
		Center: plotLeft + plotWidth/2, Legend: plotTop + height + 36,
	}
	least := s.First.Level / float64(m) / 10
	least = max(min(least, worst[0].P), 1e-20) // smaller values are on the lower edge
	decades := math.Ceil(-math.Log10(least))
	most := math.Max(math.Log10(float64(m)), 0.3)
	x := func(rank float64) float64 { return plotLeft + math.Log10(rank)/most*plotWidth }
	y := func(p float64) float64 { return plotTop + min(-math.Log10(max(p, 1e-300)), decades)/decades*height }
	var good, bad, uniform, holm strings.Builder
	for i, r := range worst {
		to := &good
		if r.Rejected {
			to = &bad
		}
		fmt.Fprintf(to, "M%.5g %.5gh0", x(float64(i+1)), y(r.P))
	}
	for i := 0; ; {
		rank := float64(i + 1)
		fmt.Fprintf(&uniform, "%.5g,%.5g ", x(rank), y(rank/float64(m+1)))
		fmt.Fprintf(&holm, "%.5g,%.5g ", x(rank), y(s.First.Level/float64(m-i)))
		if i == m-1 {
			break
		}
		i = min(max(i+1, i*21/20), m-1)
	}
	p.Good, p.Bad, p.Uniform, p.Holm = good.String(), bad.String(), uniform.String(), holm.String()
	p.HolmX, p.HolmY = plotLeft+12, y(s.First.Level/float64(m))+16
	for d := 0.0; d <= decades; d++ {
		p.Rows = append(p.Rows, label{plotLeft - 6, y(math.Pow(10, -d)), decade(-int(d))})
	}
	for rank := 1; rank <= m; rank *= 10 {
		p.Columns = append(p.Columns, label{x(float64(rank)), plotTop + height + 18, Counted(uint64(rank))})
	}
	return p
}

// decade writes a power of ten.
func decade(exponent int) string {
	switch exponent {
	case 0:
		return "1"
	case -1:
		return "0.1"
	case -2:
		return "0.01"
	}
	return fmt.Sprintf("1e−%d", -exponent)
}
