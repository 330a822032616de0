package battery

import (
	"fmt"
	"math"
	"testing"
)

// small are shapes of which every order can be tried. A shoe of two decks of four
// types cannot be dealt, but has the same laws.
var small = []Shape{{Cards: 4, Decks: 1}, {Cards: 5, Decks: 1}, {Cards: 6, Decks: 1}, {Cards: 7, Decks: 1},
	{Cards: 8, Decks: 1},
	{Cards: 6, Decks: 2}, {Cards: 8, Decks: 2}, {Cards: 6, Decks: 3}}

// everyOrder calls f with each of the n! orders of 0..n−1 once.
func everyOrder(n int, f func(order []uint32)) {
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	var permute func(k int)
	permute = func(k int) {
		if k == n {
			f(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			permute(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	permute(0)
}

func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// Every law is the frequency among all orders, for any game before.
func TestLawsAreExact(t *testing.T) {
	for _, s := range small {
		tests := 0
		for _, c := range append(orderCounters(s), handCounters(s)...) {
			h, law := lawOf(c)
			if h == nil {
				continue
			}
			tests++
			before := newDealt(s)
			before.set(fairDeck(9, s.Cards)(), int32(s.types()))
			before.before = before // so were all games before that one
			orders := 0.0
			d := newDealt(s)
			everyOrder(s.Cards, func(order []uint32) {
				if !d.set(order, int32(s.types())) {
					t.Fatalf("%v is no order of %d cards", order, s.Cards)
				}
				d.before = before
				h.add(d)
				orders++
			})
			if total32(h.cells) != uint64(orders) {
				t.Errorf("%v %s, %s: %d of %.0f orders counted", s, h.test, h.name, total32(h.cells), orders)
			}
			for class, count := range h.cells {
				if got := float64(count) / orders; !alike(got, law[class]) {
					t.Errorf("%v %s, %s: class %d has probability %v, the law says %v", s, h.test, h.name, class, got,
						law[class])
				}
			}
		}
		if tests < 20 {
			t.Errorf("%v: %d laws were looked at", s, tests)
		}
	}
}

// lawOf returns a counter that is a histogram, and its law.
func lawOf(c counter) (*histogram, []float64) {
	switch c := c.(type) {
	case *histogram:
		return c, c.law
	case *even:
		law := make([]float64, len(c.cells))
		for i := range law {
			law[i] = 1 / float64(len(law))
		}
		return &c.histogram, law
	}
	return nil, nil
}

// Laws sum to 1 at the sizes that are played, and have the published moments.
func TestLawsAtFullSize(t *testing.T) {
	harmonic := func(n int) (h, h2 float64) {
		for i := 1; i <= n; i++ {
			h += 1 / float64(i)
			h2 += 1 / float64(i*i)
		}
		return h, h2
	}
	for _, size := range []int{52, 416} {
		n := float64(size)
		h, h2 := harmonic(size)
		hand := n / 4
		tests := []struct {
			name           string
			law            []float64
			mean, variance float64
		}{
			{"fixed points", fixedPointLaw(size), 1, 1},
			{"cycles", recordLaw(size), h, h - h2},
			{"descents", descentLaw(size), (n - 1) / 2, (n + 1) / 12},
			{"runs up and down", turnLaw(size), (2*n - 1) / 3, (16*n - 29) / 90},
			{"inversions", inversionLaw(size), n * (n - 1) / 4, n * (n - 1) * (2*n + 5) / 72},
			{"successions", successionLaw(size), (n - 1) / n, 0},
			{"neighbours", neighbourLaw(size, mostNeighbours), 2 * (n - 1) / n, 0},
			{"overlap", overlapLaw(size, size/4), hand * hand / n,
				hand * hand * (n - hand) * (n - hand) / (n * n * (n - 1))},
			{"gap", gapLaw(size, size/4), (n - hand) / (hand + 1), 0},
			{"lowest of five", rankLaw(size, 5, 1), (n+1)/6 - 1, 0},
			{"coupons", couponLaw([]int{size / 2, size / 2}), 0, 0},
			{"longest run", longestRunLaw(size, longestRun), 0, 0},
		}
		for _, tt := range tests {
			var sum, mean, square float64
			for k, p := range tt.law {
				if p < -1e-12 {
					t.Errorf("%d cards, %s: probability %v of %d", size, tt.name, p, k)
				}
				sum += p
				mean += float64(k) * p
				square += float64(k) * float64(k) * p
			}
			if !alike(sum, 1) {
				t.Errorf("%d cards, %s: probabilities sum to %v", size, tt.name, sum)
			}
			if tt.mean > 0 && !alike(mean, tt.mean) {
				t.Errorf("%d cards, %s: mean %v, want %v", size, tt.name, mean, tt.mean)
			}
			if v := square - mean*mean; tt.variance > 0 && math.Abs(v-tt.variance) > 1e-7*square {
				t.Errorf("%d cards, %s: variance %v, want %v", size, tt.name, v, tt.variance)
			}
		}
	}
}

// Tables over all orders, each once, are exactly even: the expected counts are exact.
func TestTablesAreExact(t *testing.T) {
	for _, s := range small {
		place, pairs, next := newPlacement(s), newPairwise(s), newAdjacent(s)
		d := newDealt(s)
		everyOrder(s.Cards, func(order []uint32) {
			d.set(order, int32(s.types()))
			place.add(d)
			pairs.add(d)
			next.add(d)
		})
		if x, _, _ := PositionCard(place.positions()); !alike(x, 0) {
			t.Errorf("%v: position × card of all orders is %v", s, x)
		}
		for i := range s.Cards {
			for j := i + 1; j < s.Cards; j++ {
				if pair := pairs.pair(i, j); !alike(pair.x, 0) {
					t.Errorf("%v: pair %d,%d of all orders is %v", s, i, j, pair.x)
				}
			}
		}
		f := deckFindings{lambdas: map[[2]float64]float64{}}
		next.results(&f)
		if s.Cards >= 7 && len(f.found) != s.Cards-1 {
			t.Errorf("%v: %d adjacent pairs", s, len(f.found))
		}
		for _, found := range f.found {
			if !alike(found.Statistic, 0) {
				t.Errorf("%v: adjacent %s of all orders is %v", s, found.Name, found.Statistic)
			}
		}
	}
}

func TestSerialMomentsAreExact(t *testing.T) {
	for _, s := range small {
		for lag := 1; lag <= s.Cards/2; lag++ {
			var orders, first, second float64
			everyOrder(s.Cards, func(order []uint32) {
				sum := 0.0
				for i := range s.Cards - lag {
					sum += float64(twice(int32(order[i])%int32(s.types()),
						s.types()) * twice(int32(order[i+lag])%int32(s.types()), s.types()))
				}
				orders++
				first += sum
				second += sum * sum
			})
			mean, variance := serialMoments(s.Cards, s.types(), lag)
			if got := first / orders; !alike(got, mean) {
				t.Errorf("%v lag %d: mean %v, the formula says %v", s, lag, got, mean)
			}
			if got := second/orders - first/orders*first/orders; !alike(got, variance) {
				t.Errorf("%v lag %d: variance %v, the formula says %v", s, lag, got, variance)
			}
		}
	}
}

// The means of the chi-squares that depend on each other within one order are their
// degrees of freedom, over all samples of two games (three for successive ones).
func TestCorrectedChiSquareMeans(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for a short run")
	}
	s := Shape{Cards: 4, Decks: 1}
	var orders [][]uint32
	everyOrder(s.Cards, func(order []uint32) { orders = append(orders, append([]uint32(nil), order...)) })
	var place, between, pair, curve, samples float64
	for _, a := range orders {
		for _, b := range orders {
			for _, c := range orders {
				tally := newDeckTally(s)
				counters := []counter{newPlacement(s), newInterplay(s), newNextGame(s)}
				tally.counters = counters
				for _, g := range [][]uint32{a, b, c} {
					tally.add(g)
				}
				samples++
				rows := counters[0].(*placement).positions()
				x, _, _ := PositionCard(rows)
				place += x
				sums := counters[1].(*interplay)
				var f deckFindings
				sums.games = 1000 // large enough to be judged
				sums.results(&f)
				between += f.found[0].Statistic * 1000 / 2
				x, _ = interaction(counters[2].(*nextGame).cells[:16], 4)
				pair += x
				var g deckFindings
				counters[0].(*placement).curve(&g, means(rows), 3)
				curve += g.found[len(g.found)-1].Statistic
			}
		}
	}
	for _, tt := range []struct {
		name    string
		sum, df float64
	}{{"position × card", place, 9}, {"interplay", between, 9}, {"expected value", curve, 3}} {
		if got := tt.sum / samples; !alike(got, tt.df) {
			t.Errorf("%s: mean %v of all samples, want %v", tt.name, got, tt.df)
		}
	}
	// The margins of an overlapping table of two pairs of games are slightly off,
	// because the two share a game.
	if got := pair / samples; !alike(got, 9) {
		t.Errorf("next game: mean %v of all samples, want 9", got)
	}
}

// The usual mistake is to compare the raw sum with (n−1)² degrees of freedom:
// five cards then have a mean of 20 in place of 16.
func TestPositionCardFactor(t *testing.T) {
	const samples, games = 1500, 400
	next := fairDeck(5, 5)
	var sum, square float64
	for range samples {
		counts := make([][]uint64, 5)
		for i := range counts {
			counts[i] = make([]uint64, 5)
		}
		for range games {
			for i, v := range next() {
				counts[i][v]++
			}
		}
		x, df, _ := PositionCard(counts)
		if df != 16 {
			t.Fatalf("df = %v, want 16", df)
		}
		sum += x
		square += x * x
	}
	mean := sum / samples
	variance := square/samples - mean*mean
	// Three standard errors: √(32/1500) = 0.15, and about 1.4 for the variance.
	if math.Abs(mean-16) > 0.45 || math.Abs(variance-32) > 4.2 {
		t.Errorf("mean %.2f, variance %.2f; want 16 and 32", mean, variance)
	}
}

func TestKolmogorovStepsAreExact(t *testing.T) {
	for n := 4; n <= 7; n++ {
		for _, last := range []bool{false, true} {
			c, s := newKolmogorov("", n, last), Shape{Cards: n, Decks: 1}
			d := newDealt(s)
			orders := 0.0
			everyOrder(n, func(order []uint32) {
				d.set(order, int32(n))
				c.add(d)
				orders++
			})
			count := 0.0
			for i, cell := range c.cells {
				count += float64(cell)
				if got := c.upTo(i + 1); !alike(got, count/orders) {
					t.Fatalf("%d cards, last %v: %v up to bin %d, want %v", n, last, got, i, count/orders)
				}
			}
		}
	}
}

func TestNextUnseen(t *testing.T) {
	for _, n := range []int32{5, 63, 64, 65, 104, 128} {
		next := fairDeck(byte(n), int(n))()
		seen := make([]uint64, (n+63)/64)
		in := map[int32]bool{}
		for _, v := range next {
			seen[v/64] |= 1 << (v % 64)
			in[int32(v)] = true
			want := int32(v)
			for k := int32(1); k <= n; k++ {
				if c := (int32(v) + k) % n; !in[c] {
					want = c
					break
				}
			}
			if got := nextUnseen(seen, int32(v), n); got != want {
				t.Fatalf("of %d, after %d with %d seen: %d, want %d", n, v, len(in), got, want)
			}
		}
	}
}

func ExampleShape() {
	_, err := New(Shape{Cards: 100, Decks: 2})
	fmt.Println(err)
	// Output: battery: decks must be 1, or the number of decks of 52 cards in a shoe, not 2 with 100 cards
}
