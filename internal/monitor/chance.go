package monitor

import "math"

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
