package monitor

import "math"

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
func successors(follow *[columns]row, outcomes float64, n, m, types int) (even, odd float64,
	dfEven, dfOdd int) {
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
