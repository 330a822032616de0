package battery

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fixed returns the same stream every time: no test here fails by chance.
func fixed(stream uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8([32]byte{byte(stream), byte(stream >> 8), 'd', 'r', 'a', 'w'}))
}

// drawn fills a tally with outcomes that next makes.
func drawn(s Shape, outcomes int, next func(outcome []uint32)) *Report {
	t := newDrawTally(s)
	outcome := make([]uint32, s.Values)
	for range outcomes {
		next(outcome)
		t.add(outcome)
	}
	r := &Report{Shape: s}
	t.report(r)
	return r
}

func fair(rng *rand.Rand, k uint32) func([]uint32) {
	return func(outcome []uint32) {
		for i := range outcome {
			outcome[i] = 1 + rng.Uint32N(k)
		}
	}
}

// TestDrawsUniform: over many samples of a fair generator the p-values of every test
// are uniform. A wrong expectation or a wrong number of degrees of freedom makes them
// non-uniform.
func TestDrawsUniform(t *testing.T) {
	for _, c := range []struct {
		shape    Shape
		outcomes int
	}{
		{Shape{K: 2, Values: 1}, 20_000},
		{Shape{K: 6, Values: 2}, 20_000},
		{Shape{K: 37, Values: 1}, 40_000},
		{Shape{K: 100, Values: 3}, 15_000},
		{Shape{K: 1 << 30, Values: 2}, 30_000},
	} {
		t.Run(fmt.Sprintf("%d values of %d", c.shape.Values, c.shape.K), func(t *testing.T) {
			t.Parallel()
			samples := 80
			if testing.Short() {
				samples = 30
			}
			ps := make(map[string][]float64)
			rng := fixed(uint64(c.shape.K))
			for range samples {
				for _, r := range drawn(c.shape, c.outcomes, fair(rng, c.shape.K)).Results {
					ps[r.Test] = append(ps[r.Test], r.P)
				}
			}
			if len(ps) < 13 {
				t.Errorf("%d tests", len(ps))
			}
			for test, p := range ps {
				small, large := distances(p)
				// The p-values of one sample depend on each other, so there are at most as
				// many independent ones as samples. One family in 2000 exceeds 1.95.
				limit := 1.95 / math.Sqrt(float64(samples))
				if small > limit {
					t.Errorf("%s: %d p-values, too many small ones: distance %.3f", test, len(p), small)
				}
				if large > limit && !lattice(test, c.shape) {
					t.Errorf("%s: %d p-values, too many large ones: distance %.3f", test, len(p), large)
				}
			}
		})
	}
}

// distances are the largest distances of the distribution function of p above and
// below that of uniform values.
func distances(p []float64) (above, below float64) {
	slices.Sort(p)
	for i, x := range p {
		above = max(above, float64(i+1)/float64(len(p))-x)
		below = max(below, x-float64(i)/float64(len(p)))
	}
	return above, below
}

// lattice names the tests that have few possible outcomes here, or p-values that are
// bounds: their p-values tend to be too large.
func lattice(test string, s Shape) bool {
	rare := math.Pow(float64(s.K), -float64(s.Values)) < 1e-4
	return test == "Kolmogorov–Smirnov" || test == "repeated outcome" && rare || test == "duplicates" && s.K > 1000
}

// TestDrawFaults: each fault is found, by the intended test.
func TestDrawFaults(t *testing.T) {
	dice := Shape{K: 6, Values: 2}
	for _, c := range []struct {
		name, by string
		shape    Shape
		fault    func(rng *rand.Rand, at int, outcome []uint32)
	}{
		{"a byte modulo 37", "frequency", Shape{K: 37, Values: 1},
			func(rng *rand.Rand, _ int, o []uint32) { o[0] = 1 + rng.Uint32N(256)%37 }},
		{"the last value never comes", "frequency", Shape{K: 37, Values: 1},
			func(rng *rand.Rand, _ int, o []uint32) { o[0] = 1 + rng.Uint32N(36) }},
		{"one value sticks in 3 %", "duplicates", dice, func(rng *rand.Rand, _ int, o []uint32) {
			if rng.Uint32N(100) < 3 {
				o[1] = o[0]
			}
		}},
		{"an outcome comes again after four", "repeated outcome", dice, nil},
		{"one position follows the one before", "position pairs", dice, func(rng *rand.Rand, _ int, o []uint32) {
			if rng.Uint32N(10) == 0 {
				o[1] = 1 + o[0]%6
			}
		}},
		{"the second die is loaded", "position", dice, func(rng *rand.Rand, _ int, o []uint32) {
			if o[1] == 1 && rng.Uint32N(10) == 0 {
				o[1] = 6
			}
		}},
		{"a value avoids the one before", "duplicates", Shape{K: 37, Values: 1}, nil},
		{"a number does not come again soon", "gap", Shape{K: 37, Values: 1}, nil},
		{"values go round in turn", "coupon collector", Shape{K: 37, Values: 1},
			func(_ *rand.Rand, at int, o []uint32) { o[0] = 1 + uint32(at)%37 }},
		{"small and large values take turns", "serial correlation", Shape{K: 1 << 30, Values: 1},
			func(rng *rand.Rand, at int, o []uint32) {
				o[0] = 1 + rng.Uint32N(1<<29) + uint32(at%2)<<29
			}},
		{"every fifth value is low", "subsequence", Shape{K: 1000, Values: 1},
			func(rng *rand.Rand, at int, o []uint32) {
				if at%5 == 4 {
					o[0] = 1 + rng.Uint32N(900)
				}
			}},
		{"values of 11 bits, scaled", "frequency", Shape{K: 1000, Values: 1},
			func(rng *rand.Rand, _ int, o []uint32) { o[0] = 1 + rng.Uint32N(1<<11)*1000>>11 }},
		{"triples rise", "permutation", Shape{K: 100, Values: 1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := fixed(1000)
			next := fair(rng, c.shape.K)
			at := 0
			var past [][]uint32
			r := drawn(c.shape, 100_000, func(o []uint32) {
				next(o)
				switch c.name {
				case "an outcome comes again after four":
					if at%25 == 24 {
						copy(o, past[at-4])
					}
				case "a value avoids the one before":
					for at > 0 && o[0] == past[at-1][0] {
						next(o)
					}
				case "a number does not come again soon":
					for o[0] == 7 && slices.ContainsFunc(past[max(0, at-10):],
						func(p []uint32) bool { return p[0] == 7 }) {
						next(o)
					}
				case "triples rise":
					if at%20 == 2 && past[at-2][0] < past[at-1][0] {
						o[0] = 100
					}
				default:
					c.fault(rng, at, o)
				}
				past = append(past, slices.Clone(o))
				at++
			})
			found := map[string]bool{}
			for _, x := range r.Results {
				if x.P*float64(len(r.Results)) < RejectAtOnce {
					found[x.Test] = true
				}
			}
			if !found[c.by] {
				t.Errorf("%s does not find it among %d results; these do: %v", c.by, len(r.Results), found)
			}
		})
	}
}

// TestDrawsMerged: two workers' tallies add up, and a report may be made again.
func TestDrawsMerged(t *testing.T) {
	s := Shape{K: 6, Values: 2}
	rng := fixed(7)
	a, b := newDrawTally(s), newDrawTally(s)
	for _, w := range []*drawTally{a, b} {
		outcome := make([]uint32, 2)
		for range 30_000 {
			fair(rng, 6)(outcome)
			w.add(outcome)
		}
	}
	parts := make(map[[2]string]uint64) // observations of both
	for _, w := range []*drawTally{a, b} {
		r := &Report{}
		w.report(r)
		for _, x := range r.Results {
			parts[[2]string{x.Test, x.Name}] += x.N
		}
	}
	var first []Result
	for range 2 {
		all := newDrawTally(s)
		all.merge(a)
		all.merge(b)
		r := &Report{}
		all.report(r)
		if r.Outcomes != 60_000 || len(r.Positions) != 2 || len(r.Positions[1]) != 6 ||
			total(r.Positions[1]) != 60_000 {
			t.Errorf("%d outcomes, positions %v", r.Outcomes, r.Positions)
		}
		if len(r.Results) != len(parts) {
			t.Errorf("%d results, %d of the workers", len(r.Results), len(parts))
		}
		for _, x := range r.Results {
			if x.N != parts[[2]string{x.Test, x.Name}] {
				t.Errorf("%s %s: %d observations, %d of the workers", x.Test, x.Name, x.N,
					parts[[2]string{x.Test, x.Name}])
			}
		}
		for _, mean := range r.Means {
			if math.Abs(mean-3.5) > 0.05 {
				t.Errorf("means %v", r.Means)
			}
		}
		if first == nil {
			first = r.Results
		} else if !slices.Equal(first, r.Results) {
			t.Error("a second report of the same workers differs")
		}
	}
}

// TestDrawsFew: a small sample gives no result that rests on a few events, and lists
// what is left out.
func TestDrawsFew(t *testing.T) {
	r := drawn(Shape{K: 37, Values: 1}, 50, fair(fixed(3), 37))
	for _, x := range r.Results {
		if x.DF > 0 {
			t.Errorf("%s %s: a chi-square of %d values", x.Test, x.Name, x.N)
		}
	}
	if len(r.Untested) < 15 {
		t.Errorf("left out: %q", r.Untested)
	}
}

// TestDrawsDetect: what a result says that it detects is detected, in 99 % of
// samples at its share of the level, here of the frequency of a die.
func TestDrawsDetect(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for a short run")
	}
	const k, n, samples = 6, 20_000, 400
	s := Shape{K: k, Values: 1}
	level := Level / float64(len(drawn(s, n, fair(fixed(4), k)).Results))
	off := math.Sqrt(noncentrality(level, k-1) / n) // root mean square, half the values up, half down
	rng := fixed(5)
	found := 0
	for range samples {
		r := drawn(s, n, func(o []uint32) {
			o[0] = 1 + 2*rng.Uint32N(k/2)
			if rng.Float64() < (1+off)/2 {
				o[0]++
			}
		})
		if r.Results[0].Test != "frequency" {
			t.Fatal(r.Results[0])
		}
		if r.Results[0].P < level {
			found++
		}
	}
	if found < samples*97/100 || found == samples {
		t.Errorf("a deviation of %.2g was found in %d of %d samples, want 99 %%", off, found, samples)
	}
}

func TestDrawShapes(t *testing.T) {
	for _, s := range []Shape{{K: 2, Values: 1}, {K: 1 << 30, Values: 4096}, {K: 37, Values: 4096}} {
		if _, err := New(s); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, s := range []Shape{{K: 1, Values: 1}, {K: 1<<30 + 1, Values: 1}, {K: 6}, {K: 6, Values: 4097},
		{K: 6, Values: 1, Cards: 52}} {
		if _, err := New(s); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
	for _, s := range []Shape{{K: 2, Values: 1}, {K: 37, Values: 1}, {K: 1000, Values: 1}, {Cards: 52, Decks: 1},
		{Cards: 416, Decks: 8}} {
		sum := 0.0
		for _, share := range s.Shares() {
			sum += share
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the shares of %+v add up to %v", s, sum)
		}
	}
}

// TestDrawsEdges runs the smallest and the largest valid shapes.
func TestDrawsEdges(t *testing.T) {
	for _, s := range []Shape{{K: 2, Values: 1}, {K: 3, Values: 4}, {K: 65, Values: 2}, {K: 1 << 30, Values: 1},
		{K: 37, Values: 600}} {
		r := drawn(s, 20_000/s.Values, fair(fixed(9), s.K))
		for _, x := range r.Results {
			if math.IsNaN(x.P) || x.P < 1e-6 || x.P > 1 || math.IsNaN(x.Statistic) || math.IsInf(x.Statistic, 0) ||
				x.N == 0 || x.Detects == "" {
				t.Errorf("%+v: %+v", s, x)
			}
		}
	}
}

// TestDrawNeighbours: each lag counts values at its distance, and outcomes that are
// compared with the next one are compared once.
func TestDrawNeighbours(t *testing.T) {
	for lag := 1; lag <= lags; lag++ {
		d, r := &duplicates{k: 1000}, newRepeats(Shape{K: 1000, Values: 2})
		c := newCorrelation(1000)
		for i := range uint32(50) {
			x := i
			if i == 30 {
				x = 30 - uint32(lag)
			}
			d.feed([]uint32{x})
			r.feed([]uint32{x, 7})
			c.feed([]uint32{x})
		}
		for other := range lags {
			want := uint64(0)
			if other+1 == lag {
				want = 1
			}
			if d.equal[other] != want || r.equal[other] != want {
				t.Errorf("a repeat %d apart: %d values and %d outcomes %d apart", lag, d.equal[other], r.equal[other],
					other+1)
			}
			if pairs := uint64(50 - other - 1); d.pairs[other] != pairs || r.pairs[other] != pairs ||
				c.products[other] != pairs {
				t.Errorf("50 values have %d, %d, %d pairs %d apart", d.pairs[other], r.pairs[other], c.products[other],
					other+1)
			}
		}
	}
	n := newNextOutcome(&drawTally{shape: Shape{K: 6, Values: 2}, coarse: alphabetOf(6, coarseLow, coarseHigh)})
	for range 11 {
		n.feed([]uint32{1, 2})
	}
	if total(n.counts[0]) != 5 || n.counts[0][1*6+1] != 5 || n.counts[1][2*6+2] != 5 {
		t.Errorf("11 outcomes: %v", n.counts)
	}
}
