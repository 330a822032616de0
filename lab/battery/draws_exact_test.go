package battery

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// every calls f with all k^n equally likely blocks.
func every(k uint32, n int, f func(block []uint32)) (blocks float64) {
	block := make([]uint32, n)
	for {
		f(block)
		blocks++
		i := 0
		for ; i < n; i++ {
			if block[i]++; block[i] < k {
				break
			}
			block[i] = 0
		}
		if i == n {
			return blocks
		}
	}
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d classes, want %d: %v, %v", what, len(got), len(want), got, want)
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("%s: class %d has probability %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestBlockProbabilities compares the probabilities of each block test with counts
// over all possible blocks.
func TestBlockProbabilities(t *testing.T) {
	for _, k := range []uint32{2, 3, 5, 6} {
		d := &drawTally{shape: Shape{K: k, Values: 3}, small: alphabetOf(k, smallLow, smallHigh),
			coarse: alphabetOf(k, coarseLow, coarseHigh)}
		d.games = d.gameTests()
		for _, test := range slices.Concat(d.frequencyTests(), d.orderTests(), []drawTest{d.poker()}, d.games) {
			b, ok := test.(*blocks)
			if !ok || math.Pow(float64(k), float64(b.size)) > 2e6 {
				continue
			}
			counts, left := make([]float64, len(b.probs)), 0.0
			of := every(k, b.size, func(block []uint32) {
				if c := b.class(block); c >= 0 {
					counts[c]++
				} else {
					left++
				}
			})
			for i := range counts {
				counts[i] /= of - left
			}
			near(t, fmt.Sprintf("k = %d, %s %s", k, b.test, b.name), b.probs, counts)
		}
	}
}

// TestRunProbabilities compares runProbs with counts over all blocks of 6.
func TestRunProbabilities(t *testing.T) {
	for _, k := range []uint32{2, 3, 5, 7} {
		for _, down := range []bool{false, true} {
			counts := make([]float64, 5) // of the first run, if it is complete
			of := every(k, 6, func(block []uint32) {
				r := newRuns("", k, down)
				r.feed(block)
				for i := 1; i <= len(block); i++ {
					r := newRuns("", k, down)
					r.feed(block[:i])
					if total(r.counts) == 1 {
						length := slices.Index(r.counts, 1)
						counts[min(length, 4)]++
						return
					}
				}
				counts[4]++
			})
			for i := range counts {
				counts[i] /= of
			}
			near(t, fmt.Sprintf("runs of %d", k), runProbs(k, 5), counts)
		}
	}
}

func TestCouponProbabilities(t *testing.T) {
	for _, d := range []uint32{2, 3, 4} {
		const length = 9
		classes := length - int(d) + 1
		counts := make([]float64, classes)
		of := every(d, length-1, func(block []uint32) {
			c := newCoupon(d)
			for i := range block {
				c.feed(block[i : i+1])
				if total(c.counts) == 1 {
					counts[i+1-int(d)]++
					return
				}
			}
			counts[classes-1]++
		})
		for i := range counts {
			counts[i] /= of
		}
		near(t, fmt.Sprintf("sets of %d", d), couponProbs(d, classes), counts)
	}
	for _, d := range []uint32{2, 37, 64} { // the mean is d·(1 + 1/2 + … + 1/d)
		want, mean := 0.0, 0.0
		for i := range d {
			want += float64(d) / float64(i+1)
		}
		for i, p := range couponProbs(d, 5000) {
			mean += p * float64(int(d)+i)
		}
		if math.Abs(mean-want) > 1e-6 {
			t.Errorf("a set of %d takes %v values, want %v", d, mean, want)
		}
	}
}

func TestGapProbabilities(t *testing.T) {
	probs := gapProbs(6, 40)
	sum := 0.0
	for i, p := range probs {
		sum += p
		if want := math.Pow(5./6, float64(i)) / 6; i < 39 && math.Abs(p-want) > 1e-15 {
			t.Errorf("gap %d: %v, want %v", i, p, want)
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the probabilities add up to %v", sum)
	}
}

// TestCollisionMoments enumerates all ways for n balls to fall into m urns.
func TestCollisionMoments(t *testing.T) {
	for _, c := range []struct{ m, n int }{{2, 3}, {3, 4}, {5, 4}, {6, 7}} {
		var sum, squares float64
		of := every(uint32(c.m), c.n, func(block []uint32) {
			taken, found := map[uint32]bool{}, 0.0
			for _, urn := range block {
				if taken[urn] {
					found++
				}
				taken[urn] = true
			}
			sum += found
			squares += found * found
		})
		mean, variance := collisionMoments(float64(c.m), float64(c.n))
		if want := sum / of; math.Abs(mean-want) > 1e-9 || math.Abs(variance-(squares/of-want*want)) > 1e-9 {
			t.Errorf("%d balls, %d urns: mean %v, variance %v, want %v, %v", c.n, c.m, mean, variance, want,
				squares/of-want*want)
		}
	}
}

// TestBinCounts: bins and values agree for values that do not divide evenly.
func TestBinCounts(t *testing.T) {
	for _, k := range []uint32{4097, 5000, 12345} {
		d := &drawTally{shape: Shape{K: k}}
		bin, probs := d.bins(maxBins)
		counts := make([]float64, len(probs))
		for x := range k {
			counts[bin(x)] += 1 / float64(k)
		}
		near(t, fmt.Sprintf("bins of %d", k), probs, counts)
	}
}

// TestAlphabet: every letter has as many values, few are left out.
func TestAlphabet(t *testing.T) {
	for k := uint32(2); k < 3000; k++ {
		a := alphabetOf(k, smallLow, smallHigh)
		counts, left := make([]uint32, a.size), uint32(0)
		for x := range k {
			if l, ok := a.letter(x); ok {
				counts[l]++
			} else {
				left++
			}
		}
		if slices.Min(counts) != a.step || slices.Max(counts) != a.step || a.size > smallHigh || left*16 > k {
			t.Fatalf("k = %d: %d letters of %d to %d values, %d left out", k, a.size, slices.Min(counts),
				slices.Max(counts), left)
		}
	}
}

// TestBinomialP compares the p-value with sums of single probabilities, on both sides
// of the variance from which the normal distribution is used.
func TestBinomialP(t *testing.T) {
	for _, c := range []struct{ count, n, chance, want float64 }{
		{0, 10, 0.5, 2. / 1024}, {10, 10, 0.5, 2. / 1024}, {1, 10, 0.5, 22. / 1024}, {5, 10, 0.5, 1}, {0, 100, 1e-9, 1},
		{2, 100, 1e-9, 2 * 4950e-18},
		{5e7, 1e8, 0.5, 1}, {5e7 + 15000, 1e8, 0.5, 0.0027}, {5e7 - 15000, 1e8, 0.5, 0.0027},
	} {
		if got := BinomialP(c.count, c.n, c.chance); math.Abs(got-c.want) > 1e-3*c.want {
			t.Errorf("%v of %v, %v each: p = %v, want %v", c.count, c.n, c.chance, got, c.want)
		}
	}
}
