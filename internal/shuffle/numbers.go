package shuffle

import "fmt"

// MaxNumbers is how many numbers are taken at most: each is a draw of a list. They are
// taken of 1..n, with n from MinCards to MaxRange.
const MaxNumbers = MaxRanges

// NumberRanges returns the ranges of the draws that take m of the numbers 1..n without repeats: n, n−1, … n−m+1
// (docs/SPEC.md section 2.5). A Recipe of them has the tape of m of n cards, and its values are draws: Numbers says
// which numbers these take.
func NumberRanges(n, m int) ([]uint32, error) {
	switch {
	case n < MinCards || n > MaxRange:
		return nil, fmt.Errorf("numbers are taken of %d to %d, not %d", MinCards, MaxRange, n)
	case m < 1 || m > min(n, MaxNumbers):
		return nil, fmt.Errorf("of %d numbers, 1 to %d are taken, not %d", n, min(n, MaxNumbers), m)
	}
	ranges := make([]uint32, m)
	for i := range ranges {
		ranges[i] = uint32(n - i)
	}
	return ranges, nil
}

// Numbers returns the numbers of 1..n that draws take, in the order of the draws, which may be the first few of a
// longer list. Draw i is 1..n−i, and there are at most as many as NumberRanges allows. It is the shuffle of n cards,
// cut short. It holds only the places that were swapped: every other place still has its own card.
func Numbers(n int, draws []uint32) ([]uint32, error) {
	if len(draws) == 0 {
		return nil, nil
	}
	ranges, err := NumberRanges(n, len(draws))
	if err != nil {
		return nil, err
	}
	moved := make(map[uint32]uint32, len(draws)) // by place, the card that lies there
	at := func(place uint32) uint32 {
		if card, ok := moved[place]; ok {
			return card
		}
		return place
	}
	numbers := make([]uint32, len(draws))
	for p, k := range ranges {
		if draws[p] < 1 || draws[p] > k {
			return nil, fmt.Errorf("draw %d is 1 to %d, not %d", p, k, draws[p])
		}
		i := uint32(p)
		j := i + draws[p] - 1
		numbers[p], moved[j] = 1+at(j), at(i)
	}
	return numbers, nil
}
