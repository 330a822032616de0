package battery

import (
	"fmt"
	"math/big"
	"slices"
)

// A grouping divides the card types into classes: the suits and the ranks of a French deck, and as many
// parts of any other deck. A law depends only on the number of cards in each class.
type grouping struct {
	name string
	of   []int8 // class by card type
	size []int  // cards by class
}

// groupings returns suits and ranks. Suits follow each other, each with all its ranks (docs/SPEC.md section 3).
func groupings(s Shape) (suits, ranks grouping) {
	types := s.types()
	per := (types + 3) / 4
	suits, ranks = grouping{name: "suits"}, grouping{name: "ranks"}
	for t := range types {
		suits.put(t/per, s.Decks)
		ranks.put(t%per, s.Decks)
	}
	return suits, ranks
}

func (g *grouping) put(class, cards int) {
	g.of = append(g.of, int8(class))
	for len(g.size) <= class {
		g.size = append(g.size, 0)
	}
	g.size[class] += cards
}

// handCounters returns the counters that read cards in the order in which they are dealt.
func handCounters(s Shape) []counter {
	suits, ranks := groupings(s)
	var all []counter
	for _, g := range []grouping{suits, ranks} {
		all = append(all, newHistogram("coupon collector", "until all "+g.name+" are seen", couponLaw(g.size),
			coupons(g)))
	}
	for class := range suits.size {
		all = append(all, gapCounters(s, suits, class)...)
	}
	for hand := range min(maxHands, s.Cards/handSize) {
		at := hand * handSize
		for _, g := range []grouping{suits, ranks} {
			name := fmt.Sprintf("%s of positions %d to %d", g.name, at, at+handSize-1)
			law, class := handLaw(g.size)
			all = append(all, newHistogram("poker", name, law, hands(g, at, class)))
		}
	}
	for at := 0; at+blockSize <= s.Cards; at += blockSize {
		name := fmt.Sprintf("positions %d to %d", at, at+blockSize-1)
		all = append(all, &even{*newHistogram("permutation", name, make([]float64, 24), blockOrder(at))})
	}
	all = append(all, rankCounters(s)...)
	all = append(all, newKolmogorov("first cards", s.Cards, false), newKolmogorov("last cards", s.Cards, true))
	if s.types() == shoeTypes {
		all = append(all, betCounters(s)...)
	}
	return all
}

const (
	handSize  = 5
	maxHands  = 10 // hands of a shoe that are counted
	blockSize = 4
)

// coupons counts the cards dealt until every class has been seen.
func coupons(g grouping) func(d *dealt) int {
	met := make([]uint64, 2)
	return func(d *dealt) int {
		met[0], met[1] = 0, 0
		left := len(g.size)
		for i, k := range d.kind {
			class := g.of[k]
			if met[class/64]>>(class%64)&1 == 0 {
				met[class/64] |= 1 << (class % 64)
				if left--; left == 0 {
					return i + 1
				}
			}
		}
		return len(d.kind)
	}
}

// gapCounters count the other cards before the first of a suit, and between its first and its second.
func gapCounters(s Shape, g grouping, class int) []counter {
	gap := func(which int) func(d *dealt) int {
		return func(d *dealt) int {
			start, found := 0, 0
			for i, k := range d.kind {
				if int(g.of[k]) != class {
					continue
				}
				if found == which {
					return i - start
				}
				start = i + 1
				found++
			}
			return -1
		}
	}
	law := gapLaw(s.Cards, g.size[class])
	name := fmt.Sprintf("suit %d", class)
	all := []counter{newHistogram("gap", "before "+name, law, gap(0))}
	if g.size[class] > 1 {
		all = append(all, newHistogram("gap", "in "+name, law, gap(1)))
	}
	return all
}

// hands looks up the pattern of the five cards from position at.
func hands(g grouping, at int, class map[[handSize]int8]int) func(d *dealt) int {
	byCode := make([]int, handCodes)
	for pattern, c := range class {
		byCode[handCode(pattern)] = c
	}
	return func(d *dealt) int {
		var in [handSize]int8
		for i, k := range d.kind[at : at+handSize] {
			in[i] = g.of[k]
		}
		same := 0
		for i, a := range in {
			for _, b := range in[:i] {
				same += int(uint32(int32(a^b)-1) >> 31) // 1 if they are equal
			}
		}
		return byCode[same]
	}
}

// handCodes is one more than the most pairs of equal cards in a hand. Their number distinguishes the seven patterns of
// a poker hand: none 0, one pair 1, two pairs 2, three of a kind 3, full house 4, four of a kind 6, five 10.
const handCodes = handSize*(handSize-1)/2 + 1

func handCode(pattern [handSize]int8) (same int) {
	for _, m := range pattern {
		same += int(m) * int(m-1) / 2
	}
	return same
}

// handLaw returns the law of the patterns of a hand, by counting. A pattern lists the numbers of cards of
// one class, the largest first. It also returns the class of each possible pattern.
func handLaw(sizes []int) (law []float64, class map[[handSize]int8]int) {
	ways := map[[handSize]int8]*big.Int{{}: big.NewInt(1)}
	for _, size := range sizes {
		next := map[[handSize]int8]*big.Int{}
		for pattern, w := range ways {
			for m := 0; m <= size; m++ {
				to, ok := with(pattern, m)
				if !ok {
					break
				}
				if next[to] == nil {
					next[to] = new(big.Int)
				}
				next[to].Add(next[to], new(big.Int).Mul(w, binomial(size, m)))
			}
		}
		ways = next
	}
	var whole [][handSize]int8
	for pattern := range ways {
		if total := pattern[0] + pattern[1] + pattern[2] + pattern[3] + pattern[4]; total == handSize {
			whole = append(whole, pattern)
		}
	}
	slices.SortFunc(whole, func(a, b [handSize]int8) int { return handCode(a) - handCode(b) })
	counts := make([]*big.Int, len(whole))
	class = map[[handSize]int8]int{}
	for i, pattern := range whole {
		counts[i], class[pattern] = ways[pattern], i
	}
	return pick(counts), class
}

// with adds m cards of one more class to a pattern, if they fit into a hand.
func with(pattern [handSize]int8, m int) (to [handSize]int8, ok bool) {
	total := m
	for _, c := range pattern {
		total += int(c)
	}
	if total > handSize {
		return to, false
	}
	if m > 0 {
		i := 0
		for pattern[i] >= int8(m) {
			i++
		}
		copy(pattern[i+1:], pattern[i:])
		pattern[i] = int8(m)
	}
	return pattern, true
}

// blockOrder returns the rank of the order of the four cards from position at.
func blockOrder(at int) func(d *dealt) int {
	return func(d *dealt) (rank int) {
		b := d.card[at : at+blockSize]
		for i, v := range b {
			higher := 0
			for _, before := range b[:i] {
				higher += int(uint32(v-before) >> 31)
			}
			rank = rank*(i+1) + higher
		}
		return rank
	}
}

// rankCounters count the lowest, the middle and the highest of the first five cards, by card and not by type.
func rankCounters(s Shape) (all []counter) {
	m := min(handSize, s.Cards-1)
	for _, r := range []int{1, (m + 1) / 2, m} {
		of := func(d *dealt) int {
			var hand [handSize]int32
			h := hand[:copy(hand[:m], d.card)]
			slices.Sort(h)
			return int(h[r-1])
		}
		name := fmt.Sprintf("card %d in size of the first %d", r, m)
		all = append(all, newHistogram("order statistics", name, rankLaw(s.Cards, m, r), of))
	}
	return all
}
