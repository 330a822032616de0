package battery

import "testing"

// Several statistics have the same law, which therefore cannot distinguish them:
// these are counted by hand.
func TestStatisticsByHand(t *testing.T) {
	s := Shape{Cards: 7, Decks: 1}
	riffle, other, before := newDealt(s), newDealt(s), newDealt(s)
	for d, order := range map[*dealt][]uint32{
		riffle: {1, 3, 5, 0, 2, 4, 6},
		other:  {6, 5, 0, 1, 4, 3, 2},
		before: {6, 0, 1, 2, 3, 4, 5},
	} {
		if !d.set(order, 7) {
			t.Fatalf("%v is no order", order)
		}
	}
	other.before, before.before = before, riffle
	tests := []struct {
		name  string
		of    func(d *dealt) int
		order *dealt
		want  int
	}{
		{"fixed points", fixedPoints, other, 1},              // 4
		{"cycles", cycles, other, 3},                         // 0 6 2, 1 5 3, 4
		{"rising sequences, less one", rises, riffle, 3},     // 0, 1 2, 3 4, 5 6
		{"descents", descents, riffle, 1},                    // 5 0
		{"runs up and down", turns, other, 3},                // 6 5 0, 0 1 4, 4 3 2
		{"longest run up", longestUp, other, 3},              // 0 1 4
		{"inversions", inversions, other, 14},                // 6 + 5 + 0 + 0 + 2 + 1
		{"followed by the successor", successions, other, 1}, // 0 1
		{"alongside a neighbour", neighbours, other, 4},      // 6 5, 0 1, 4 3, 3 2
		{"right guesses", guesses, other, 3},                 // 0 at third, 1 after it, 2 at last
		{"matches", matches(1), other, 1},                    // 6
		{"first game", matches(1), riffle, -1},               // has none before
		{"overlap of three", overlap(3, 1), other, 2},        // 6 and 0
		{"two before", matches(2), other, 0},
		{"none so far back", overlap(3, 3), other, -1},
		{"overlap of three, two before", overlap(3, 2), other, 1}, // 5
		{"first card, two before", firstSince(2, 7), other, 5},    // 6 − 1
		{"rising sequences since", risesSince(1), other, 3},       // of places 0 2 3 6 5 4 1
		{"rising sequences since two before", risesSince(2), other, 3},
		{"lehmer of two", func(d *dealt) int { return int(lehmer(d.card, 2)) }, other, 6*6 + 5},
		{"order of four", blockOrder(0), riffle, 3}, // 0 has three higher ones before it
	}
	for _, tt := range tests {
		if got := tt.of(tt.order); got != tt.want {
			t.Errorf("%s of %v: %d, want %d", tt.name, tt.order.card, got, tt.want)
		}
	}
}

// Degrees of freedom are one less than the classes that are left.
func TestDegreesOfFreedom(t *testing.T) {
	f := deckFindings{lambdas: map[[2]float64]float64{}}
	counts := make([]uint32, 24)
	for i := range counts {
		counts[i] = 1000
	}
	f.flat("flat", "24 classes", counts)
	law := make([]float64, 24)
	for i := range law {
		law[i] = 1.0 / 24
	}
	f.fit("fit", "24 classes", counts, law)
	// 0.004 of 10,000 is below 100 and goes to its neighbour; 1/64 binds larger samples.
	f.fit("fit", "rare class first", []uint32{40, 4960, 5000}, []float64{0.004, 0.496, 0.5})
	f.fit("fit", "rare class last", []uint32{5000, 4960, 40}, []float64{0.5, 0.496, 0.004})
	f.fit("fit", "rare class in the middle", []uint32{5000, 40, 4960}, []float64{0.5, 0.004, 0.496})
	for i, want := range []float64{23, 23, 1, 1, 1} {
		if found := f.found[i]; found.DF != want || !alike(found.Statistic, 0) {
			t.Errorf("%s, %s: χ² %v with %v degrees of freedom, want 0 with %v", found.Test, found.Name,
				found.Statistic, found.DF, want)
		}
	}
}
