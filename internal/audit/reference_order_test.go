package audit

import "slices"

// Orders and places of docs/SPEC.md sections 2 to 4 from the text.

// refStream reads lanes from a source of bytes.
type refStream struct{ next func() byte }

// refKeystream is the AES-256-CTR keystream of a seed.
func refKeystream(seed []byte) *refStream {
	var block uint64
	var rest []byte
	return &refStream{func() byte {
		if len(rest) == 0 {
			rest = refBlock(seed, block)
			block++
		}
		b := rest[0]
		rest = rest[1:]
		return b
	}}
}

// refTape is a tape; it panics when it runs out.
func refTape(tape []byte) *refStream {
	return &refStream{func() byte {
		b := tape[0]
		tape = tape[1:]
		return b
	}}
}

func (s *refStream) lane(w int) (x uint64) {
	for range w {
		x = x<<8 | uint64(s.next())
	}
	return x
}

// refWidth is the lane width of section 2.1.
func refWidth(k uint64) int {
	switch {
	case k == 1:
		return 0
	case k <= 64:
		return 1
	case k <= 16384:
		return 2
	}
	return 4
}

func (s *refStream) draw(k uint64) uint64 {
	w := refWidth(k)
	if w == 0 {
		return 1
	}
	limit := uint64(1) << (8 * w) / k * k
	for {
		if x := s.lane(w); x < limit {
			return 1 + x%k
		}
	}
}

// shuffle takes m of n cards, section 2.2.
func (s *refStream) shuffle(n, m int) []int {
	a := make([]int, n)
	for i := range a {
		a[i] = i
	}
	for i := range m {
		j := i + int(s.draw(uint64(n-i))) - 1
		a[i], a[j] = a[j], a[i]
	}
	return a[:m]
}

// refSpend is what a tape gives: the values by position, and a drawn end_at.
func refSpend(c *refContext, tape []byte) (values []uint32, endAt uint64) {
	s := refTape(tape)
	if c.Kind == 1 {
		for _, card := range s.shuffle(int(c.Cards), int(c.Take)) {
			values = append(values, uint32(card))
		}
	}
	for _, k := range refRanges(c) {
		values = append(values, uint32(s.draw(uint64(k))))
	}
	if c.EndAt.Form == 2 {
		endAt = c.EndAt.Lo + s.draw(c.EndAt.Hi-c.EndAt.Lo+1) - 1
	}
	return values, endAt
}

// refRanges are those of the draws of a draw list, or of numbers (2.5).
func refRanges(c *refContext) []uint32 {
	ranges := slices.Clone(c.Ranges)
	if c.Kind == 3 {
		for i := range c.Take {
			ranges = append(ranges, uint32(c.Of-i))
		}
	}
	return ranges
}

// refNumbers is section 2.5, without an array of the n numbers: the swaps are undone from
// the last to the first, for one place after the other.
func refNumbers(draws []uint32) (numbers []uint32) {
	for i := range draws {
		at := i + int(draws[i]) - 1
		for p := i - 1; p >= 0; p-- {
			switch j := p + int(draws[p]) - 1; at {
			case p:
				at = j
			case j:
				at = p
			}
		}
		numbers = append(numbers, uint32(at)+1)
	}
	return numbers
}

// refSeed is section 4.2; a cut is no part of it.
func refSeed(commit []byte, values []refValue) []byte {
	seed := append([]byte("shuffled/v1/mix\000"), refEntryLeaf(commit)...)
	for _, v := range values {
		if v.Source != 3 {
			seed = append(seed, v.Value...)
		}
	}
	return refSum(seed)
}

// refPositions is P of section 4.3 after the cut c, by place.
func refPositions(seed []byte, m, c int) []int {
	p := refKeystream(seed).shuffle(m, m)
	after := make([]int, m)
	for i := range after {
		after[i] = p[(i+c)%m]
	}
	return after
}

// refShift is what the places of a draw list show.
func refShift(seed []byte, ranges, values []uint32) (shown []uint32) {
	s := refKeystream(seed)
	for i, k := range ranges {
		u := s.draw(uint64(k))
		shown = append(shown, uint32(1+(uint64(values[i])-1+u-1)%uint64(k)))
	}
	return shown
}

// refChild is section 3.3: a child's values, given the parent's.
func refChild(parent []uint32, positions []uint16, indexes []uint32) (values []uint32) {
	for _, x := range indexes {
		values = append(values, parent[positions[x]])
	}
	return values
}

// refTapeLen is L of section 2.3 for a context.
func refTapeLen(c *refContext) int {
	var ks []uint64
	for i := range c.Take {
		if c.Kind == 1 {
			ks = append(ks, c.Cards-i)
		}
	}
	for _, k := range refRanges(c) {
		ks = append(ks, uint64(k))
	}
	if c.EndAt.Form == 2 {
		ks = append(ks, c.EndAt.Hi-c.EndAt.Lo+1)
	}
	sum, widest := 0, 1
	for _, k := range ks {
		sum += refWidth(k)
		widest = max(widest, refWidth(k))
	}
	return sum + (sum+1)/2 + 52*widest
}
