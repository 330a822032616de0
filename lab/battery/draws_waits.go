package battery

import "math"

// The tests of this file wait for letters to come. Unfinished waits at the end of a worker are not counted.

// classesAtMost is the number of classes into which lengths are merged. A few, about equally likely classes
// find more than many rare ones.
const classesAtMost = 24

// gaps counts, for each letter, the others between two of it.
type gaps struct {
	of     alphabet
	probs  []float64
	counts [][]uint64
	at     uint64   // letters read
	last   []uint64 // where each letter came last, from 1; 0: not yet
}

func newGaps(of alphabet) []drawTest {
	g := &gaps{of: of, probs: gapProbs(of.size, 12*int(of.size)), counts: make([][]uint64, of.size),
		last: make([]uint64, of.size)}
	for l := range g.counts {
		g.counts[l] = make([]uint64, len(g.probs))
	}
	return []drawTest{g}
}

func (g *gaps) feed(xs []uint32) {
	for _, l := range xs {
		g.at++
		if before := g.last[l]; before > 0 {
			g.counts[l][min(g.at-before-1, uint64(len(g.probs)-1))]++
		}
		g.last[l] = g.at
	}
}

func (g *gaps) merge(other drawTest) {
	for l, counts := range other.(*gaps).counts {
		addCounts(g.counts[l], counts)
	}
}

func (g *gaps) results(f *findings) {
	for l, counts := range g.counts {
		f.chiSquare("gap", g.of.name(uint32(l)), counts, g.probs, classesAtMost)
	}
}

// coupon counts the letters until all have come.
type coupon struct {
	size   uint32
	probs  []float64
	counts []uint64
	read   uint64 // letters
	seen   uint64 // a letter is below 64
	had    uint32
	length int
}

func newCoupon(size uint32) *coupon {
	classes := int(float64(size) * (math.Log(float64(size)) + 8))
	return &coupon{size: size, probs: couponProbs(size, classes), counts: make([]uint64, classes)}
}

func (c *coupon) feed(xs []uint32) {
	c.read += uint64(len(xs))
	for _, l := range xs {
		c.length++
		if c.seen&(1<<l) != 0 {
			continue
		}
		c.seen |= 1 << l
		if c.had++; c.had == c.size {
			c.counts[min(c.length-int(c.size), len(c.counts)-1)]++
			c.seen, c.had, c.length = 0, 0, 0
		}
	}
}

func (c *coupon) merge(other drawTest) {
	addCounts(c.counts, other.(*coupon).counts)
	c.read += other.(*coupon).read
}

// results decides by the number of letters read, not by the number of complete sets, because many complete
// sets mean short sets.
func (c *coupon) results(f *findings) {
	mean := 0.0 // letters per set
	for i, p := range c.probs {
		mean += p * float64(int(c.size)+i)
	}
	if least := 4 * minExpected * mean; float64(c.read) < least {
		f.few("coupon collector", "all", int(least))
		return
	}
	f.chiSquare("coupon collector", "all", c.counts, c.probs, classesAtMost)
}
