package battery

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// lowerTail is the degrees of freedom from which a chi-square is also rejected if it is too small, because counts that
// are too even are not random either. With fewer, a perfect fit is a likely lattice point and no evidence.
const lowerTail = 30

// chiSquareP returns the p-value of a chi-square statistic.
func chiSquareP(x, df float64) float64 {
	if df <= 0 {
		return 1
	}
	d := distuv.ChiSquared{K: df}
	p := d.Survival(x)
	if df >= lowerTail {
		p = min(1, 2*min(p, d.CDF(x)))
	}
	return p
}

// normalP returns the two-sided p-value of a standard normal statistic. The lower
// tail is exact where 1 − CDF would round to 0.
func normalP(z float64) float64 { return 2 * distuv.UnitNormal.CDF(-math.Abs(z)) }

// poissonP returns the two-sided p-value of a count with the given mean.
func poissonP(count, mean float64) float64 {
	d := distuv.Poisson{Lambda: mean}
	upper := 1.0
	if count > 0 {
		upper = d.Survival(count - 1)
	}
	return min(1, 2*min(upper, d.CDF(count)))
}

// kolmogorovP returns the p-value of the largest distances above and below an expected distribution
// function, after n observations. For each one-sided distance D, 4·n·D² tends to chi-square with 2 degrees
// of freedom (Goodman 1954); two sides cost a factor 2. For a discrete distribution it is an upper bound.
func kolmogorovP(above, below float64, n uint64) float64 {
	d := max(above, below)
	return min(1, 2*distuv.ChiSquared{K: 2}.Survival(4*float64(n)*d*d))
}

// excess returns the mean number of additional events that a Poisson test of size alpha finds with 99 %.
func excess(mean, alpha float64) float64 {
	if mean > 1000 {
		return shiftFound(alpha) * math.Sqrt(mean)
	}
	limit := 1.0
	for d := (distuv.Poisson{Lambda: mean}); d.Survival(limit-1) > alpha/2; {
		limit++
	}
	hi := limit
	for (distuv.Poisson{Lambda: mean + hi}).CDF(limit-1) > 1-drawPower {
		hi += max(0.01, hi/1000)
	}
	return hi
}

// PositionCard returns the position × card chi-square of counts[position][type]. Every type must be equally
// likely at every position, and each outcome must hold every position once. Rows of one permutation depend
// on each other: the sum over all cells has mean n(t−1), not (n−1)(t−1), so it is multiplied by (n−1)/n
// first. The counts must be of the same outcomes in every row.
func PositionCard(counts [][]uint64) (statistic, df, p float64) {
	n := float64(len(counts))
	if n < 2 {
		return 0, 0, 1
	}
	for _, row := range counts {
		statistic += evenness(row)
	}
	statistic *= (n - 1) / n
	df = (n - 1) * float64(len(counts[0])-1)
	return statistic, df, chiSquareP(statistic, df)
}

// evenness is the chi-square of counts that should be equal.
func evenness[C uint32 | uint64](row []C) (x float64) {
	var total float64
	for _, c := range row {
		total += float64(c)
	}
	if total == 0 {
		return 0
	}
	mean := total / float64(len(row))
	for _, c := range row {
		d := float64(c) - mean
		x += d * d
	}
	return x / mean
}
