package controls

import (
	"shuffled/internal/entropy"
	"shuffled/lab"
)

// A picker makes a number 0..k−1 of generator output. These are wrong.
type picker func(k uint32) uint32

// picked is the right shuffle with numbers from a picker.
func picked(from func(*raw) picker) maker {
	return func(src *entropy.Source) lab.Maker {
		r, deck := &raw{src: src}, make([]uint32, cards)
		pick := from(r)
		return next(func() ([]uint32, error) {
			newOrder(deck)
			for i := range cards - 1 {
				swap(deck, i, i+int(pick(uint32(cards-i))))
			}
			return deck, r.err
		})
	}
}

// byteModulo takes the remainder of a byte. For k = 52 the first 48 values have
// five bytes each and the last four have four: +1.6 % and −18.8 %.
func byteModulo(r *raw) picker {
	return func(k uint32) uint32 { return uint32(r.byte()) % k }
}

// byteMultiply scales a byte by multiplication instead. As many values are too frequent, but they are
// spread over the range.
func byteMultiply(r *raw) picker {
	return func(k uint32) uint32 { return uint32(r.byte()) * k >> 8 }
}

// floatRounded scales through a 32-bit float and rounds to the nearest number. The first and the last
// number come half as often as the others.
func floatRounded(r *raw) picker {
	return func(k uint32) uint32 {
		unit := float32(r.word()>>8) / (1 << 24)
		return uint32(unit*float32(k-1) + 0.5)
	}
}

// windows scales a 32-bit register of which only four bits are new at each draw, as when a shift register is read
// faster than it is clocked. Each number alone is as uniform as 32 bits allow, but it depends on its neighbours.
func windows(r *raw) picker {
	register := r.word()
	var fresh byte
	odd := false
	return func(k uint32) uint32 {
		if odd = !odd; odd {
			fresh = r.byte()
		}
		register = register<<4 | uint32(fresh>>4)
		fresh <<= 4
		return uint32(uint64(register) * uint64(k) >> 32)
	}
}

// lowBits takes the remainder of the linear congruential generator that C manuals print as an example,
// seeded once from the entropy source. Its lowest bit alternates, the next has period four, and remainders
// by even numbers depend on these bits.
func lowBits(r *raw) picker {
	state := r.word()
	return func(k uint32) uint32 {
		state = state*1103515245 + 12345
		return state % k
	}
}
