package controls

import (
	"math/big"
	"slices"
)

// Ways counts the equally likely ways of a shuffle that lead to each order.
type Ways struct {
	Orders [][]uint32 // all orders, in lexicographic order
	Counts []uint64   // one per order
	All    uint64     // their sum
}

// SwapAnywhere enumerates the naive swap of n cards, all n^n ways of it; n ≤ 8.
// The right shuffle would have equal counts.
func SwapAnywhere(n int) Ways { return anyPosition.enumerate(n) }

// Sattolo, CoinSort, Riffle and Cut do the same for the controls of these names; n ≤ 3 for CoinSort.
func Sattolo(n int) Ways  { return sattolo.enumerate(n) }
func CoinSort(n int) Ways { return coinSort.enumerate(n) }
func Riffle(n int) Ways   { return riffles(1).enumerate(n) }
func Cut(n int) Ways      { return cutOnly.enumerate(n) }

// enumerate goes through all vectors of draws.
func (m moves) enumerate(n int) Ways {
	ranges := m.ranges(n)
	drawn, deck := same(len(ranges), 1), make([]uint32, n)
	found := map[string]uint64{}
	for more := true; more; more = count(drawn, ranges) {
		newOrder(deck)
		m.move(deck, drawn)
		found[key(deck)]++
	}
	w := Ways{}
	newOrder(deck)
	for more := true; more; more = following(deck) {
		c := found[key(deck)]
		w.Orders, w.Counts, w.All = append(w.Orders, slices.Clone(deck)), append(w.Counts, c), w.All+c
	}
	return w
}

// key is a short deck as a key of a map.
func key(deck []uint32) string {
	b := make([]byte, len(deck))
	for i, c := range deck {
		b[i] = byte(c)
	}
	return string(b)
}

// count makes the next vector of draws, the last one moving fastest; false after all.
func count(drawn, ranges []uint32) bool {
	for i := len(drawn) - 1; i >= 0; i-- {
		if drawn[i] < ranges[i] {
			drawn[i]++
			return true
		}
		drawn[i] = 1
	}
	return false
}

// following makes the next order, lexicographically; false after the last.
func following(deck []uint32) bool {
	i := len(deck) - 2
	for i >= 0 && deck[i] > deck[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(deck) - 1
	for deck[j] < deck[i] {
		j--
	}
	swap(deck, i, j)
	slices.Reverse(deck[i+1:])
	return true
}

// matrix counts, for a shuffle of n cards that swaps card after card with one of the first k positions, the ways in
// which each card (second index) comes to each position (first index). It follows one card at a time: step i moves the
// card at i to each of the k positions in one way, and the card at another position p to i in the one way that draws p.
func matrix(n, k int) [][]*big.Int {
	m := make([][]*big.Int, n)
	for p := range m {
		m[p] = make([]*big.Int, n)
	}
	for card := range n {
		at := make([]*big.Int, n) // ways in which the card is at each position
		for p := range at {
			at[p] = new(big.Int)
		}
		at[card].SetInt64(1)
		for i := range n {
			at = swapped(at, i, k)
		}
		for p := range n {
			m[p][card] = at[p]
		}
	}
	return m
}

// swapped is one step of matrix.
func swapped(at []*big.Int, i, k int) []*big.Int {
	to := make([]*big.Int, len(at))
	for p := range to {
		to[p] = new(big.Int)
	}
	for p, ways := range at {
		switch {
		case p == i:
			for j := range k {
				to[j].Add(to[j], ways)
			}
		case p < k:
			to[i].Add(to[i], ways)
			stay := new(big.Int).Mul(ways, big.NewInt(int64(k-1)))
			to[p].Add(to[p], stay)
		default:
			stay := new(big.Int).Mul(ways, big.NewInt(int64(k)))
			to[p].Add(to[p], stay)
		}
	}
	return to
}

// SwapAnywhereChances returns the exact chance of each card (second index) at each position (first index) after the
// naive swap of n cards, as the nearest float64. The right shuffle has 1/n everywhere.
func SwapAnywhereChances(n int) [][]float64 {
	all := new(big.Int).Exp(big.NewInt(int64(n)), big.NewInt(int64(n)), nil)
	chances := make([][]float64, n)
	for p, cards := range matrix(n, n) {
		for _, ways := range cards {
			chance, _ := new(big.Rat).SetFrac(ways, all).Float64()
			chances[p] = append(chances[p], chance)
		}
	}
	return chances
}
