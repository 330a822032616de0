package battery

import (
	"math"
	"math/rand/v2"
	"testing"
)

// naiveShares returns how often swapping with any position brings each card to
// each position of five, from all 5^5 ways.
func naiveShares() (shares [5][5]float64) {
	for way := range 5 * 5 * 5 * 5 * 5 {
		order := [5]int{0, 1, 2, 3, 4}
		for i, rest := 0, way; i < 5; i, rest = i+1, rest/5 {
			j := rest % 5
			order[i], order[j] = order[j], order[i]
		}
		for i, v := range order {
			shares[i][v] += 1.0 / (5 * 5 * 5 * 5 * 5)
		}
	}
	return shares
}

// A deviation of the size that Detects states is found 99 times in 100: just enough
// games are shuffled badly for it.
func TestDetectsIsTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for a short run")
	}
	const games, samples, level = 10000, 400, 1e-4
	var cell, curve float64 // mean squares of the relative and of the mean's deviation
	for _, row := range naiveShares() {
		mean := 0.0
		for v, share := range row {
			cell += (5*share - 1) * (5*share - 1) / 25
			mean += float64(v) * share
		}
		curve += (mean - 2) * (mean - 2) / 5
	}
	tests := []struct {
		name  string
		share float64 // of bad games
		p     func(rows [][]uint64) float64
	}{
		{"position × card", math.Sqrt(noncentrality(level, 16) / (games * 4) / cell), func(rows [][]uint64) float64 {
			_, _, p := PositionCard(rows)
			return p
		}},
		{"expected value", math.Sqrt(noncentrality(level, 4) / (games * 4 * 12.0 / 24) / curve),
			func(rows [][]uint64) float64 {
				var f deckFindings
				(&placement{n: 5, types: 5}).curve(&f, means(rows), games)
				return f.found[len(f.found)-1].P
			}},
	}
	r := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, tt := range tests {
		if tt.share > 1 {
			t.Fatalf("%s: no share of bad games is as bad: %v", tt.name, tt.share)
		}
		next, found := fairDeck(7, 5), 0
		order := make([]uint32, 5)
		for range samples {
			rows := make([][]uint64, 5)
			for i := range rows {
				rows[i] = make([]uint64, 5)
			}
			for range games {
				copy(order, next())
				if often(r, tt.share) {
					naive(r, 0, order, nil)
				}
				for i, v := range order {
					rows[i][v]++
				}
			}
			if tt.p(rows) < level {
				found++
			}
		}
		t.Logf("%s: found in %d of %d samples", tt.name, found, samples)
		// 396 are expected, with a standard deviation of 2.
		if found < 388 || found == samples {
			t.Errorf("%s: found in %d of %d samples, want about 99 %%", tt.name, found, samples)
		}
	}
}
