// Package monitored compares the p-values of the daemon's monitor with those of
// another implementation. It has only tests.
package monitored

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"shuffled/internal/monitor"
)

// TestChiSquare: for all degrees of freedom that a window of the monitor can have,
// and from far in one tail to far in the other, both chances are those of gonum. A
// monitor compares its chances with at least 1e-6 divided by the number of tests: at
// most 416 positions, four tests and two tails.
func TestChiSquare(t *testing.T) {
	t.Parallel()
	const least = monitor.HaltLevel / (416 * 4 * 2)
	var worst float64
	for df := 1; df <= 415*51; df += 1 + df/60 {
		for _, z := range []float64{-7, -5, -3, -1.5, -0.5, 0, 0.5, 1.5, 3, 5, 7, 9} {
			// Wilson and Hilferty: about z deviations from the middle.
			ninth := 2 / (9 * float64(df))
			q := float64(df) * math.Pow(max(0, 1-ninth+z*math.Sqrt(ninth)), 3)
			d := distuv.ChiSquared{K: float64(df)}
			atLeast, atMost := monitor.ChiSquare(q, df)
			for _, c := range [][2]float64{{atLeast, d.Survival(q)}, {atMost, d.CDF(q)}} {
				if c[1] < least && c[0] < 2*least {
					continue // as far out as can be computed
				}
				off := math.Abs(c[0]-c[1]) / c[1]
				if worst = max(worst, off); off > 1e-7 || math.IsNaN(off) {
					t.Errorf("%d degrees of freedom, %v: %v, and gonum has %v", df, q, c[0], c[1])
				}
			}
		}
	}
	t.Logf("the largest relative difference is %.1e", worst)
}

// TestChiSquareLimits: no chance is outside 0 to 1, for any statistic.
func TestChiSquareLimits(t *testing.T) {
	t.Parallel()
	for _, df := range []int{1, 2, 3, 50, 51, 2601, 415 * 51} {
		for _, q := range []float64{0, 5e-324, 1e-300, 1e-9, 1, 1e3, 1e6, 1e9, math.MaxFloat64} {
			atLeast, atMost := monitor.ChiSquare(q, df)
			if sum := atLeast + atMost; !(atLeast >= 0 && atLeast <= 1+1e-9 && atMost >= 0 && atMost <= 1+1e-9 &&
				math.Abs(sum-1) < 1e-9) {
				t.Errorf("%d degrees of freedom, %v: %v and %v", df, q, atLeast, atMost)
			}
		}
	}
}
