package monitor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"shuffled/internal/shuffle"
)

// orders calls yield with the first m of every order of n cards.
func orders(n, m int, yield func([]uint32)) {
	a := make([]uint32, n)
	for i := range a {
		a[i] = uint32(i)
	}
	var from func(int)
	from = func(i int) {
		if i == m {
			yield(a[:m])
			return
		}
		for j := i; j < n; j++ {
			a[i], a[j] = a[j], a[i]
			from(i + 1)
			a[i], a[j] = a[j], a[i]
		}
	}
	from(0)
}

// TestExactMoments: over all orders, each counted alone, the mean of each statistic is its degrees of freedom, exactly.
// A wrong factor, such as the missing (n-1)/n, moves the mean. types is given, so that small decks stand for shoes, and
// for decks in which some types have a card more.
func TestExactMoments(t *testing.T) {
	if raceEnabled {
		t.Skip("statistics of one goroutine")
	}
	for _, c := range []struct{ n, m, types int }{
		{2, 2, 2}, {3, 2, 3}, {5, 5, 5}, {5, 3, 5}, {5, 1, 5}, {6, 6, 6}, {6, 4, 6},
		{6, 6, 3}, {6, 4, 3}, {7, 7, 4}, {7, 3, 4}, {8, 8, 4}, {8, 5, 4}, {8, 2, 4}, {8, 3, 8},
	} {
		t.Run(fmt.Sprintf("%d of %d cards of %d types", c.m, c.n, c.types), func(t *testing.T) {
			var all, q, row, even, odd, fixed, fixed2 float64
			var df, dfEven, dfOdd int
			pairs := c.n%c.types == 0 && c.types >= 4 && c.m >= 2
			orders(c.n, c.m, func(order []uint32) {
				s := shapeOf(key{cards: c.n, take: c.m}, c.types)
				s.count(order)
				x, d, rows := positions(s.window.cells, 1, c.n, c.m, c.types)
				q, df, row = q+x, d, row+rows[c.m-1]
				if pairs {
					e, o, de, do := successors(&s.window.follow, 1, c.n, c.m, c.types)
					even, odd, dfEven, dfOdd = even+e, odd+o, de, do
				}
				fixed += float64(s.window.fixed)
				fixed2 += square(float64(s.window.fixed))
				all++
			})
			near := func(what string, got, want float64) {
				t.Helper()
				if math.Abs(got-want) > 1e-9*(1+want) {
					t.Errorf("%s: %v, want %v", what, got, want)
				}
			}
			near("position x type", q/all, float64(df))
			near("one position", row/all, float64(c.types-1))
			near("fixed points", fixed/all, float64(c.m)/float64(c.n))
			near("their variance", fixed2/all-square(fixed/all), fixedVariance(c.n, c.m))
			if pairs {
				near("symmetric successors", even/all, float64(dfEven))
				near("antisymmetric successors", odd/all, float64(dfOdd))
			}
		})
	}
}

// shapeOf is newShape with a given number of types.
func shapeOf(k key, types int) *shape {
	s := newShape(k)
	s.types, s.of = types, new([shuffle.MaxCards]uint8)
	for v := range s.of {
		s.of[v] = uint8(v % types)
	}
	return s
}

// TestFiveCards: samples of 1,500 orders of five cards have a mean of 16 and a variance of 32, those of a chi-square
// with 16 degrees of freedom. Without the factor (n-1)/n they would be 20 and 50.
func TestFiveCards(t *testing.T) {
	if raceEnabled {
		t.Skip("statistics of one goroutine")
	}
	rng := rand.New(rand.NewChaCha8([32]byte{5}))
	const samples = 2000
	var sum, squares float64
	order := []uint32{0, 1, 2, 3, 4}
	for range samples {
		s := newShape(key{cards: 5, take: 5})
		for range 1500 {
			rng.Shuffle(5, func(i, j int) { order[i], order[j] = order[j], order[i] })
			s.count(order)
		}
		q, df, _ := positions(s.window.cells, 1500, 5, 5, 5)
		if df != 16 {
			t.Fatalf("%d degrees of freedom", df)
		}
		sum += q
		squares += q * q
	}
	mean := sum / samples
	variance := squares/samples - mean*mean
	if math.Abs(mean-16) > 0.5 || math.Abs(variance-32) > 5 { // four standard errors
		t.Errorf("mean %.2f and variance %.2f, want 16 and 32", mean, variance)
	}
}

// TestQuantiles holds p-values against published limits of chi-square and normal.
func TestQuantiles(t *testing.T) {
	for _, c := range []struct {
		got, want float64
	}{
		{evenness(77.386, 51), 0.02}, {evenness(2771.7, 2601), 0.02}, {evenness(2958.4, 2601), 2e-6},
		{evenness(6.6349, 1), 0.01}, {evenness(0, 1), 1}, // few cells: the upper tail alone
		{evenness(28.735, 51), 0.01}, // too even
		{twoSided(2.5758), 0.01}, {twoSided(-4.8916), 1e-6},
	} {
		if math.Abs(c.got-c.want) > 0.01*c.want {
			t.Errorf("p = %v, want %v", c.got, c.want)
		}
	}
}

// TestBonferroni: the p-value of a window is the smallest of its tests times their number, and at most 1.
func TestBonferroni(t *testing.T) {
	var j judgement
	for i, p := range []float64{0.3, 0.002, 0.9} {
		j.add(fmt.Sprint("test ", i), p)
	}
	if j.tests != 3 || j.least != 0.002 || j.worst != "test 1" {
		t.Errorf("%+v", j)
	}
	if p, test := newShape(key{cards: 52, take: 52}).judge(newTally(52)); p != 1 || test != "none" {
		t.Errorf("an empty window: %v by %s", p, test)
	}
}

// TestClasses: the stretches of 1..k that are counted together are those that the expected counts are of.
func TestClasses(t *testing.T) {
	for _, k := range []uint32{2, 6, 37, 50, 51, 127, 128, 129, 1000, 16_385} {
		s := newShape(key{k: k})
		for v := range k {
			s.count([]uint32{v + 1})
		}
		var j judgement
		s.window.n *= leastCell // as if each value had come so often
		for i := range s.window.cells {
			for at := range s.window.cells[i] {
				s.window.cells[i][at] *= leastCell
			}
		}
		s.judgeValues(&j, s.window)
		want := 1.0
		if s.types-1 >= leastLower {
			want = 0 // too even
		}
		if j.tests != 1 || math.Abs(j.least-want) > 1e-9 {
			t.Errorf("all of 1..%d alike: p = %v of %d tests, want %v", k, j.least, j.tests, want)
		}
	}
	if a, z := class(1<<30, 1), class(1<<30, 1<<30); a != 0 || z != maxClasses-1 {
		t.Errorf("classes %d to %d", a, z)
	}
}

// TestMargins: which tests are left out is decided by totals.
func TestMargins(t *testing.T) {
	for _, c := range []struct {
		key      key
		outcomes uint64
		tests    int
	}{
		{key{cards: 52, take: 52}, 10_000, 4},
		{key{cards: 416, take: 416}, 10_000, 4},
		{key{cards: 54, take: 54}, 10_000, 4},
		{key{cards: 100, take: 100}, 10_000, 3}, // no successors: some types have a card more
		{key{cards: 52, take: 5}, 10_000, 2},    // too few of them
		{key{cards: 52, take: 5}, 100_000, 4},
		{key{cards: 52, take: 1}, 100_000, 2},
		{key{cards: 52, take: 52}, 1000, 0},
	} {
		s := newShape(c.key)
		s.window.n = c.outcomes
		var j judgement
		s.judgeOrders(&j, s.window)
		if j.tests != c.tests {
			t.Errorf("%d orders, %s: %d tests, want %d", c.outcomes, s, j.tests, c.tests)
		}
	}
}

// TestPower computes the table of docs/LAB.md: the relative deviation of cells, as a root mean square, with which a
// window of 100,000 is at or below a level in 99 of 100 cases. A chi-square that is off by that has a non-central
// distribution, here by its mean and variance.
func TestPower(t *testing.T) {
	for _, c := range []struct {
		name              string
		df, rows, chances int // chances: tests × positions × tails, among which the level is divided
		warnsAt, haltsAt  float64
	}{
		{"52 cards, every position", 51 * 51, 52, 4 * 2, 0.0099, 0.0107},
		{"52 cards, one position", 51, 1, 4 * 52 * 2, 0.035, 0.038},
		{"8 decks, every position", 415 * 51, 416, 4 * 2, 0.0058, 0.0062},
		{"8 decks, one position", 51, 1, 4 * 416 * 2, 0.037, 0.039},
		{"52 cards, successors", 52*49/2 + 51*50/2, 51, 4 * 2, 0.0099, 0.0107},
		{"draws of 1 to 37", 36, 1, 2, 0.030, 0.033},
		{"draws of 1 to 6", 5, 1, 1, 0.024, 0.027},
	} {
		for level, want := range map[float64]float64{WarnLevel: c.warnsAt, HaltLevel: c.haltsAt} {
			df := float64(c.df)
			limit := quantile(level/float64(c.chances), c.df)
			off := 0.0
			for df+off-2.326*math.Sqrt(2*df+4*off) < limit {
				off += 0.1
			}
			if got := math.Sqrt(off / float64(c.rows) / CountWindow); math.Abs(got-want) > 0.02*want {
				t.Errorf("%s: a deviation of %.3f %% is found at %v, not of %.3f %%", c.name, 100*got, level, 100*want)
			}
		}
	}
}

// quantile returns what a chi-square exceeds with a chance of p.
func quantile(p float64, df int) float64 {
	low, high := 0.0, 10*float64(df)+1000
	for range 100 {
		middle := (low + high) / 2
		if atLeast, _ := ChiSquare(middle, df); atLeast > p {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
