package controls

import (
	"math/bits"
	"slices"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
	"shuffled/lab"
)

// moves is a way to order n cards by draws that are exactly uniform: draw i is
// 1..ranges[i]. Only the way is wrong.
type moves struct {
	ranges func(n int) []uint32
	move   func(deck, drawn []uint32) // deck is in new order at first
}

// maker draws as the daemon draws dice, and orders new decks by it.
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

// anyPosition swaps each card with one at any position. That gives n^n equally
// likely ways. Every prime factor of n^n is one of n; n! has all primes up to n, and
// one of those of n−1 does not divide n, for n > 2. So n! does not divide n^n: of the
// 27 ways to shuffle three cards, the six orders get 4, 5, 5, 5, 4 and 4. It is the fault written
// most often, because the loop looks more thorough than the right one.
var anyPosition = moves{
	ranges: func(n int) []uint32 { return same(n, uint32(n)) },
	move: func(deck, drawn []uint32) {
		for i, v := range drawn {
			swap(deck, i, int(v)-1)
		}
	},
}

// neverLast is the shuffle that an online card room published in 1999 to earn
// trust: any position, and a range short by one, random(n−1)+1. The last card
// is swapped away in the last step and never swapped back, so it is never the
// last card dealt. (The room's 32-bit seed was worse; see seed32.)
var neverLast = moves{
	ranges: func(n int) []uint32 { return same(n, uint32(n-1)) },
	move:   anyPosition.move,
}

// sattolo swaps each card with a later one, never with itself: the right loop
// with an index that is off by one. It makes a single cycle of all cards, a
// known algorithm of its own (Sattolo, 1986), and no card stays in its place.
var sattolo = moves{
	ranges: func(n int) []uint32 { return down(n-1, 1) },
	move: func(deck, drawn []uint32) {
		for i, v := range drawn {
			swap(deck, i, i+int(v))
		}
	},
}

// shortRange is the right loop with the other error of one: the range stops
// before the last card, which is never moved.
var shortRange = moves{
	ranges: func(n int) []uint32 { return down(n-1, 1) },
	move: func(deck, drawn []uint32) {
		for i, v := range drawn {
			swap(deck, i, i+int(v)-1)
		}
	},
}

// nextFree draws a card of all n and, when it is gone, takes the next one that is
// not, in new order. Gaps behind runs of gone cards fill faster, so neighbours
// of a new deck stay together.
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

// refilled draws cards of all n, drops those that are gone, and gives up after
// 3n tries: the cards that did not come are put behind the others as they lie in
// a new deck. A bound on tries like this one is there to keep a device from
// waiting, and is seldom looked at again.
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

// riffles is what a dealer's hands do, rounds times: cut near the middle, let the
// halves fall together, each card from either half as often as there are cards
// in it (the model of Gilbert, Shannon and Reeds). Each round at most doubles
// the number of rising sequences, and seven rounds, the number that everybody
// knows, leave a deck that a test can tell from a shuffled one.
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

// riffle lets the halves fall together: place i takes the next card of the upper
// half where half[i] is 1, of the lower where it is 2. The upper half has as many
// cards as there are ones, which cuts the deck as the model asks.
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

// fewSwaps swaps two random cards, 2n times. A card escapes all of it with
// probability (1−1/n)^4n, about 1.8 %, so that is how often it stays in its place
// too often. About n·ln n swaps would hide that (and then still not be exact).
var fewSwaps = moves{
	ranges: func(n int) []uint32 { return same(4*n, uint32(n)) },
	move: func(deck, drawn []uint32) {
		for ; len(drawn) > 0; drawn = drawn[2:] {
			swap(deck, int(drawn[0])-1, int(drawn[1])-1)
		}
	},
}

// cutOnly cuts a new deck at a random card. Each card is exactly as likely at each
// place, which is often taken for the definition of a fair shuffle; 52 orders are left
// of 52!, and one card tells all others.
var cutOnly = moves{
	ranges: func(n int) []uint32 { return []uint32{uint32(n)} },
	move: func(deck, drawn []uint32) {
		for i := range deck {
			deck[i] = (uint32(i) + drawn[0]) % uint32(len(deck))
		}
	},
}

// evenOnly is the true shuffle that changes its last two cards when the order is odd: a
// physical shuffle by a fixed even number of swaps does so. Each card is exactly as
// likely at each place, and each fifty cards at each fifty places. Half of the orders
// never come.
func evenOnly(src *entropy.Source) lab.Maker {
	deals := lab.NewMaker(src, wholeDeck)
	return next(func() ([]uint32, error) {
		deck, err := deals.Next()
		if err == nil && oddOrder(deck) {
			swap(deck, cards-2, cards-1)
		}
		return deck, err
	})
}

// oddOrder reports whether an order is an odd number of swaps away from a new deck.
func oddOrder(deck []uint32) (odd bool) {
	seen := make([]bool, len(deck))
	for i := range deck {
		for j := deck[i]; !seen[i] && int(j) != i; j = deck[j] {
			odd, seen[j] = !odd, true
		}
	}
	return odd
}

// coinSort sorts the deck by a comparison that is a coin toss. Sorting needs a
// consistent order; without one the result depends on the sort's own path, and
// cards stay near where they were. A vendor offered a choice of products this
// way in 2010, and one of them stood last in half of all cases. A comparison takes
// one toss; there are twice as many as sorting needs, and then it says "equal".
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
