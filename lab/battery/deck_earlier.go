package battery

import "fmt"

// earlierCounters look at what a game has of those 1 to memory games before it: two
// decks or shoes that are dealt in turn, several generators behind one queue, and a
// shuffle of cards as they were left all show at their own distance. For fair games
// each number is independent of that of any other game.
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

// firstSince is by how many types, mod their number, the first card is above that of
// the game lag before.
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
