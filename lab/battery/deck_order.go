package battery

import (
	"fmt"
	"math/bits"
)

// A histogram counts one number that each game gives.
type histogram struct {
	test, name string
	law        []float64
	of         func(d *dealt) int // class of the law; −1 if this game gives none
	cells      []uint32
}

func newHistogram(test, name string, law []float64, of func(d *dealt) int) *histogram {
	return &histogram{test: test, name: name, law: law, of: of, cells: make([]uint32, len(law))}
}

func (c *histogram) add(d *dealt) {
	if class := c.of(d); class >= 0 {
		c.cells[min(class, len(c.cells)-1)]++
	}
}

func (c *histogram) merge(other counter) { sum(c.cells, other.(*histogram).cells) }

func (c *histogram) results(f *deckFindings) { f.fit(c.test, c.name, c.cells, c.law) }

// even counts classes that are all equally likely.
type even struct{ histogram }

func (c *even) merge(other counter) { sum(c.cells, other.(*even).cells) }

func (c *even) results(f *deckFindings) { f.flat(c.test, c.name, c.cells) }

// Classes at which laws with long tails are cut; the rest is far below 10^-9.
const (
	longestRun     = 14
	mostNeighbours = 24
)

// orderCounters returns the counters that read the order of the cards as a permutation: in a shoe every
// card counts, not every type.
func orderCounters(s Shape) []counter {
	n := s.Cards
	all := []counter{
		newHistogram("fixed points", "cards in their place", fixedPointLaw(n), fixedPoints),
		newHistogram("cycles", "number of cycles", recordLaw(n), cycles),
		newHistogram("rising sequences", "number, less one", descentLaw(n), rises),
		newHistogram("runs", "runs up, less one", descentLaw(n), descents),
		newHistogram("runs", "runs up and down", turnLaw(n), turns),
		newHistogram("runs", "longest run up", longestRunLaw(n, min(n, longestRun)), longestUp),
		newHistogram("inversions", "number", inversionLaw(n), inversions),
		newHistogram("adjacent cards", "cards followed by their successor", successionLaw(n), successions),
		newHistogram("adjacent cards", "cards alongside their neighbour", neighbourLaw(n, mostNeighbours), neighbours),
		newHistogram("guesses", "right guesses by one who sees each card", recordLaw(n), guesses),
		newHistogram("matches", "cards in the place of the game before", fixedPointLaw(n), matches(1)),
	}
	for _, hand := range handSizes(n) {
		all = append(all, newHistogram("overlaps", fmt.Sprintf("first %d cards of two games", hand),
			overlapLaw(n, hand), overlap(hand, 1)))
	}
	all = append(all, earlierCounters(s)...)
	if n <= maxOrders {
		orders := 1
		for i := 2; i <= n; i++ {
			orders *= i
		}
		all = append(all, &even{*newHistogram("orders", "every order", make([]float64, orders),
			func(d *dealt) int { return int(lehmer(d.card, n)) })})
	}
	return all
}

// maxOrders is the largest number of cards for which every order has a count of its own.
const maxOrders = 7

// handSizes are the hands whose overlap is counted: five cards, a quarter, a half.
func handSizes(n int) []int {
	if n < 20 {
		return []int{n / 2}
	}
	return []int{5, n / 4, n / 2}
}

func fixedPoints(d *dealt) (count int) {
	for i, c := range d.card {
		if int(c) == i {
			count++
		}
	}
	return count
}

func cycles(d *dealt) (count int) {
	clear(d.seen)
	for start := range d.card {
		if d.seen[start/64]>>(start%64)&1 != 0 {
			continue
		}
		count++
		for i := int32(start); ; {
			d.seen[i/64] |= 1 << (i % 64)
			if i = d.card[i]; int(i) == start {
				break
			}
		}
	}
	return count
}

// descents counts neighbours of which the second is lower.
func descents(d *dealt) int { return falls(d.card) }

// rises counts cards that come after their successor. Each of them ends a rising sequence, except the last sequence.
func rises(d *dealt) int { return falls(d.place) }

func falls(xs []int32) (count int) {
	last := xs[0]
	for _, x := range xs[1:] {
		count += int(uint32(x-last) >> 31)
		last = x
	}
	return count
}

func turns(d *dealt) int {
	last, falling := d.card[1], uint32(d.card[1]-d.card[0])>>31
	count := uint32(1)
	for _, x := range d.card[2:] {
		f := uint32(x-last) >> 31
		count += f ^ falling
		last, falling = x, f
	}
	return int(count)
}

func longestUp(d *dealt) int {
	longest, run, last := int32(1), int32(1), d.card[0]
	for _, x := range d.card[1:] {
		run = 1 + run&^((x-last)>>31) // a fall leaves 1
		longest = max(longest, run)
		last = x
	}
	return int(longest)
}

// inversions counts, for each card, the higher ones before it.
func inversions(d *dealt) (count int) {
	clear(d.seen)
	for _, v := range d.card {
		w := int(v / 64)
		count += bits.OnesCount64(d.seen[w] >> (v % 64))
		for _, word := range d.seen[w+1:] {
			count += bits.OnesCount64(word)
		}
		d.seen[w] |= 1 << (v % 64)
	}
	return count
}

func successions(d *dealt) (count int) {
	last := d.card[0]
	for _, x := range d.card[1:] {
		if x-last == 1 {
			count++
		}
		last = x
	}
	return count
}

func neighbours(d *dealt) (count int) {
	last := d.card[0]
	for _, x := range d.card[1:] {
		if uint32(x-last+1)&^2 == 0 { // 1 or −1
			count++
		}
		last = x
	}
	return count
}

// guesses plays against the deck: it guesses that the next card is the next higher one that is still in it.
// No strategy guesses more than H(n) cards of a fair deck on average.
func guesses(d *dealt) (count int) {
	clear(d.seen)
	guess := int32(0)
	for _, v := range d.card {
		if v == guess {
			count++
		}
		d.seen[v/64] |= 1 << (v % 64)
		guess = nextUnseen(d.seen, v, int32(len(d.card)))
	}
	return count
}

// matches counts the cards that are in the place that they had lag games before.
func matches(lag int) func(d *dealt) int {
	return func(d *dealt) (count int) {
		old := d.ago(lag)
		if old == nil {
			return -1
		}
		for i, c := range old.card {
			if c == d.card[i] {
				count++
			}
		}
		return count
	}
}

// overlap counts the cards among the first h that were among them lag games before.
func overlap(h, lag int) func(d *dealt) int {
	return func(d *dealt) (count int) {
		old := d.ago(lag)
		if old == nil {
			return -1
		}
		for _, c := range d.card[:h] {
			if int(old.place[c]) < h {
				count++
			}
		}
		return count
	}
}

// lehmer returns the rank, from 0, of the first t cards among all hands of t in order. The i-th digit
// counts the cards below the i-th card that are left, in the mixed radix n, n−1, …
func lehmer(card []int32, t int) (rank uint64) {
	n := len(card)
	for i, v := range card[:t] {
		left := v
		for _, before := range card[:i] {
			left -= int32(uint32(before-v) >> 31)
		}
		rank = rank*uint64(n-i) + uint64(left)
	}
	return rank
}
