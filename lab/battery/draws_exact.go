package battery

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// The probabilities in this file are exact for independent values that are equally likely on 0..k−1, ties
// included; none is a continuous limit.

// occupancy returns the distribution of the number of different values among t of k: element j is the
// probability of j different ones.
func occupancy(k uint32, t int) []float64 {
	p := []float64{1}
	for range t {
		p = occupy(p, k)
	}
	return p
}

// occupy adds one value: after j different ones it is new with probability 1 − j/k.
func occupy(p []float64, k uint32) []float64 {
	next := make([]float64, min(len(p)+1, int(k)+1))
	for j, pj := range p {
		old := float64(j) / float64(k)
		next[j] += pj * old
		if j+1 < len(next) {
			next[j+1] += pj * (1 - old)
		}
	}
	return next
}

// couponProbs returns the distribution of the length until all d values have come: element i is the
// probability of length d+i, and the last element includes all longer ones.
func couponProbs(d uint32, classes int) []float64 {
	probs := make([]float64, classes)
	p := occupancy(d, int(d)-1)
	rest := 1.0
	for i := range probs {
		probs[i] = p[d-1] / float64(d) // the missing value comes now
		rest -= probs[i]
		p = occupy(p, d)
		p[d] = 0
	}
	probs[classes-1] += rest
	return probs
}

// runProbs returns the probabilities of lengths of strictly monotonic runs. The value that ends a run is
// left out, so that runs are independent (Knuth, section 3.3.2 G): r values are strictly ascending with
// probability C(k,r)/k^r. Element i is length i+1, and the last element includes all longer runs.
func runProbs(k uint32, classes int) []float64 {
	probs := make([]float64, classes)
	atLeast := 1.0 // P(length ≥ r)
	for i := range probs {
		r := float64(i + 1)
		longer := atLeast * max(0, 1-r/float64(k)) / (r + 1)
		probs[i] = atLeast - longer
		atLeast = longer
	}
	probs[classes-1] += atLeast
	return probs
}

// gapProbs returns the distribution of the number of other values between two of one value: geometric. The
// last element includes all longer gaps.
func gapProbs(d uint32, classes int) []float64 {
	probs := make([]float64, classes)
	rest, p := 1.0, 1/float64(d)
	for i := range probs {
		probs[i] = rest * p
		rest *= 1 - p
	}
	probs[classes-1] += rest
	return probs
}

// orderCDF is the probability that the rank-th smallest of t values, from 1, is at most x, which means that
// rank or more of them are.
func orderCDF(k uint32, t, rank int, x uint32) float64 {
	if x+1 >= k {
		return 1
	}
	return mathext.RegIncBeta(float64(rank), float64(t-rank+1), float64(x+1)/float64(k))
}

// orderCuts cuts 0..k−1 into at most n ranges that the rank-th smallest of t falls
// into about equally often. Element i is the largest value of range i.
func orderCuts(k uint32, t, rank, n int) (cuts []uint32, probs []float64) {
	for i, before := 1, 0.0; i <= n; i++ {
		lo, hi := uint32(0), k-1
		for lo < hi { // the least x whose CDF reaches i/n
			if mid := lo + (hi-lo)/2; orderCDF(k, t, rank, mid) < float64(i)/float64(n) {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if i == n {
			lo = k - 1
		}
		if p := orderCDF(k, t, rank, lo) - before; p > 0 {
			cuts, probs = append(cuts, lo), append(probs, p)
			before += p
		}
	}
	return cuts, probs
}

// totalProbs returns the distribution of the total of n values.
func totalProbs(k uint32, n int) []float64 {
	p := []float64{1}
	for range n {
		next := make([]float64, len(p)+int(k)-1)
		for i, pi := range p {
			for x := range k {
				next[i+int(x)] += pi / float64(k)
			}
		}
		p = next
	}
	return p
}

// collisionMoments returns mean and variance of the collisions when n balls fall
// into m urns: n less the urns that are not empty.
func collisionMoments(m, n float64) (mean, variance float64) {
	one, two := n*math.Log1p(-1/m), n*math.Log1p(-2/m)
	mean = n + m*math.Expm1(one)
	a, b := math.Exp(one), math.Exp(two)
	return mean, m*m*a*a*math.Expm1(two-2*one) + m*(a-b)
}

// binCounts returns how many of the values 0..k−1 fall into each of n bins; x is in bin ⌊x·n/k⌋.
func binCounts(k uint32, n int) []float64 {
	out := make([]float64, n)
	start := func(bin int) uint64 { return (uint64(bin)*uint64(k) + uint64(n) - 1) / uint64(n) }
	for i := range out {
		out[i] = float64(start(i+1) - start(i))
	}
	return out
}
