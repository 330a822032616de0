package audit

// Places of docs/SPEC.md section 4, and the length of a tape, from the text.

// refStream reads lanes from the AES-256-CTR keystream of a seed.
type refStream struct {
	seed  []byte
	block uint64
	rest  []byte
}

func (s *refStream) lane(w int) (x uint64) {
	for range w {
		if len(s.rest) == 0 {
			s.rest = refBlock(s.seed, s.block)
			s.block++
		}
		x = x<<8 | uint64(s.rest[0])
		s.rest = s.rest[1:]
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
	s, p := &refStream{seed: seed}, make([]int, m)
	for i := range p {
		p[i] = i
	}
	for i := range p {
		j := i + int(s.draw(uint64(m-i))) - 1
		p[i], p[j] = p[j], p[i]
	}
	after := make([]int, m)
	for i := range after {
		after[i] = p[(i+c)%m]
	}
	return after
}

// refShift is what the places of a draw list show.
func refShift(seed []byte, ranges, values []uint32) (shown []uint32) {
	s := &refStream{seed: seed}
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
		ks = append(ks, c.Cards-i)
	}
	for _, k := range c.Ranges {
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
