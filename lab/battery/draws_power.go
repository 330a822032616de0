package battery

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// drawPower is the chance with which a deviation that Detects names is found.
const drawPower = 0.99

// shiftFound is the deviation of a mean, in standard deviations, that a two-sided normal test at level finds.
func shiftFound(level float64) float64 {
	return -distuv.UnitNormal.Quantile(level/2) + distuv.UnitNormal.Quantile(drawPower)
}

// noncentrality is the λ at which chiSquareP falls below level with drawPower. A
// non-central chi-square is a Poisson mixture of central ones.
func noncentrality(level, df float64) float64 {
	if df >= lowerTail {
		level /= 2
	}
	limit := 2 * mathext.GammaIncRegCompInv(df/2, level)
	missed := func(lambda float64) (p float64) {
		half := distuv.Poisson{Lambda: lambda / 2}
		spread := 8*math.Sqrt(lambda/2) + 8
		for j := math.Floor(max(0, lambda/2-spread)); j <= lambda/2+spread; j++ {
			p += half.Prob(j) * distuv.ChiSquared{K: df + 2*j}.CDF(limit)
		}
		return p
	}
	lo, hi := 0.0, 1.0
	for missed(hi) > 1-drawPower {
		hi *= 2
	}
	for hi-lo > hi/1000 {
		if mid := (lo + hi) / 2; missed(mid) > 1-drawPower {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// percent writes a share with two significant digits.
func percent(share float64) string { return fmt.Sprintf("%.2g %%", 100*share) }
