package shuffle

import (
	"math"
	"slices"
	"testing"
)

// The bound on exhaustion, docs/SPEC.md section 2.4.
//
// A lane for a draw 1..k is rejected with probability p_k < 1/5, so the lanes
// rejected before draw i are a geometric R_i, stochastically below one with
// p = 1/5, and the R_i are independent. The tape runs out exactly if
//
//	Σ w_i·R_i > L − S = ⌈S/2⌉ + 52·W,  W = max(1, widest w), S = Σ w_i.
//
// Chernoff with the exponent s/W for each byte, s > 0:
//
//	P ≤ exp(−52·s) · Π_i M(s·w_i/W) / exp(s·w_i/W / 2),  M(t) = (1−p)/(1−p·e^t).
//
// g(t) = ln M(t) − t/2 is convex with g(0) = 0. Let s be its other root: then
// g ≤ 0 on [0, s], where every s·w_i/W lies, so each factor is at most 1. With
// y = e^(s/2) the root solves 4 = y·(5 − y²), that is (y − 1)(y² + y − 4) = 0:
//
//	y = (√17 − 1)/2,  s = 2·ln y,  P ≤ y^−104 = 2^−66.87
//
// for every list of draws, of any length and any mix of widths.

var (
	chernoffRoot = (math.Sqrt(17) - 1) / 2
	chernoffS    = 2 * math.Log(chernoffRoot)
	// boundLog2 is the bound as a power of two.
	boundLog2 = -52 * chernoffS / math.Ln2
)

// rejection returns p_k, exactly representable in a float64.
func rejection(k uint64) float64 {
	lanes := math.Exp2(float64(8 * refWidth(k)))
	return (lanes - float64(refLimit(k))) / lanes
}

// exhaustionLog2 returns the binary logarithm of the exact probability (up to
// rounding) that the draws ks run out of their tape, by convolution of the
// geometric R_i. at[t] is the chance that t bytes were rejected so far,
// t ≤ slack; what goes beyond is collected in beyond. All terms are positive,
// so nothing cancels. The probabilities are far below what a float64 holds:
// at[t] is kept times base^t, and beyond times base^slack.
func exhaustionLog2(ks []uint64) float64 {
	slack, most, widest := refTapeLen(ks), 0.0, 1
	for _, k := range ks {
		slack -= refWidth(k)
		most, widest = max(most, rejection(k)), max(widest, refWidth(k))
	}
	if most == 0 {
		return math.Inf(-1)
	}
	base := math.Pow(2*most, -1/float64(widest)) // p·base^w ≤ 1/2 for every draw
	at, beyond := make([]float64, slack+1), 0.0
	at[0] = 1
	for _, k := range ks {
		p, w := rejection(k), refWidth(k)
		if p == 0 {
			continue
		}
		step := p * math.Pow(base, float64(w))
		// From t, (slack−t)/w + 1 rejected lanes go beyond.
		for d, power := 0, p; d <= slack; d++ {
			if d > 0 && d%w == 0 {
				power *= step
			}
			beyond += at[slack-d] * power * math.Pow(base, float64(d%w))
		}
		for t := range at {
			at[t] *= 1 - p
			if t >= w {
				at[t] += step * at[t-w]
			}
		}
	}
	return math.Log2(beyond) - float64(slack)*math.Log2(base)
}

// equalExhaustionLog2 is exhaustionLog2 for c draws of one k: the tail of a
// negative binomial distribution, summed.
func equalExhaustionLog2(k uint64, c int) float64 {
	p, w := rejection(k), refWidth(k)
	lnTerm := func(r int) float64 { // C(r+c−1, r) · p^r · (1−p)^c
		a, _ := math.Lgamma(float64(r + c))
		b, _ := math.Lgamma(float64(r + 1))
		d, _ := math.Lgamma(float64(c))
		return a - b - d + float64(r)*math.Log(p) + float64(c)*math.Log1p(-p)
	}
	first := ((c*w+1)/2+52*w)/w + 1
	tail := 0.0
	for r := first; ; r++ {
		term := math.Exp(lnTerm(r) - lnTerm(first))
		if tail += term; term < 1e-12 {
			return math.Log2(tail) + lnTerm(first)/math.Ln2
		}
	}
}

// TestRejectionIsBelowOneInFive holds the first line of the argument: exactly
// for every k up to 2^14, and beyond for the k that rejects most of all that
// fit q times into 2^32. With q = ⌊2^32/k⌋ ≥ 4 and k·(q+1) > 2^32 the rejected
// lanes are 2^32 − q·k < 2^32/(q+1), so the rest needs no enumeration.
func TestRejectionIsBelowOneInFive(t *testing.T) {
	t.Parallel()
	check := func(k uint64) {
		lanes := uint64(1) << (8 * refWidth(k))
		if rejected := lanes - refLimit(k); 5*rejected >= lanes {
			t.Errorf("k = %d rejects %d of %d lanes", k, rejected, lanes)
		}
	}
	for k := uint64(2); k <= 1<<14; k++ {
		check(k)
	}
	for q := uint64(4); q <= 1<<18; q++ {
		if k := 1<<32/(q+1) + 1; k > 1<<14 {
			check(k)
		}
	}
}

func TestExhaustionBound(t *testing.T) {
	t.Parallel()
	y := chernoffRoot
	if d := y*y*y - 5*y + 4; math.Abs(d) > 1e-12 || chernoffS <= 0 {
		t.Fatalf("%v is no root (%g)", y, d)
	}
	for i := 1; i < 1000; i++ {
		x := chernoffS * float64(i) / 1000
		if g := math.Log(0.8/(1-0.2*math.Exp(x))) - x/2; g > 0 {
			t.Fatalf("g(%v) = %g > 0", x, g)
		}
	}
	if boundLog2 >= -66.86 || boundLog2 < -66.88 {
		t.Errorf("the bound is 2^%.2f, not 2^-66.87", boundLog2)
	}
}

// TestExhaustionExact computes the true probabilities: for the decks that are
// dealt every day, for mixtures of widths, and for the lists that reject most.
func TestExhaustionExact(t *testing.T) {
	t.Parallel()
	within := func(what string, log2 float64) {
		if !(log2 <= boundLog2) {
			t.Errorf("%s: exhausted with probability 2^%.2f, above the bound 2^%.2f", what, log2, boundLog2)
		}
	}
	for _, name := range Names() {
		d, _ := Named(name)
		log2 := exhaustionLog2(refDraws(Recipe{Cards: d.Len(), Take: d.Len()}))
		within(name, log2)
		if name == "standard-52" || name == "shoe-8" {
			t.Logf("%s: 2^%.1f", name, log2)
		}
	}
	for n := 2; n <= 600; n += 7 {
		within("a deck", exhaustionLog2(refDraws(Recipe{Cards: n, Take: n})))
	}
	rng := fixed(4)
	for range 200 {
		var ks []uint64
		for range 1 + rng.IntN(100) {
			ks = append(ks, []uint64{52, 13108, 858_993_460, 2, 6, 37, 1 << 30}[rng.IntN(7)])
		}
		within("a list", exhaustionLog2(ks))
	}
	for _, k := range []uint64{52, 13108, 858_993_460} { // most rejected of each width
		worst, worstAt := math.Inf(-1), 0
		for c := 1; c <= MaxRanges; c++ {
			if log2 := equalExhaustionLog2(k, c); log2 > worst {
				worst, worstAt = log2, c
			}
		}
		within("a list of equal draws", worst)
		t.Logf("lists of draws 1..%d: worst with %d of them, 2^%.2f", k, worstAt, worst)
	}
}

// TestExhaustionBothWays holds the two computations against each other.
func TestExhaustionBothWays(t *testing.T) {
	t.Parallel()
	for _, k := range []uint64{52, 13108, 858_993_460, 3} {
		for _, c := range []int{1, 2, 3, 50, 200} {
			a, b := exhaustionLog2(slices.Repeat([]uint64{k}, c)), equalExhaustionLog2(k, c)
			if math.Abs(a-b) > 1e-6 {
				t.Errorf("%d draws 1..%d: 2^%.7f by convolution, 2^%.7f by summation", c, k, a, b)
			}
		}
	}
}

// TestWorstRejections finds that the k used above reject the most.
func TestWorstRejections(t *testing.T) {
	t.Parallel()
	worst := map[int]uint64{1: 52, 2: 13108}
	for k := uint64(2); k <= 1<<14; k++ {
		if w := refWidth(k); rejection(k) > rejection(worst[w]) {
			t.Errorf("k = %d rejects more than %d", k, worst[w])
		}
	}
	for q := uint64(4); q <= 1<<18; q++ {
		if k := 1<<32/(q+1) + 1; k > 1<<14 && rejection(k) > rejection(858_993_460) {
			t.Errorf("k = %d rejects more than 858993460", k)
		}
	}
}
