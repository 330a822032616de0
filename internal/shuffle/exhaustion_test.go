package shuffle

import (
	"math"
	"testing"
)

// rejection returns p_k, exactly representable in a float64.
func rejection(k uint64) float64 {
	lanes := math.Exp2(float64(8 * refWidth(k)))
	return (lanes - float64(refLimit(k))) / lanes
}

// exhaustionLog2 returns the binary logarithm of the exact probability (up to rounding) that the draws ks run out of
// their tape, by convolution of the geometric R_i. at[t] is the chance that t bytes were rejected so far, t ≤ slack;
// what goes beyond is collected in beyond. All terms are positive, so nothing cancels. The probabilities are far below
// what a float64 holds: at[t] is kept times base^t, and beyond times base^slack.
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

// TestExhaustionOfMixtures computes the probabilities of lists that the proof of the named decks (TestExhaustionExact)
// does not have: other decks, and lists that mix widths. None is above the bound of docs/SPEC.md section 2.4.
func TestExhaustionOfMixtures(t *testing.T) {
	t.Parallel()
	within := func(what string, log2 float64) {
		if !(log2 <= -66.86) {
			t.Errorf("%s: exhausted with probability 2^%.2f", what, log2)
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
}
