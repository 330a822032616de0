package controls

import (
	"fmt"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
	"shuffled/lab"
	"shuffled/lab/battery"
)

// A Control is a shuffler and the verdict that the battery must give.
type Control struct {
	Name   string
	Fault  string        // the fault in a few words; "" for the true shuffler
	Finder string        // the test of the battery that must reject it
	Shape  battery.Shape // of one outcome
	Sample uint64        // number of outcomes at which it must be found
	maker  maker
}

// cards is the size of every deck here.
const cards = 52

var (
	deck = battery.Shape{Cards: cards, Decks: 1}
	shoe = battery.Shape{Cards: 8 * cards, Decks: 8}
	spin = battery.Shape{K: 37, Values: 1}
)

// All returns the true shufflers, then the faulty ones.
func All() []Control {
	return []Control{
		{"true-deck", "", "", deck, 500_000, honest(shuffle.Recipe{Cards: cards, Take: cards})},
		{"true-shoe", "", "", shoe, 5_000, honest(shuffle.Recipe{Cards: 8 * cards, Take: 8 * cards})},
		{"true-wheel", "", "", spin, 100_000, honest(shuffle.Recipe{Ranges: []uint32{37}})},

		{"any-position", "swaps with any position", "position × card", deck, 2_000, anyPosition.maker},
		{"never-last", "any position but the last: the fault of 1999", "position × card", deck, 2_000, neverLast.maker},
		{"sattolo", "off by one: never swaps a card with itself", "fixed points", deck, 1_000, sattolo.maker},
		{"short-range", "off by one: never moves the last card", "position × card", deck, 2_000, shortRange.maker},
		{"next-free", "takes the next card where one is gone", "adjacent cards", deck, 2_000, nextFree.maker},
		{"refilled", "drops cards that are gone, fills up in new order", "position × card", deck, 2_000,
			refilled.maker},
		{"few-swaps", "swaps two cards, 104 times", "fixed points", deck, 10_000, fewSwaps.maker},
		{"riffle-7", "seven riffles of a new deck", "rising sequences", deck, 5_000, riffles(7).maker},
		{"coin-sort", "sorts by a coin toss", "position × card", deck, 2_000, coinSort.maker},
		{"cut-only", "cuts a new deck, no more: each card 1/52 at each place", "position pairs", deck, 2_000,
			cutOnly.maker},
		{"even-only", "even orders only: each two cards right, too", "cycles", deck, 2_000, evenOnly},

		{"byte-modulo", "remainder of a byte", "position × card", deck, 20_000, picked(byteModulo)},
		{"byte-multiply", "a byte scaled by multiplication", "position × card", deck, 20_000, picked(byteMultiply)},
		{"float-rounded", "a 32-bit float scaled and rounded", "position × card", deck, 5_000, picked(floatRounded)},
		{"windows", "32-bit windows that overlap in 28", "position pairs", deck, 30_000, picked(windows)},
		{"low-bits", "remainders of a congruential generator", "position pairs", deck, 30_000, picked(lowBits)},

		{"seed-16", "a 16-bit seed", "duplicates", deck, 2_000, seeded(2)},
		{"seed-32", "a 32-bit seed", "duplicates", deck, 500_000, seeded(4)},
		{"clock-second", "the second as seed, seven decks in it", "duplicates", deck, 2_000, clockSecond},
		{"clock-milli", "the millisecond of the day as seed", "duplicates", deck, 75_000, clockMilli},
		{"rand-15", "a seed of 15 bits, as rand() gives it", "duplicates", deck, 2_000, clibrary(15)},
		{"rand-31", "rand() of 31 bits, whose low bits are poor", "position pairs", deck, 5_000, clibrary(31)},
		{"stuck-bit", "one of 64 lines of the generator stuck at 0", "position × card", deck, 50_000, stuck},

		{"repeated", "one game in 1,000 deals an old deck", "duplicates", deck, 10_000, repeated(1000)},
		{"not-twice", "never the same first card twice in a row", "next game", deck, 100_000, notTwice},
		{"carried", "four riffles of the cards of the last game", "next game", deck, 30_000, carried(4, 1)},
		{"carried-2", "the same of the game before that: two decks in turn", "earlier games", deck, 5_000,
			carried(4, 2)},
		{"carried-3", "the same with three decks in turn", "earlier games", deck, 5_000, carried(4, 3)},
		{"fitted", "in one deck of four a card is chosen to fit two others", "position triples", deck, 50_000,
			fitted(4)},
		{"dropped", "one deck in 1,000 has a card twice", "complete", deck, 5_000, dropped(1000)},
		{"stacked", "eight shuffled decks put on each other", "coupon collector", shoe, 1_000, stacked(8)},
		{"wheel-modulo", "remainder of a byte, 1..37", "frequency", spin, 200_000, wheel(37)},
	}
}

// Names returns the names of all controls.
func Names() (names []string) {
	for _, c := range All() {
		names = append(names, c.Name)
	}
	return names
}

// Named returns the controls with these names, all for none.
func Named(names ...string) ([]Control, error) {
	all := All()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Control
	for _, name := range names {
		found := false
		for _, c := range all {
			if c.Name == name {
				chosen, found = append(chosen, c), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no control is called %q", name)
		}
	}
	return chosen, nil
}

// True reports whether the control is the true shuffler, which must be accepted.
func (c Control) True() bool { return c.Fault == "" }

// A maker starts a shuffler that takes its bytes from a source.
type maker func(src *entropy.Source) lab.Maker

// honest is the shuffler that deals.
func honest(r shuffle.Recipe) maker {
	return func(src *entropy.Source) lab.Maker { return lab.NewMaker(src, r) }
}

// next makes a Maker of a function.
type next func() ([]uint32, error)

func (f next) Next() ([]uint32, error) { return f() }

// newOrder puts the cards in the order of a new deck.
func newOrder(deck []uint32) {
	for i := range deck {
		deck[i] = uint32(i)
	}
}

func swap(deck []uint32, i, j int) { deck[i], deck[j] = deck[j], deck[i] }
