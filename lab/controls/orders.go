package controls

import (
	"math/bits"
	"slices"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
	"shuffled/lab"
)

// moves is a way to order n cards by draws that are exactly uniform: draw i is 1..ranges[i]. Only the use
// of the draws is wrong.
type moves struct {
	ranges func(n int) []uint32
	move   func(deck, drawn []uint32) // deck is in new order at first
}

// maker draws like the daemon draws dice, and orders new decks by the draws.
func (m moves) maker(src *entropy.Source) lab.Maker {
	draws := lab.NewMaker(src, shuffle.Recipe{Ranges: m.ranges(cards)})
	deck := make([]uint32, cards)
	return next(func() ([]uint32, error) {
		drawn, err := draws.Next()
		if err != nil {
			return nil, err
		}
		newOrder(deck)
		m.move(deck, drawn)
		return deck, nil
	})
}

// same returns n times the range k.
func same(n int, k uint32) []uint32 { return slices.Repeat([]uint32{k}, n) }

// down returns the ranges from, from−1 … to.
func down(from, to int) (ranges []uint32) {
	for k := from; k >= to; k-- {
		ranges = append(ranges, uint32(k))
	}
	return ranges
}

// anyPosition swaps each card with one at any position. That gives n^n equally likely ways. Every prime
// factor of n^n is one of n. For n > 2, n! has a prime factor of n−1, which does not divide n. Therefore n!
// does not divide n^n: of the 27 ways to shuffle three cards, the six orders get 4, 5, 5, 5, 4 and 4. It is
// the most frequent fault, because the loop looks more thorough than the right one.
var anyPosition = moves{
	ranges: func(n int) []uint32 { return same(n, uint32(n)) },
	move: func(deck, drawn []uint32) {
		for i, v := range drawn {
			swap(deck, i, int(v)-1)
		}
	},
}

// neverLast is the shuffle that an online card room published in 1999 to gain trust: any position, and a
// range short by one, random(n−1)+1. The last card is swapped away in the last step and never swapped back,
// so it is never the last card dealt. (The room's 32-bit seed was worse; see seed32.)
var neverLast = moves{
	ranges: func(n int) []uint32 { return same(n, uint32(n-1)) },
	move:   anyPosition.move,
}

// sattolo swaps each card with a later one, never with itself: the right loop with an index that is off by one. It
// makes a single cycle of all cards, which is a known algorithm (Sattolo, 1986), and no card stays in its place.
var sattolo = moves{
	ranges: func(n int) []uint32 { return down(n-1, 1) },
	move: func(deck, drawn []uint32) {
		for i, v := range drawn {
			swap(deck, i, i+int(v))
		}
	},
}

// shortRange is the right loop with the other error of one: the range stops before the last card, which is never moved.
var shortRange = moves{
	ranges: func(n int) []uint32 { return down(n-1, 1) },
	move: func(deck, drawn []uint32) {
		for i, v := range drawn {
			swap(deck, i, i+int(v)-1)
		}
	},
}

// nextFree draws a card of all n. If it is already dealt, it takes the next one that is not, in the order of a new
// deck. Cards after runs of dealt cards are taken more often, so neighbours of a new deck stay together.
var nextFree = moves{
	ranges: func(n int) []uint32 { return same(n, uint32(n)) },
	move: func(deck, drawn []uint32) {
		gone := make([]bool, len(deck))
		for i, v := range drawn {
			card := int(v) - 1
			for gone[card] {
				card = (card + 1) % len(deck)
			}
			deck[i], gone[card] = uint32(card), true
		}
	},
}

// refilled draws cards of all n, drops those that are already dealt, and gives up after 3n tries. The missing cards
// follow the others in the order of a new deck. Devices have such a bound on tries so that they do not wait.
var refilled = moves{
	ranges: func(n int) []uint32 { return same(3*n, uint32(n)) },
	move: func(deck, drawn []uint32) {
		gone, at := make([]bool, len(deck)), 0
		take := func(card int) {
			if !gone[card] {
				deck[at], gone[card] = uint32(card), true
				at++
			}
		}
		for _, v := range drawn {
			take(int(v) - 1)
		}
		for card := range deck {
			take(card)
		}
	},
}

// riffles does what a dealer's hands do, rounds times: cut near the middle and interleave the halves; the
// next card comes from a half with a probability in proportion to its cards (the model of Gilbert, Shannon
// and Reeds). Each round at most doubles the number of rising sequences. After seven rounds, the well-known
// number, a test can still distinguish the deck from a shuffled one.
func riffles(rounds int) moves {
	return moves{
		ranges: func(n int) []uint32 { return same(rounds*n, 2) },
		move: func(deck, drawn []uint32) {
			for n := len(deck); len(drawn) > 0; drawn = drawn[n:] {
				riffle(deck, drawn[:n])
			}
		},
	}
}

// riffle interleaves the halves: place i takes the next card of the upper half if half[i] is 1, and of the lower if it
// is 2. The upper half has as many cards as there are ones, which cuts the deck as in the model.
func riffle(deck, half []uint32) {
	from, upper, lower := slices.Clone(deck), 0, 0
	for _, h := range half {
		if h == 1 {
			lower++
		}
	}
	for i, h := range half {
		if h == 1 {
			deck[i] = from[upper]
			upper++
		} else {
			deck[i] = from[lower]
			lower++
		}
	}
}

// fewSwaps swaps two random cards, 2n times. No swap moves a card with probability (1−1/n)^4n, about 1.8 %, so a card
// stays in its place too often by about that. About n·ln n swaps would hide this (and would still not be exact).
var fewSwaps = moves{
	ranges: func(n int) []uint32 { return same(4*n, uint32(n)) },
	move: func(deck, drawn []uint32) {
		for ; len(drawn) > 0; drawn = drawn[2:] {
			swap(deck, int(drawn[0])-1, int(drawn[1])-1)
		}
	},
}

// cutOnly cuts a new deck at a random card. Every card is equally likely at every place, which is often taken as the
// definition of a fair shuffle. Only 52 of the 52! orders can occur, and one card determines all others.
var cutOnly = moves{
	ranges: func(n int) []uint32 { return []uint32{uint32(n)} },
	move: func(deck, drawn []uint32) {
		for i := range deck {
			deck[i] = (uint32(i) + drawn[0]) % uint32(len(deck))
		}
	},
}

// evenOnly is the true shuffle, but swaps its last two cards if the order is odd. A physical shuffle by a
// fixed even number of swaps has the same fault. Every card is equally likely at every place, and any fifty
// cards at any fifty places. Half of the orders never occur.
func evenOnly(src *entropy.Source) lab.Maker {
	deals := lab.NewMaker(src, wholeDeck)
	return next(func() ([]uint32, error) {
		deck, err := deals.Next()
		if err == nil && Odd(deck) {
			swap(deck, cards-2, cards-1)
		}
		return deck, err
	})
}

// Odd reports whether an order is an odd number of swaps away from a new deck.
func Odd(deck []uint32) (odd bool) {
	seen := make([]bool, len(deck))
	for i := range deck {
		for j := deck[i]; !seen[i] && int(j) != i; j = deck[j] {
			odd, seen[j] = !odd, true
		}
	}
	return odd
}

// coinSort sorts the deck by a comparison that is a coin toss. Sorting needs a consistent order. Without
// one the result depends on the sort's own steps, and cards stay near their old places. A vendor ordered a
// choice of products in this way in 2010, and one of them was last in half of all cases. A comparison takes
// one toss. There are twice as many tosses as sorting needs; after them it says "equal".
var coinSort = moves{
	ranges: func(n int) []uint32 { return same(2*n*bits.Len(uint(n)), 2) },
	move: func(deck, drawn []uint32) {
		slices.SortFunc(deck, func(_, _ uint32) int {
			if len(drawn) == 0 {
				return 0
			}
			toss := drawn[0]
			drawn = drawn[1:]
			return 2*int(toss) - 3 // 1 or 2: less or more
		})
	},
}
