package battery

import (
	"fmt"
	"slices"
)

// drawTally tests values that are drawn from 1..K, each independent of the others,
// Values of them in one outcome: dice, a wheel, numbers that may repeat.
//
// Most tests read the values as one stream, outcome after outcome; some compare the positions of one
// outcome, or one position of neighbouring outcomes. If a test needs few different values, it uses ranges
// of equal length for a large K, and leaves out the last values of K, which fill no range. The values that
// remain are still independent and uniform.
type drawTally struct {
	shape  Shape
	small  alphabet
	coarse alphabet

	values  []drawTest // read the values, from 0
	letters []drawTest // read them as letters of small
	games   []drawTest // read outcome by outcome
	place   *positions // one of games
	skipped []string

	buf, letter []uint32 // values that are not passed on yet; room for their letters
}

// A drawTest counts for one test, or for a family of them.
type drawTest interface {
	feed(xs []uint32) // in order; the slice is the caller's
	merge(other drawTest)
	results(f *findings)
}

// Sizes of the alphabets that replace a large K.
const (
	smallLow, smallHigh   = 32, 64
	coarseLow, coarseHigh = 5, 8
)

// fedAtOnce is the number of values that are passed to the tests together.
const fedAtOnce = 1 << 12

func newDrawTally(s Shape) *drawTally {
	d := &drawTally{shape: s, small: alphabetOf(s.K, smallLow, smallHigh),
		coarse: alphabetOf(s.K, coarseLow, coarseHigh)}
	d.values = slices.Concat(d.frequencyTests(), d.orderTests())
	d.letters = d.letterTests()
	d.games = d.gameTests()
	return d
}

// add takes the values of one outcome, 1..K each.
func (d *drawTally) add(outcome []uint32) {
	if len(outcome) != d.shape.Values {
		panic(fmt.Sprintf("internal error: an outcome of %d values, not %d", len(outcome), d.shape.Values))
	}
	start := len(d.buf)
	for _, v := range outcome {
		if v < 1 || v > d.shape.K {
			panic(fmt.Sprintf("internal error: a draw from 1..%d gave %d", d.shape.K, v))
		}
		d.buf = append(d.buf, v-1)
	}
	for _, t := range d.games {
		t.feed(d.buf[start:])
	}
	if len(d.buf) >= fedAtOnce {
		d.flush()
	}
}

// flush passes the values on.
func (d *drawTally) flush() {
	for _, t := range d.values {
		t.feed(d.buf)
	}
	d.letter = d.letter[:0]
	for _, x := range d.buf {
		if l, ok := d.small.letter(x); ok {
			d.letter = append(d.letter, l)
		}
	}
	for _, t := range d.letters {
		t.feed(d.letter)
	}
	d.buf = d.buf[:0]
}

// merge adds the counts of another tally; each keeps what it has not finished.
func (d *drawTally) merge(other tally) {
	o := other.(*drawTally)
	d.flush()
	o.flush()
	from := o.tests()
	for i, t := range d.tests() {
		t.merge(from[i])
	}
}

func (d *drawTally) tests() []drawTest { return slices.Concat(d.values, d.letters, d.games) }

// report fills in what the tests found, and which do not apply.
func (d *drawTally) report(r *Report) {
	d.flush()
	f := &findings{skipped: slices.Clone(d.skipped), lambdas: map[float64]float64{}}
	for _, t := range d.tests() {
		t.results(f)
	}
	r.Outcomes = d.place.games
	r.Results = f.concluded()
	r.Untested = f.skipped
	r.Positions, r.Means = d.place.counts, d.place.means()
}

// skip notes a test that says nothing about draws of this shape.
func (d *drawTally) skip(test, why string, args ...any) {
	d.skipped = append(d.skipped, test+": "+fmt.Sprintf(why, args...))
}

// An alphabet replaces the values 0..k−1: letter i is a range of step values.
type alphabet struct{ size, step uint32 }

// alphabetOf has k letters if k is at most hi. Otherwise it has the size from lo to hi that leaves the
// fewest values out, and of these the largest.
func alphabetOf(k, lo, hi uint32) alphabet {
	if k <= hi {
		return alphabet{k, 1}
	}
	best := alphabet{hi, k / hi}
	for size := hi; size >= lo; size-- {
		if a := (alphabet{size, k / size}); a.size*a.step > best.size*best.step {
			best = a
		}
	}
	return best
}

// letter returns the letter of a value, and false for one that is left out.
func (a alphabet) letter(x uint32) (uint32, bool) {
	if a.step == 1 {
		return x, x < a.size
	}
	l := x / a.step
	return l, l < a.size
}

// name writes the values of a letter, counted from 1.
func (a alphabet) name(l uint32) string {
	if a.step == 1 {
		return fmt.Sprintf("value %d", l+1)
	}
	return fmt.Sprintf("values %d to %d", l*a.step+1, (l+1)*a.step)
}

// Shares returns the share of the outcomes that each column of Report.Positions has at a position. A column
// is a card type, or a value of draws; if there are many values, neighbours share a column.
func (s Shape) Shares() []float64 {
	if s.K == 0 {
		return uniform(s.types())
	}
	_, probs := (&drawTally{shape: s}).bins(smallHigh)
	return probs
}
