package battery

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// findings gathers the results of a drawTally.
type findings struct {
	found   []finding
	skipped []string
	lambdas map[float64]float64 // noncentrality by degrees of freedom, because it is slow to compute
}

// A finding is a result and the function that writes its Detects, once the number of tests, and therefore
// the level of each, is known.
type finding struct {
	Result
	detects func(level float64) string
}

// minExpected is the least expected count of a class. Fewer would suffice for one test at 1 %; one of
// hundreds of tests is judged in the far tail and needs more.
const minExpected = 100

// few notes a test for which the sample is too small.
func (f *findings) few(test, name string, values int) {
	f.skip(test, fmt.Sprintf("%s needs about %d values", name, values))
}

func (f *findings) skip(test, why string) { f.skipped = append(f.skipped, test+": "+why) }

// chiSquare compares counts with probabilities that are exact. Neighbouring classes are merged until each
// is expected minExpected times, or, if most is set, until there are about most of them.
func (f *findings) chiSquare(test, name string, counts []uint64, probs []float64, most int) {
	n := total(counts)
	least := float64(minExpected)
	if most > 0 {
		least = max(least, float64(n)/float64(most))
	}
	counts, probs = mergeClasses(counts, probs, least/float64(max(n, 1)))
	if len(counts) < 2 {
		f.few(test, name, minExpected*(len(probs)+1))
		return
	}
	f.chiSquared(test, name, chiSquareOf(counts, probs), float64(len(counts)-1), n)
}

// mergeClasses merges neighbours until each class has the probability least.
func mergeClasses(counts []uint64, probs []float64, least float64) (c []uint64, p []float64) {
	open := false
	for i := range counts {
		if !open {
			c, p = append(c, 0), append(p, 0)
		}
		c[len(c)-1] += counts[i]
		p[len(p)-1] += probs[i]
		open = p[len(p)-1] < least
	}
	if last := len(c) - 1; open && last > 0 {
		c[last-1] += c[last]
		p[last-1] += p[last]
		c, p = c[:last], p[:last]
	}
	return c, p
}

func chiSquareOf(counts []uint64, probs []float64) (x float64) {
	n := float64(total(counts))
	for i, c := range counts {
		want := n * probs[i]
		x += (float64(c) - want) * (float64(c) - want) / want
	}
	return x
}

func total(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// chiSquared takes a statistic that is chi-square with df degrees of freedom.
func (f *findings) chiSquared(test, name string, x, df float64, n uint64) {
	f.found = append(f.found, finding{
		Result{Test: test, Name: name, Statistic: x, DF: df, P: chiSquareP(x, df), N: n},
		func(level float64) string {
			// λ/n is the mean square of the relative deviations of the classes, each weighted by its probability.
			return "classes off by " + percent(math.Sqrt(f.lambda(level, df)/float64(n))) + " (root mean square)"
		},
	})
}

// lambda is noncentrality at the level of a report.
func (f *findings) lambda(level, df float64) float64 {
	if _, ok := f.lambdas[df]; !ok {
		f.lambdas[df] = noncentrality(level, df)
	}
	return f.lambdas[df]
}

// normal takes a standardized statistic of n observations; unit is its standard deviation in the unit in
// which it is written.
func (f *findings) normal(test, name string, z float64, n uint64, what string, unit float64) {
	f.found = append(f.found, finding{
		Result{Test: test, Name: name, Statistic: z, P: normalP(z), N: n},
		func(level float64) string { return what + " " + percent(unit*shiftFound(level)) },
	})
}

// correlated takes a sum of n products of mean 0 and variance 1.
func (f *findings) correlated(test, name string, sum float64, n uint64) {
	if n < 1000 {
		f.few(test, name, 1000)
		return
	}
	root := math.Sqrt(float64(n))
	f.normal(test, name, sum/root, n, "a correlation of", 1/root)
}

// binomial takes a count of n independent events, two-sided.
func (f *findings) binomial(test, name string, count, n uint64, chance float64) {
	if n == 0 {
		f.few(test, name, 2)
		return
	}
	f.found = append(f.found, finding{
		Result{Test: test, Name: name, Statistic: float64(count), P: BinomialP(float64(count), float64(n), chance),
			N: n},
		func(level float64) string { return detectsRate(level, float64(n), chance) },
	})
}

// BinomialP returns the two-sided p-value of a count of n events that each have a chance. It is exact if
// the variance is at most a million. Above, the normal distribution is as accurate, and the continued
// fraction of the exact one does not converge in the middle.
func BinomialP(count, n, chance float64) float64 {
	mean, variance := n*chance, n*chance*(1-chance)
	if variance > 1e6 {
		off := max(0, math.Abs(count-mean)-0.5)
		return normalP(off / math.Sqrt(variance))
	}
	atMost, atLeast := 1.0, 1.0
	if count < n {
		atMost = mathext.RegIncBeta(n-count, count+1, 1-chance)
	}
	if count > 0 {
		atLeast = mathext.RegIncBeta(count, n-count+1, chance)
	}
	return min(1, 2*atMost, 2*atLeast)
}

// detectsRate is for a count of n events that each have a chance.
func detectsRate(level, n, chance float64) string {
	mean := n * chance
	if mean > 1000 {
		return "a rate off by " + percent(shiftFound(level)*math.Sqrt((1-chance)/mean))
	}
	// The count is nearly Poisson, and only an excess over the mean is sure to be found.
	mean = max(mean, 1e-300)
	return fmt.Sprintf("%.2g in place of %.2g", mean+excess(mean, level), mean)
}

// distance takes one-sided distances of the distribution functions of n values.
func (f *findings) distance(test, name string, above, below float64, n uint64) {
	f.found = append(f.found, finding{
		Result{Test: test, Name: name, Statistic: max(above, below), P: kolmogorovP(above, below, n), N: n},
		func(level float64) string {
			// The least distance that is rejected, plus the deviation of the sample in the other direction
			// that one in a hundred exceeds.
			far := (distuv.ChiSquared{K: 2}).Quantile(1-level/2) / 4
			stray := (distuv.ChiSquared{K: 2}).Quantile(drawPower) / 4
			return "a distribution function off by " + percent((math.Sqrt(far)+math.Sqrt(stray))/math.Sqrt(float64(n)))
		},
	})
}

// concluded returns the results, each with the deviation that it detects if the level is divided among all,
// as in Holm's first step.
func (f *findings) concluded() []Result {
	out := make([]Result, len(f.found))
	for i, found := range f.found {
		out[i] = found.Result
		out[i].Detects = found.detects(Level / float64(len(f.found)))
	}
	return out
}
