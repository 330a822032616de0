package battery

import (
	"fmt"
	"math/bits"
)

// MaxOutcomes is the largest number of outcomes that one battery takes.
const MaxOutcomes = 1<<32 - 1

// A dealt outcome is a deck or a shoe in the forms that counters need.
type dealt struct {
	card   []int32  // card by position, 0..n−1, all different
	kind   []int32  // card type by position; the same as card in a single deck
	place  []int32  // position by card
	seen   []uint64 // room for a set of cards
	game   uint64   // its number within its worker, from 0
	before *dealt   // the game before; nil for the first
}

// memory is the number of earlier games with which the battery compares a game.
const memory = 8

// ago returns the game that many before d, up to memory; nil if there is none.
func (d *dealt) ago(games int) *dealt {
	for range games {
		if d = d.before; d == nil {
			return nil
		}
	}
	return d
}

func newDealt(s Shape) *dealt {
	d := &dealt{
		card:  make([]int32, s.Cards),
		place: make([]int32, s.Cards),
		seen:  make([]uint64, (s.Cards+63)/64),
	}
	d.kind = d.card
	if s.Decks > 1 {
		d.kind = make([]int32, s.Cards)
	}
	return d
}

// set takes an outcome and reports whether it is an order of all cards.
func (d *dealt) set(outcome []uint32, types int32) bool {
	n := len(d.card)
	if len(outcome) != n {
		return false
	}
	clear(d.seen)
	for i, v := range outcome {
		if v >= uint32(n) || d.seen[v/64]>>(v%64)&1 != 0 {
			return false
		}
		d.seen[v/64] |= 1 << (v % 64)
		d.card[i] = int32(v)
		d.place[v] = int32(i)
	}
	if int(types) < n {
		for i, v := range d.card {
			d.kind[i] = v % types
		}
	}
	return true
}

// A counter counts for one family of tests, or for one test.
type counter interface {
	add(d *dealt)
	merge(other counter) // other is of the same shape and kind
	results(f *deckFindings)
}

// deckTally counts decks and shoes.
type deckTally struct {
	shape    Shape
	outcomes uint64 // all outcomes that were added
	broken   uint64 // outcomes that are not an order of the cards
	place    *placement
	counters []counter // place is the first
	games    [memory + 1]*dealt
	now      int // the element of games into which the next outcome goes
}

func newDeckTally(s Shape) *deckTally {
	t := &deckTally{shape: s, place: newPlacement(s)}
	for i := range t.games {
		t.games[i] = newDealt(s)
	}
	t.counters = append(t.counters, t.place)
	t.counters = append(t.counters, pairCounters(s)...)
	t.counters = append(t.counters, orderCounters(s)...)
	t.counters = append(t.counters, handCounters(s)...)
	t.counters = append(t.counters, newRepeated(s))
	return t
}

func (t *deckTally) add(outcome []uint32) {
	if t.outcomes == MaxOutcomes {
		panic("battery: more than 2^32-1 outcomes")
	}
	t.outcomes++
	game := t.games[t.now]
	if !game.set(outcome, int32(t.shape.types())) {
		t.broken++
		return
	}
	for _, c := range t.counters {
		c.add(game)
	}
	t.now = (t.now + 1) % len(t.games)
	next := t.games[t.now]
	next.before, next.game = game, game.game+1
}

func (t *deckTally) merge(other tally) {
	o := other.(*deckTally)
	if t.outcomes+o.outcomes > MaxOutcomes {
		panic("battery: more than 2^32-1 outcomes")
	}
	t.outcomes += o.outcomes
	t.broken += o.broken
	for i, c := range t.counters {
		c.merge(o.counters[i])
	}
}

func (t *deckTally) report(r *Report) {
	f := deckFindings{lambdas: map[[2]float64]float64{}}
	f.complete(t.broken, t.outcomes)
	for _, c := range t.counters {
		c.results(&f)
	}
	r.Outcomes, r.Results, r.Untested = t.outcomes, f.concluded(), f.skipped
	r.Positions = t.place.positions()
	r.Means = means(r.Positions)
}

// complete adds the test that every outcome holds every card once. A single outcome that does not is a
// fault without any statistics.
func (f *deckFindings) complete(broken, outcomes uint64) {
	p := 1.0
	if broken > 0 {
		p = 0
	}
	f.found = append(f.found, finding{
		Result{Test: "complete", Name: "every card once", Statistic: float64(broken), P: p, N: outcomes},
		func(float64) string { return "one outcome that is not an order of the cards" },
	})
}

// sum adds counts cell by cell.
func sum[C uint32 | uint64 | int64 | float64](to, from []C) {
	for i, c := range from {
		to[i] += c
	}
}

// nextUnseen returns the lowest card above v that is not in the set, wrapping around, or v itself if the
// set holds all others.
func nextUnseen(seen []uint64, v, n int32) int32 {
	for i, w := 0, int(v+1)/64; i <= len(seen); i, w = i+1, w+1 {
		if w >= len(seen) {
			w = 0
		}
		free := ^seen[w]
		if w == len(seen)-1 && n%64 != 0 {
			free &= 1<<(n%64) - 1
		}
		if i == 0 && w == int(v+1)/64 {
			free &= ^uint64(0) << ((v + 1) % 64)
		}
		if free != 0 {
			return int32(w*64 + bits.TrailingZeros64(free))
		}
	}
	return v
}

// ordinal names a position.
func ordinal(i int) string { return fmt.Sprintf("position %d", i) }
