package controls

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestUnseenFigures compares the samples with figures that were computed by hand. The
// 51 degrees of freedom of 52 values need a non-centrality of 67.06.
func TestUnseenFigures(t *testing.T) {
	want := map[string]float64{
		"modulo-15":   67.06 / (8 * 44) * (1 << 30),       // 2^15 mod 52 = 8
		"modulo-31":   67.06 / (24 * 28) * math.Exp2(62),  // 2^31 mod 52 = 24
		"double-53":   67.06 / (32 * 20) * math.Exp2(106), // 2^53 mod 52 = 32
		"float-24":    67.06 / 480 * (1 << 48),            // 2^24 mod 52 = 40
		"modulo-32":   6.443e18,                           // 2^32 mod 52 = 48
		"multiply-32": 6.443e18,
		"seed-64":     3.0349 * (1 << 32), // √(2 ln 100)
		"seed-128":    5.598e19,
	}
	list := UnseenFaults()
	if len(list) != len(want) {
		t.Fatalf("%d faults", len(list))
	}
	for _, u := range list {
		t.Logf("%-12s %.4g %s, %.3g years, deviation %.2g", u.Name, u.Sample, u.Of, u.Years, u.Largest)
		if w := want[u.Name]; math.Abs(u.Sample/w-1) > 0.001 {
			t.Errorf("%s takes %.4g, want %.4g", u.Name, u.Sample, w)
		}
	}
}

// TestScaled counts the bytes that give each of k values, and computes the sample and
// the deviation from the counts.
func TestScaled(t *testing.T) {
	for _, k := range []int{3, 37, 52, 255} {
		counts := make([]float64, k)
		for x := range 256 {
			counts[x%k]++
		}
		effect, largest := 0.0, 0.0
		for _, c := range counts {
			d := c*float64(k)/256 - 1
			effect += d * d / float64(k)
			largest = max(largest, math.Abs(d))
		}
		u := scaled("", "", 8, k)
		if math.Abs(u.Largest/largest-1) > 1e-9 {
			t.Errorf("k = %d: the largest deviation is %v, not %v", k, largest, u.Largest)
		}
		if n := noncentrality(float64(k-1)) / effect; math.Abs(u.Sample/n-1) > 1e-9 {
			t.Errorf("k = %d: it takes %v draws, not %v", k, n, u.Sample)
		}
	}
}

// TestNoncentrality checks the power, for one degree of freedom against the
// normal distribution.
func TestNoncentrality(t *testing.T) {
	for _, df := range []float64{1, 51} {
		lambda := noncentrality(df)
		limit := distuv.ChiSquared{K: df}.Quantile(1 - level)
		if m := missed(df, lambda, limit); math.Abs(m-(1-power)) > 1e-9 {
			t.Errorf("df %v: missed %v", df, m)
		}
		if m := missed(df, 0, limit); math.Abs(m-(1-level)) > 1e-9 {
			t.Errorf("df %v: without a deviation %v", df, m)
		}
	}
	// One degree: (Z + √λ)², missed if it is below the limit on either side.
	z := distuv.UnitNormal
	lambda, c := noncentrality(1), z.Quantile(1-level/2)
	if m := z.CDF(c-math.Sqrt(lambda)) - z.CDF(-c-math.Sqrt(lambda)); math.Abs(m-(1-power)) > 1e-6 {
		t.Errorf("one degree: missed %v", m)
	}
}
