package battery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A fault changes a fair order in place. The game before is its last result.
type fault func(r *rand.Rand, game int, order, before []uint32)

// often reports true with the probability.
func often(r *rand.Rand, p float64) bool { return r.Float64() < p }

// bring swaps card v to position i.
func bring(order []uint32, v uint32, i int) {
	j := slices.Index(order, v)
	order[i], order[j] = order[j], order[i]
}

// apart swaps card i away as long as same reports that it is like one before it.
func apart(r *rand.Rand, order []uint32, hand int, same func(a, b uint32) bool) {
	for i := 1; i < hand; i++ {
		for slices.ContainsFunc(order[:i], func(v uint32) bool { return same(v, order[i]) }) {
			j := hand + r.IntN(len(order)-hand)
			order[i], order[j] = order[j], order[i]
		}
	}
}

// riffles are Gilbert–Shannon–Reeds shuffles of a new deck.
func riffles(times int) fault {
	return func(r *rand.Rand, _ int, order, _ []uint32) {
		for i := range order {
			order[i] = uint32(i)
		}
		for range times {
			var left, right []uint32
			top := 0
			for range order {
				top += r.IntN(2)
			}
			left, right = slices.Clone(order[:top]), slices.Clone(order[top:])
			for i := range order {
				if r.IntN(len(left)+len(right)) < len(left) {
					order[i], left = left[0], left[1:]
				} else {
					order[i], right = right[0], right[1:]
				}
			}
		}
	}
}

// riffledFrom makes each game of four riffles of that lag games before.
func riffledFrom(lag int) fault {
	var past [][]uint32
	return func(r *rand.Rand, game int, order, _ []uint32) {
		if game >= lag {
			riffled := make([]uint32, len(order))
			riffles(4)(r, 0, riffled, nil)
			for i, j := range riffled {
				order[i] = past[game-lag][j]
			}
		}
		past = append(past, slices.Clone(order))
	}
}

// firstFrom puts the first card of lag games before first again, in one game of ten.
func firstFrom(lag int) fault {
	var past []uint32
	return func(r *rand.Rand, game int, order, _ []uint32) {
		if game >= lag && often(r, 0.1) {
			bring(order, past[game-lag], 0)
		}
		past = append(past, order[0])
	}
}

func naive(r *rand.Rand, _ int, order, _ []uint32) {
	for i := range order {
		order[i] = uint32(i)
	}
	for i := range order {
		j := r.IntN(len(order))
		order[i], order[j] = order[j], order[i]
	}
}

func sattolo(r *rand.Rand, _ int, order, _ []uint32) {
	for i := range order {
		order[i] = uint32(i)
	}
	for i := len(order) - 1; i > 0; i-- {
		j := r.IntN(i)
		order[i], order[j] = order[j], order[i]
	}
}

// Each family rejects a fault of its own kind. A family that is missing here has not
// been shown to find anything.
func TestEveryFamilyFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for a short run")
	}
	deck, shoe := Shape{Cards: 52, Decks: 1}, Shape{Cards: 104, Decks: 2}
	rank := func(a, b uint32) bool { return a%13 == b%13 }
	tests := []struct {
		name     string
		shape    Shape
		games    int
		fault    fault
		families []string
	}{
		{"swap with any position", deck, 2000, naive, []string{"frequency", "position × card", "expected value"}},
		{"swap with any position, shoe", shoe, 2000, naive, []string{"position × card", "expected value"}},
		{"every 8th game swaps with any position", deck, 20000, func(r *rand.Rand, game int, order, before []uint32) {
			if game%8 == 3 {
				naive(r, game, order, before)
			}
		}, []string{"subsequences"}},
		{"never the same place twice in a cycle", deck, 2000, sattolo, []string{"fixed points", "cycles"}},
		{"five riffles", deck, 2000, riffles(5),
			[]string{"rising sequences", "inversions", "adjacent cards", "guesses", "runs"}},
		{"successor follows at position 7", deck, 30000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.1) {
				bring(order, (order[5]+1)%52, 6)
			}
		}, []string{"position pairs", "adjacent pairs"}},
		{"successor follows at position 7, shoe", shoe, 60000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.15) {
				bring(order, (order[5]+1)%104, 6)
			}
		}, []string{"position pairs", "adjacent pairs"}},
		{"low after low", deck, 5000, func(r *rand.Rand, _ int, order, _ []uint32) {
			for i := 1; i < len(order)-1; i++ {
				if often(r, 0.05) && (order[i] < 26) != (order[i-1] < 26) {
					order[i], order[i+1] = order[i+1], order[i]
				}
			}
		}, []string{"serial correlation"}},
		{"first card comes again", deck, 30000, func(r *rand.Rand, _ int, order, before []uint32) {
			if often(r, 0.2) {
				bring(order, before[0], 0)
			}
		}, []string{"next game"}},
		{"cards stay where they were", deck, 5000, func(r *rand.Rand, _ int, order, before []uint32) {
			if often(r, 0.1) {
				for i := range 26 {
					bring(order, before[i], i)
				}
			}
		}, []string{"matches", "overlaps"}},
		{"cards stay one place further", deck, 5000, func(r *rand.Rand, _ int, order, before []uint32) {
			if often(r, 0.5) {
				for i := range 26 {
					bring(order, before[i], i+1)
				}
			}
		}, []string{"interplay"}},
		{"riffles of the game five before", deck, 5000, riffledFrom(5), []string{"earlier games"}},
		{"first card of three games before, shoe", shoe, 5000, firstFrom(3), []string{"earlier games"}},
		{"a card that fits two others", deck, 30000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if fits := (2*52 - order[3] - order[11]) % 52; fits != order[3] && fits != order[11] && often(r, 0.3) {
				bring(order, fits, 20)
			}
		}, []string{"position triples"}},
		{"an ace to the top in one game of 200", deck, 100_000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.005) {
				bring(order, 0, 0)
			}
		}, []string{"largest cell"}},
		{"one in ten with an ace on top, drawn again", deck, 400_000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if order[0] == 0 && often(r, 0.1) {
				r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			}
		}, []string{"largest cell"}},
		{"no pair in the first five", deck, 10000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.3) {
				apart(r, order, 5, rank)
			}
		}, []string{"poker", "side bets"}},
		{"no pair in the first five, shoe", shoe, 10000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.3) {
				apart(r, order, 5, rank)
			}
		}, []string{"poker", "side bets"}},
		{"the first four of different suits", deck, 10000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.1) {
				apart(r, order, 4, func(a, b uint32) bool { return a/13 == b/13 })
			}
		}, []string{"coupon collector"}},
		{"a spade soon", deck, 10000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.1) {
				bring(order, uint32(r.IntN(13)), 0)
			}
		}, []string{"gap"}},
		{"first two in order", deck, 10000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if order[0] > order[1] && often(r, 0.1) {
				order[0], order[1] = order[1], order[0]
			}
		}, []string{"permutation"}},
		{"high cards first and last", deck, 10000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.1) {
				bring(order, 51, 0)
				bring(order, 50, 51)
			}
		}, []string{"order statistics", "Kolmogorov–Smirnov"}},
		{"a game again", deck, 5000, func(_ *rand.Rand, game int, order, before []uint32) {
			if game%500 == 499 {
				copy(order, before)
			}
		}, []string{"duplicates"}},
		{"a card twice", deck, 1000, func(_ *rand.Rand, game int, order, _ []uint32) {
			if game == 700 {
				order[3] = order[4]
			}
		}, []string{"complete"}},
		{"one order too often", Shape{Cards: 5, Decks: 1}, 10000, func(r *rand.Rand, _ int, order, _ []uint32) {
			if often(r, 0.02) {
				copy(order, []uint32{3, 1, 4, 0, 2})
			}
		}, []string{"orders"}},
	}
	found := map[string]bool{}
	for _, tt := range tests {
		report := sample(t, tt.shape, tt.games, 1, tt.fault)
		if !report.Rejected {
			t.Errorf("%s: not rejected at once after %d games", tt.name, tt.games)
		}
		for _, family := range tt.families {
			found[family] = true
			if !slices.ContainsFunc(report.Results,
				func(res Result) bool { return res.Test == family && res.Rejected }) {
				t.Errorf("%s: not found by %s", tt.name, family)
			}
		}
	}
	for _, s := range []Shape{deck, {Cards: 5, Decks: 1}} {
		for _, res := range sample(t, s, 30000, 2, nil).Results {
			if !found[res.Test] {
				t.Errorf("no fault was looked for by %s", res.Test)
				found[res.Test] = true
			}
		}
	}
}

// sample reports on games with a fault, or fair ones without.
func sample(t *testing.T, s Shape, games int, seed byte, f fault) *Report {
	t.Helper()
	battery, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	next, w := fairDeck(seed, s.Cards), battery.Worker()
	r := rand.New(rand.NewChaCha8([32]byte{seed, 1}))
	order, before := make([]uint32, s.Cards), make([]uint32, s.Cards)
	for i := range before {
		before[i] = uint32(i)
	}
	for game := range games {
		copy(order, next())
		if f != nil {
			f(r, game, order, before)
		}
		w.Add(order)
		copy(before, order)
	}
	return battery.Report()
}

// Fair decks and shoes are accepted, and every result of the largest sample for which
// a test has time states the deviation that it would find.
func TestFairIsAccepted(t *testing.T) {
	games := 40_000
	if testing.Short() {
		games = 4_000
	}
	for _, s := range []Shape{{Cards: 52, Decks: 1}, {Cards: 54, Decks: 1}, {Cards: 36, Decks: 1},
		{Cards: 80, Decks: 1}, {Cards: 104, Decks: 2}, {Cards: 4, Decks: 1}, {Cards: 9, Decks: 1}} {
		r := sample(t, s, games, 3, nil)
		if r.Rejected || r.Borderline {
			for _, res := range r.Results {
				if res.Rejected {
					t.Errorf("%v: %s, %s: p %.3g, adjusted %.3g", s, res.Test, res.Name, res.P, res.Adjusted)
				}
			}
		}
		names := map[string]bool{}
		for _, res := range r.Results {
			if res.Detects == "" || res.N == 0 || !(res.P >= 0 && res.P <= 1) {
				t.Errorf("%v: incomplete result %+v", s, res)
			}
			if key := res.Test + ", " + res.Name; names[key] {
				t.Errorf("%v: two results are named %s", s, key)
			} else {
				names[key] = true
			}
		}
		if len(r.Positions) != s.Cards || len(r.Means) != s.Cards {
			t.Errorf("%v: %d rows of counts, %d means", s, len(r.Positions), len(r.Means))
		}
	}
}

// p-values of fair games are uniform on 0..1, for each family.
func TestPValuesAreEven(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for a short run")
	}
	type spread struct {
		n, low, high int
		sum          float64
	}
	families := map[string]*spread{}
	s := Shape{Cards: 12, Decks: 1}
	for seed := range 150 {
		for _, res := range sample(t, s, 3000, byte(seed), nil).Results {
			f := families[res.Test]
			if f == nil {
				f = &spread{}
				families[res.Test] = f
			}
			f.n++
			f.sum += res.P
			if res.P < 0.05 {
				f.low++
			}
			if res.P > 0.95 {
				f.high++
			}
		}
	}
	for test, f := range families {
		if test == "complete" || test == "duplicates" {
			continue // the one is 0 or 1, the other a small count
		}
		n := float64(f.n)
		low, high, mean := float64(f.low)/n, float64(f.high)/n, f.sum/n
		most := 0.10
		if test == "Kolmogorov–Smirnov" {
			most = 0.25 // twice the smaller of two sides is cut off at 1
		}
		if test == "largest cell" {
			most, mean = 1, 0.5 // so is the smallest p of all cells times their number: only low p-values are as rare
		}
		if low < 0.02 || low > 0.08 || high > most || mean < 0.45 || mean > 0.56 {
			t.Errorf("%s: of %d p-values %.3f are below 0.05 and %.3f above 0.95, the mean is %.3f", test, f.n, low,
				high, mean)
		}
	}
	if len(families) < 20 {
		t.Errorf("%d families", len(families))
	}
	if testing.Verbose() {
		for test, f := range families {
			fmt.Printf("%-20s %5d p-values, below 0.05: %.3f, above 0.95: %.3f, mean %.3f\n", test, f.n,
				float64(f.low)/float64(f.n), float64(f.high)/float64(f.n), f.sum/float64(f.n))
		}
	}
}
