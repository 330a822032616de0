package battery

import "fmt"

// earlierCounters compare a game with those 1 to memory games before it. Two decks or shoes that are dealt
// in turn, several generators behind one queue, and a shuffle of the cards of an earlier game each show at
// their own distance. For fair games each number is independent of that of any other game.
func earlierCounters(s Shape) (all []counter) {
	const test = "earlier games"
	n, hands := s.Cards, handSizes(s.Cards)
	hand := hands[len(hands)-1]
	for lag := 1; lag <= memory; lag++ {
		all = append(all, newHistogram(test, fmt.Sprintf("%d before: rising sequences of its order, less one", lag),
			descentLaw(n), risesSince(lag)))
		if lag == 1 {
			continue // the rest has tests of its own
		}
		all = append(all,
			newHistogram(test, fmt.Sprintf("%d before: cards in their place", lag), fixedPointLaw(n), matches(lag)),
			newHistogram(test, fmt.Sprintf("%d before: first %d cards of both", lag, hand), overlapLaw(n, hand),
				overlap(hand, lag)),
			&even{*newHistogram(test, fmt.Sprintf("%d before: first card of both", lag), make([]float64, s.types()),
				firstSince(lag, int32(s.types())))})
	}
	return all
}

// risesSince is rises of the order that leads from the game lag before to this one:
// its cards are those of that game, by place.
func risesSince(lag int) func(d *dealt) int {
	return func(d *dealt) (count int) {
		old := d.ago(lag)
		if old == nil {
			return -1
		}
		last := d.place[old.card[0]]
		for _, c := range old.card[1:] {
			at := d.place[c]
			count += int(uint32(at-last) >> 31)
			last = at
		}
		return count
	}
}

// firstSince is the difference of the first card's type to that of the game lag before, mod the number of types.
func firstSince(lag int, types int32) func(d *dealt) int {
	return func(d *dealt) int {
		old := d.ago(lag)
		if old == nil {
			return -1
		}
		diff := d.kind[0] - old.kind[0]
		return int(diff + types&(diff>>31))
	}
}
