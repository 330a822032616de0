package monitor

import (
	"fmt"
	"math"
)

// A test whose distribution is an approximation is left out if the approximation does
// not hold in the tail. That depends on totals alone.
const (
	leastCell  = 20   // expected in each cell of a chi-square
	leastFixed = 5000 // expected fixed points: their skewness is below 0.015
	leastLower = 30   // degrees of freedom from which too even a table counts too
)

// judge returns the p-value of a window: the smallest p-value of its tests times their number (Bonferroni), so that the
// levels hold for the window. test is that test. A window without a test has p-value 1.
func (s *shape) judge(t *tally) (p float64, test string) {
	var j judgement
	if s.key.k != 0 {
		s.judgeValues(&j, t)
	} else {
		s.judgeOrders(&j, t)
	}
	if j.tests == 0 {
		return 1, "none"
	}
	return min(1, j.least*float64(j.tests)), j.worst
}

// judgement collects the tests of one window.
type judgement struct {
	tests int
	least float64 // p-value
	worst string  // its test
}

func (j *judgement) add(test string, p float64) {
	if j.tests++; j.tests == 1 || p < j.least {
		j.least, j.worst = p, test
	}
}

// judgeOrders tests orders of take of the cards, or their first positions.
func (s *shape) judgeOrders(j *judgement, t *tally) {
	n, m, types, outcomes := s.key.cards, s.key.take, s.types, float64(t.n)
	if outcomes*float64(n/types)/float64(n) >= leastCell {
		q, df, rows := positions(t.cells, outcomes, n, m, types)
		j.add("position x card", evenness(q, df))
		worst := 1.0
		for _, row := range rows {
			worst = min(worst, evenness(row, types-1))
		}
		j.add("one position", min(1, worst*float64(m)))
	}
	if expected := outcomes * float64(m) / float64(n); expected >= leastFixed {
		j.add("fixed points", twoSided((float64(t.fixed)-expected)/math.Sqrt(outcomes*fixedVariance(n, m))))
	}
	if n%types == 0 && types >= 4 && m >= 2 {
		d := float64(n / types)
		if outcomes*float64(m-1)*d*d/falling(n, 2) >= leastCell {
			even, odd, dfEven, dfOdd := successors(&t.follow, outcomes, n, m, types)
			j.add("successor pairs", evenness(even+odd, dfEven+dfOdd))
		}
	}
}

// judgeValues tests draws of 1..k.
func (s *shape) judgeValues(j *judgement, t *tally) {
	k, classes := uint64(s.key.k), uint64(s.types)
	if float64(t.n)/float64(classes) >= leastCell {
		first := func(class uint64) uint64 { return (class*k + classes - 1) / classes } // smallest v-1 in it
		q := 0.0
		for i := range classes {
			expected := float64(t.n) * float64(first(i+1)-first(i)) / float64(k)
			q += square(float64(t.cells[i/columns][i%columns])-expected) / expected
		}
		j.add("frequency", evenness(q, s.types-1))
	}
	if expected := float64(t.pairs) / float64(k*k); k <= maxPairs && expected >= leastCell {
		q := 0.0
		for a := range k {
			for b := range k {
				q += square(float64(t.follow[a][b])-expected) / expected
			}
		}
		j.add("pairs", evenness(q, int(k*k)-1))
	}
}

// positions returns the chi-square of position × type over the orders of m of n cards, with its degrees of freedom, and
// that of each position alone, which has types − 1.
//
// Within one order the cells depend on each other: for multiplicities D of the types, p = D/n, the covariance of
// position i, type a with j, b is (δ(i,j) − 1/n)·(δ(a,b)·p(a) − p(a)·p(b))·n/(n−1). Its inverse on the cells gives the
// factor (n−1)/n, and, where only m < n positions are looked at, a term for the sums of the columns, which vary less
// than independent ones would. With m = n and D = 1 this is the (n−1)/n of position × card.
func positions(cells []row, outcomes float64, n, m, types int) (q float64, df int, rows []float64) {
	rows = make([]float64, m)
	for a := range types {
		cards := n / types
		if a < n%types {
			cards++
		}
		expected := outcomes * float64(cards) / float64(n)
		column := 0.0
		for i := range m {
			off := float64(cells[i][a]) - expected
			rows[i] += off * off / expected
			column += off
		}
		if m < n {
			q += column * column / expected / float64(n-m)
		}
	}
	for _, row := range rows {
		q += row
	}
	df = m * (types - 1)
	if m == n {
		df = (m - 1) * (types - 1)
	}
	return q * float64(n-1) / float64(n), df, rows
}

// fixedVariance returns the variance of the number of fixed points among the first m positions of one order of n cards.
func fixedVariance(n, m int) float64 {
	mean := float64(m) / float64(n)
	return falling(m, 2)/falling(n, 2) + mean - mean*mean
}

// successors returns two chi-squares of the table type × type of the next
// position, over the orders of m of n cards with n/types of each type.
//
// A renaming of the types changes no chance, so the covariance of the cells is a multiple of the identity on each of
// two parts of the table: what is symmetric and what is antisymmetric, off the diagonal and without the effects of rows
// and columns, which position × type sees. The multiples are the variance of Σ w(a,b)·cell(a,b) for a w of that part,
// from one pair, two pairs that share a card and two that do not.
func successors(follow *[columns]row, outcomes float64, n, m, types int) (even, odd float64, dfEven, dfOdd int) {
	size := float64(types)
	at := func(a, b int) (s, d float64) {
		x, y := float64(follow[a][b]), float64(follow[b][a])
		return (x + y) / 2, (x - y) / 2
	}
	evenRow, oddRow, all := make([]float64, types), make([]float64, types), 0.0
	for a := range types {
		for b := range types {
			if a == b {
				continue
			}
			s, d := at(a, b)
			evenRow[a] += s
			oddRow[a] += d
			all += s
		}
	}
	all /= 2*size - 2 // sum of all effects
	for a := range types {
		evenRow[a] = (evenRow[a] - all) / (size - 2)
		oddRow[a] /= size
	}
	for a := range types {
		for b := range types {
			if a == b {
				continue
			}
			s, d := at(a, b)
			even += square(s - evenRow[a] - evenRow[b])
			odd += square(d - oddRow[a] + oddRow[b])
		}
	}
	each := square(float64(n / types))
	one := float64(m-1) / falling(n, 2)
	shared := 2 * float64(m-2) / falling(n, 3)
	apart := 2 * falling(m-2, 2) / falling(n, 4)
	return even / (outcomes * each * (one - shared + apart)), odd / (outcomes * each * (one + shared)),
		types * (types - 3) / 2, (types - 1) * (types - 2) / 2
}

// falling returns n·(n−1)·…, k factors.
func falling(n, k int) float64 {
	x := 1.0
	for i := range k {
		x *= float64(n - i)
	}
	return x
}

func square(x float64) float64 { return x * x }

// evenness returns the p-value of a chi-square statistic. A table that is too even is as unlikely as one that is too
// uneven; with few cells it may be so by the grain of whole numbers, and is not tested for.
func evenness(q float64, df int) float64 {
	atLeast, atMost := ChiSquare(q, df)
	if df < leastLower {
		return atLeast
	}
	return min(1, 2*min(atLeast, atMost))
}

// Span is how a window is bounded.
type Span uint8

// The spans.
const (
	ByCount Span = 0 // by a number of outcomes and a least time
	ByDay   Span = 1 // by UTC day
)

// String returns the name of the span in metrics and reasons.
func (s Span) String() string { return [...]string{"count", "day"}[s] }

// Finding is a window whose p-value is too small. It names no card and no position, and
// its figures are too coarse to show a single outcome.
type Finding struct {
	Halt     bool    // at or below HaltLevel, if there are halts: no more may be dealt
	Shape    string  // of the outcomes: "52 of 52 cards", "draws of 1 to 37"
	Span     Span    // of the window
	Outcomes uint64  // in the window: orders, or drawn values
	Test     string  // the test with the smallest p-value
	AtMost   float64 // the window's p-value, rounded up to one of Classes
}

// String returns the finding in one line of printable ASCII, which an entry of the ledger can have as its reason.
func (f Finding) String() string {
	return fmt.Sprintf("%s, %s window of %d: %s, p <= %g", f.Shape, f.Span, f.Outcomes, f.Test, f.AtMost)
}

// Classes are the p-values that are reported. Others are rounded up to them: nothing finer leaves this package.
var Classes = [...]float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1}

// classOf returns the index of the class that p is rounded up to.
func classOf(p float64) int {
	for i, class := range Classes {
		if p <= class {
			return i
		}
	}
	return len(Classes) - 1
}

func atMost(p float64) float64 { return Classes[classOf(p)] }

// Totals are figures since the Monitor was made.
type Totals struct {
	Watched   []Watched // by shape
	Unwatched uint64    // outcomes of shapes that had no place
	Warnings  uint64    // windows at or below WarnLevel that are no halt
	Halts     uint64    // windows at or below HaltLevel, if there are halts

	// Windows that were judged, by span and by the class of their p-value.
	Windows [2][len(Classes)]uint64
}

// Watched is how many outcomes of a shape were counted.
type Watched struct {
	Shape    string
	Outcomes uint64
}

// ChiSquare returns the chances that a chi-square of df degrees of freedom, 1 or more, is at least q, and at most q.
//
// With whole degrees of freedom both are sums of the term exp(-x)·x^j/Γ(j+1), at x = q/2 and a = df/2. The first sums j
// = a-1, a-2, … down to 0 or 1/2, and adds erfc √x if df is odd. The second sums j = a, a+1, … These are the identities
// 26.4.4 to 26.4.6 of Abramowitz and Stegun; nothing is approximated. The smaller of the two is summed, and the other
// is one less it: as a difference the smaller one would lose its digits. The module of the lab compares both with
// another implementation.
func ChiSquare(q float64, df int) (atLeast, atMost float64) {
	x, a := q/2, float64(df)/2
	if x <= 0 {
		return 1, 0
	}
	term := func(j float64) float64 {
		gamma, _ := math.Lgamma(j + 1)
		return math.Exp(j*math.Log(x) - x - gamma)
	}
	if x < a {
		for t, j := 1.0, a; t > atMost*0x1p-60; j++ { // until a term, each below the one before, no longer counts
			t = term(j)
			atMost += t
		}
		return 1 - atMost, atMost
	}
	if df%2 == 1 {
		atLeast = math.Erfc(math.Sqrt(x))
	}
	for j := a - 1; j >= 0; j-- {
		atLeast += term(j)
	}
	return atLeast, 1 - atLeast
}

// twoSided returns the p-value of a standard normal statistic.
func twoSided(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }
