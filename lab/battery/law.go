package battery

import "math/big"

// A law is an exact distribution: element i is the probability of class i. If integers allow, it comes from
// counting, in big integers. Otherwise it comes from a recurrence that only adds products of positive
// numbers, so that nothing cancels.

// binomial returns C(n, k), 0 outside 0 ≤ k ≤ n.
func binomial(n, k int) *big.Int {
	if k < 0 || k > n {
		return new(big.Int)
	}
	return new(big.Int).Binomial(int64(n), int64(k))
}

// ratio returns a/b as the nearest float64.
func ratio(a, b *big.Int) float64 {
	f, _ := new(big.Rat).SetFrac(a, b).Float64()
	return f
}

// pick returns the law of a count whose class i has ways[i] equally likely cases.
func pick(ways []*big.Int) []float64 {
	sum := new(big.Int)
	for _, w := range ways {
		sum.Add(sum, w)
	}
	law := make([]float64, len(ways))
	for i, w := range ways {
		law[i] = ratio(w, sum)
	}
	return law
}

// factorials returns 0!, 1!, … n!.
func factorials(n int) []*big.Int {
	f := []*big.Int{big.NewInt(1)}
	for i := 1; i <= n; i++ {
		f = append(f, new(big.Int).Mul(f[i-1], big.NewInt(int64(i))))
	}
	return f
}

// derangements returns D(0) … D(n), the orders of m cards with none in its place.
func derangements(n int) []*big.Int {
	d := []*big.Int{big.NewInt(1), new(big.Int)}
	for m := 2; m <= n; m++ {
		two := new(big.Int).Add(d[m-1], d[m-2])
		d = append(d, two.Mul(two, big.NewInt(int64(m-1))))
	}
	return d
}

// fixedPointLaw counts cards that are in their place: C(n,k)·D(n−k) orders.
func fixedPointLaw(n int) []float64 {
	d, ways := derangements(n), make([]*big.Int, n+1)
	for k := range ways {
		ways[k] = binomial(n, k)
		ways[k].Mul(ways[k], d[n-k])
	}
	return pick(ways)
}

// recordLaw counts the successes of independent trials with probabilities 1/1, 1/2, … 1/n: the cycles of an
// order, and the cards that are guessed if each is seen after the guess and no card is named twice.
// Stirling numbers of the first kind over n!.
func recordLaw(n int) []float64 {
	law := []float64{1}
	for i := 1; i <= n; i++ {
		next := make([]float64, i+1)
		for k, p := range law {
			next[k] += p * float64(i-1) / float64(i)
			next[k+1] += p / float64(i)
		}
		law = next
	}
	return law
}

// descentLaw counts neighbours of which the second is smaller: Eulerian numbers over n!. An order has one
// more rising sequence than its inverse has descents.
func descentLaw(n int) []float64 {
	law := []float64{1}
	for i := 2; i <= n; i++ {
		next := make([]float64, i)
		for k := range next {
			if k < len(law) {
				next[k] += float64(k+1) / float64(i) * law[k]
			}
			if k > 0 {
				next[k] += float64(i-k) / float64(i) * law[k-1]
			}
		}
		law = next
	}
	return law
}

// turnLaw counts the runs up and down, of which an order that only rises has one
// (André): P(n,s) = (s·P(n−1,s) + 2·P(n−1,s−1) + (n−s)·P(n−1,s−2))/n.
func turnLaw(n int) []float64 {
	law := []float64{0, 1} // two cards
	for i := 3; i <= n; i++ {
		next := make([]float64, i)
		for s := 1; s < i; s++ {
			p := 0.0
			if s < len(law) {
				p += float64(s) * law[s]
			}
			p += 2 * law[s-1]
			if s >= 2 {
				p += float64(i-s) * law[s-2]
			}
			next[s] = p / float64(i)
		}
		law = next
	}
	return law
}

// longestRunLaw is the law of the longest run up, from 1. Runs longer than longest are in its last class.
func longestRunLaw(n, longest int) []float64 {
	law := make([]float64, longest+1)
	below := 0.0
	for m := 1; m <= longest; m++ {
		within := noLongerRun(n, m)
		law[m], below = within-below, within
	}
	law[longest] += 1 - below
	return law
}

// noLongerRun returns the probability that no run up has more than m cards. The state is the length of the last run and
// the rank of the last card among those before it.
func noLongerRun(n, m int) (p float64) {
	state := make([][]float64, m+1)
	for l := range state {
		state[l] = make([]float64, n)
	}
	state[1][0] = 1
	for i := 1; i < n; i++ {
		next := make([][]float64, m+1)
		for l := range next {
			next[l] = make([]float64, n)
		}
		for l := 1; l <= m; l++ {
			lower, higher := 0.0, 0.0
			for r := 1; r <= i && l < m; r++ { // the next card is higher
				lower += state[l][r-1]
				next[l+1][r] += lower / float64(i+1)
			}
			for r := i - 1; r >= 0; r-- { // it is lower, or in the last one's rank
				higher += state[l][r]
				next[1][r] += higher / float64(i+1)
			}
		}
		state = next
	}
	for _, byRank := range state {
		for _, q := range byRank {
			p += q
		}
	}
	return p
}

// inversionLaw counts pairs of cards in reverse order: the sum of independent uniform variables on 0..i−1, i = 1..n.
func inversionLaw(n int) []float64 {
	law := []float64{1}
	for i := 2; i <= n; i++ {
		next := make([]float64, len(law)+i-1)
		window := 0.0
		for k := range next {
			if k < len(law) {
				window += law[k]
			}
			if k >= i {
				window = max(0, window-law[k-i])
			}
			next[k] = window / float64(i)
		}
		law = next
	}
	return law
}

// successionLaw counts cards that are followed by their successor: C(n−1,k)·(D(n−k) + D(n−k−1)) orders.
func successionLaw(n int) []float64 {
	d, ways := derangements(n), make([]*big.Int, n)
	for k := range ways {
		ways[k] = new(big.Int).Set(d[n-k])
		ways[k].Add(ways[k], d[n-k-1])
		ways[k].Mul(ways[k], binomial(n-1, k))
	}
	return pick(ways)
}

// neighbourLaw counts cards whose neighbours in the deck are also neighbours in the order, in either
// direction; most classes. Choosing j of the n−1 bonds leaves n−j blocks, and each of c clusters of bonds
// can be reversed. Inclusion and exclusion gives the orders with exactly k.
func neighbourLaw(n, most int) []float64 {
	f := factorials(n)
	// Σ over j bonds of the orders that keep them. About n!·2^j/j!: beyond 64 they are below 10^-69 of all.
	atLeast := make([]*big.Int, min(n, 64))
	for j := range atLeast {
		sum := new(big.Int)
		for c := 0; c <= j; c++ {
			ways := binomial(j-1, c-1)
			if j == 0 {
				ways = big.NewInt(1)
			}
			ways.Mul(ways, binomial(n-j, c))
			sum.Add(sum, ways.Lsh(ways, uint(c)))
		}
		atLeast[j] = sum.Mul(sum, f[n-j])
	}
	rest := new(big.Int).Set(f[n])
	law := make([]float64, min(most, n))
	for k := range law {
		exactly := new(big.Int)
		for j := k; j < len(atLeast); j++ {
			term := binomial(j, k)
			term.Mul(term, atLeast[j])
			if (j-k)%2 == 1 {
				term.Neg(term)
			}
			exactly.Add(exactly, term)
		}
		if rest.Sub(rest, exactly); k == len(law)-1 {
			exactly.Add(exactly, rest) // this many or more
		}
		law[k] = ratio(exactly, f[n])
	}
	return law
}

// overlapLaw counts the cards that two hands of h have in common, each dealt from its own deck of n: hypergeometric.
func overlapLaw(n, h int) []float64 {
	ways := make([]*big.Int, h+1)
	for k := range ways {
		ways[k] = binomial(h, k)
		ways[k].Mul(ways[k], binomial(n-h, h-k))
	}
	return pick(ways)
}

// gapLaw counts the other cards before the first of m, and by symmetry between
// any two of them that follow each other: C(n−1−g, m−1) orders of C(n,m).
func gapLaw(n, m int) []float64 {
	ways := make([]*big.Int, n-m+1)
	for g := range ways {
		ways[g] = binomial(n-1-g, m-1)
	}
	return pick(ways)
}

// rankLaw is the law of the r-th lowest (from 1) of a hand of m of n cards: C(v, r−1)·C(n−1−v, m−r).
func rankLaw(n, m, r int) []float64 {
	ways := make([]*big.Int, n)
	for v := range ways {
		ways[v] = binomial(v, r-1)
		ways[v].Mul(ways[v], binomial(n-1-v, m-r))
	}
	return pick(ways)
}

// couponLaw is the law of the number of cards dealt until every class has been seen. Class i has sizes[i]
// cards. Inclusion and exclusion over the classes that are missing.
func couponLaw(sizes []int) []float64 {
	n := 0
	for _, s := range sizes {
		n += s
	}
	missing := make([]*big.Int, n+1) // signed number of sets of classes by cards in them
	for i := range missing {
		missing[i] = new(big.Int)
	}
	missing[0].SetInt64(1)
	for _, s := range sizes {
		for i := n; i >= s; i-- {
			missing[i].Sub(missing[i], missing[i-s])
		}
	}
	law := make([]float64, n+1)
	below := 0.0
	for k := 1; k <= n; k++ {
		ways := new(big.Int)
		for cards, sets := range missing {
			if sets.Sign() != 0 {
				ways.Add(ways, new(big.Int).Mul(sets, binomial(n-cards, k)))
			}
		}
		within := ratio(ways, binomial(n, k))
		law[k], below = within-below, within
	}
	return law
}
