package battery

import (
	"fmt"
	"math"
)

// deckFindings gathers the results of a deckTally.
type deckFindings struct {
	findings
	lambdas map[[2]float64]float64 // noncentrality by level and df, because it is slow to compute
}

// cells adds a chi-square. The non-centrality grows by rate times the mean square of the relative deviation of a cell
// with each of n observations; words describe the root of that mean square if it is something else.
func (f *deckFindings) cells(test, name string, x, df float64, n uint64, rate float64, words ...string) {
	f.found = append(f.found, finding{
		Result{Test: test, Name: name, Statistic: x, DF: df, P: chiSquareP(x, df), N: n},
		func(level float64) string {
			off := math.Sqrt(f.lambda(level, df) / (float64(n) * rate))
			if len(words) > 0 {
				return fmt.Sprintf(words[0], off)
			}
			return fmt.Sprintf("cells off by %.2g %% (root mean square)", 100*off)
		},
	})
}

func (f *deckFindings) lambda(level, df float64) float64 {
	key := [2]float64{level, df}
	if _, ok := f.lambdas[key]; !ok {
		f.lambdas[key] = noncentrality(level, df)
	}
	return f.lambdas[key]
}

// z adds a standardised statistic whose standard deviation is unit, in the unit that words name.
func (f *deckFindings) z(test, name string, z float64, n uint64, unit float64, words string) {
	f.found = append(f.found, finding{
		Result{Test: test, Name: name, Statistic: z, P: normalP(z), N: n},
		func(level float64) string { return fmt.Sprintf(words, unit*shiftFound(level)) },
	})
}

// sparse returns the outcomes that a table of this many cells, about equally likely, needs: 30 for each, or
// 10 from 1,000 cells on, because the sum of many cells smooths the tail of each. In tables of 52 cells
// with 10 the upper tail was 1.2 times as heavy as that of chi-square.
func sparse(cells int) uint64 {
	if cells < 1000 {
		return uint64(30 * cells)
	}
	return uint64(10 * cells)
}

// tail is the least expected count of a cell of a law. Neighbours are merged until they reach it, because a single rare
// cell would reject a perfect generator too often at 10^-6, the level of a member of a large family.
const tail = 100

// fit adds a chi-square of counts against a law.
func (f *deckFindings) fit(test, name string, counts []uint32, law []float64) {
	n := float64(total32(counts))
	least := max(tail/n, 1.0/64)
	if n == 0 || least > 0.5 {
		f.skip(test, fmt.Sprintf("%s needs %d outcomes", name, 2*tail))
		return
	}
	var x, count, p float64
	classes, rest := 0, 1.0
	for i, c := range counts {
		count += float64(c)
		p += law[i]
		if last := i == len(counts)-1; !last && (p < least || rest-p < least) {
			continue
		}
		x += (count - n*p) * (count - n*p) / (n * p)
		rest -= p
		count, p = 0, 0
		classes++
	}
	if classes < 2 {
		f.skip(test, name+" has one class that is likely enough")
		return
	}
	f.cells(test, name, x, float64(classes-1), uint64(n), 1)
}

// flat adds a chi-square of counts that are all equally likely.
func (f *deckFindings) flat(test, name string, counts []uint32) {
	n := total32(counts)
	if least := sparse(len(counts)); n < least {
		f.skip(test, fmt.Sprintf("%s needs %d outcomes", name, least))
		return
	}
	f.cells(test, name, evenness(counts), float64(len(counts)-1), n, 1)
}

func total32(counts []uint32) (n uint64) {
	for _, c := range counts {
		n += uint64(c)
	}
	return n
}
