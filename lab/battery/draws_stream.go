package battery

import (
	"fmt"
	"math"
)

// The tests of this file keep a state from value to value. Unfinished runs and rounds at the end of a
// worker are not counted.

// runs counts the lengths of strictly monotonic runs. The value that ends a run is left out (see runProbs);
// a tie ends a run.
type runs struct {
	name   string
	down   bool
	probs  []float64
	counts []uint64
	length int // of the run so far, 0: the next value begins one
	last   uint32
}

func newRuns(name string, k uint32, down bool) *runs {
	const classes = 12
	return &runs{name: name, down: down, probs: runProbs(k, classes), counts: make([]uint64, classes)}
}

func (r *runs) feed(xs []uint32) {
	for _, x := range xs {
		if r.length > 0 && (x == r.last || x < r.last != r.down) {
			r.counts[min(r.length, len(r.counts))-1]++
			r.length = 0
			continue
		}
		r.length++
		r.last = x
	}
}

func (r *runs) merge(other drawTest) { addCounts(r.counts, other.(*runs).counts) }
func (r *runs) results(f *findings)  { f.chiSquare("runs", r.name, r.counts, r.probs, 0) }

// overlaps counts overlapping pairs of neighbours. Its chi-square less that of single letters is chi-square
// itself with n² − n degrees of freedom (Good, 1953).
type overlaps struct {
	size   uint32
	counts []uint64
	last   uint32
	begun  bool
}

func newOverlaps(size uint32) *overlaps {
	return &overlaps{size: size, counts: make([]uint64, size*size)}
}

func (o *overlaps) feed(xs []uint32) {
	for _, l := range xs {
		if o.begun {
			o.counts[o.last*o.size+l]++
		}
		o.last, o.begun = l, true
	}
}

func (o *overlaps) merge(other drawTest) { addCounts(o.counts, other.(*overlaps).counts) }

func (o *overlaps) results(f *findings) {
	single := make([]uint64, o.size)
	for i, n := range o.counts {
		single[uint32(i)/o.size] += n
	}
	n := total(o.counts)
	cells := float64(len(o.counts))
	if float64(n) < minExpected*cells {
		f.few("overlaps", "all", minExpected*len(o.counts))
		return
	}
	x := chiSquareOf(o.counts, uniform(len(o.counts))) - chiSquareOf(single, uniform(len(single)))
	f.chiSquared("overlaps", "all", x, cells-float64(o.size), n)
}

// lags are the distances at which values are compared.
const lags = 8

// correlation sums products of values lag apart, less their mean and in units of their standard deviation.
// For independent values n products have exactly mean 0 and variance n, because they are uncorrelated.
type correlation struct {
	mean, unit float64
	sums       [lags]float64
	products   [lags]uint64
	past       [lags]float64 // the last values, newest first
	had        int
}

func newCorrelation(k uint32) *correlation {
	// A value uniform on 0..k−1 has the variance (k² − 1)/12.
	return &correlation{mean: (float64(k) - 1) / 2, unit: math.Sqrt((float64(k)*float64(k) - 1) / 12)}
}

func (c *correlation) feed(xs []uint32) {
	for _, v := range xs {
		x := (float64(v) - c.mean) / c.unit
		for lag := range c.had {
			c.sums[lag] += x * c.past[lag]
			c.products[lag]++
		}
		copy(c.past[1:], c.past[:])
		c.past[0] = x
		c.had = min(c.had+1, lags)
	}
}

func (c *correlation) merge(other drawTest) {
	o := other.(*correlation)
	for lag := range c.sums {
		c.sums[lag] += o.sums[lag]
		c.products[lag] += o.products[lag]
	}
}

func (c *correlation) results(f *findings) {
	for lag, sum := range c.sums {
		f.correlated("serial correlation", fmt.Sprintf("lag %d", lag+1), sum, c.products[lag])
	}
}

// duplicates counts values equal to the one lag before. For equally likely values
// these events are independent, of probability 1/k each.
type duplicates struct {
	k     uint32
	equal [lags]uint64
	pairs [lags]uint64
	past  [lags]uint32
	had   int
}

func newDuplicates(k uint32) []drawTest { return []drawTest{&duplicates{k: k}} }

func (d *duplicates) feed(xs []uint32) {
	for _, x := range xs {
		for lag := range d.had {
			if d.past[lag] == x {
				d.equal[lag]++
			}
			d.pairs[lag]++
		}
		copy(d.past[1:], d.past[:])
		d.past[0] = x
		d.had = min(d.had+1, lags)
	}
}

func (d *duplicates) merge(other drawTest) {
	o := other.(*duplicates)
	addCounts(d.equal[:], o.equal[:])
	addCounts(d.pairs[:], o.pairs[:])
}

func (d *duplicates) results(f *findings) {
	for lag := range d.equal {
		f.binomial("duplicates", fmt.Sprintf("values %d apart", lag+1), d.equal[lag], d.pairs[lag], 1/float64(d.k))
	}
}

// collisions throws balls into about 2^20 urns; a few letters make one ball. It counts balls that fall into
// an occupied urn, with 16 urns for each ball of a round.
type collisions struct {
	size    uint32
	letters int // per ball
	urns    uint32
	balls   int // per round

	taken  []uint64
	urn    uint32
	read   int    // letters of the ball so far
	thrown int    // balls of the round so far
	found  uint64 // collisions of the round so far
	sum    uint64 // of all rounds that are complete
	rounds uint64
}

func newCollisions(size uint32) *collisions {
	c := &collisions{size: size, urns: 1}
	for c.urns*size <= 1<<20 {
		c.urns *= size
		c.letters++
	}
	c.balls = int(c.urns / 16)
	c.taken = make([]uint64, c.urns/64+1)
	return c
}

func (c *collisions) feed(xs []uint32) {
	for _, l := range xs {
		c.urn = c.urn*c.size + l
		if c.read++; c.read == c.letters {
			c.throw(c.urn)
			c.urn, c.read = 0, 0
		}
	}
}

func (c *collisions) throw(urn uint32) {
	bit := uint64(1) << (urn % 64)
	if c.taken[urn/64]&bit != 0 {
		c.found++
	}
	c.taken[urn/64] |= bit
	if c.thrown++; c.thrown == c.balls {
		c.sum += c.found
		c.rounds++
		c.thrown, c.found = 0, 0
		clear(c.taken)
	}
}

func (c *collisions) merge(other drawTest) {
	o := other.(*collisions)
	c.sum += o.sum
	c.rounds += o.rounds
}

func (c *collisions) results(f *findings) {
	if c.rounds == 0 {
		f.few("collisions", "all", c.balls*c.letters)
		return
	}
	mean, variance := collisionMoments(float64(c.urns), float64(c.balls))
	z := (float64(c.sum) - float64(c.rounds)*mean) / math.Sqrt(float64(c.rounds)*variance)
	f.normal("collisions", "all", z, c.rounds*uint64(c.balls), "a mean number of collisions off by",
		math.Sqrt(variance/float64(c.rounds))/mean)
}

// minKolmogorov is the smallest K for which the Kolmogorov–Smirnov distance is used. Ties make the distance
// smaller, never larger, so its p-values are never too small.
const minKolmogorov = 256

// kolmogorov compares the distribution function of the bins of counts.
type kolmogorov struct {
	counts *blocks
	probs  []float64
}

func (*kolmogorov) feed([]uint32)  {}
func (*kolmogorov) merge(drawTest) {}

func (k *kolmogorov) results(f *findings) {
	n := total(k.counts.counts)
	if n < 1000 {
		f.few("Kolmogorov–Smirnov", "all", 1000)
		return
	}
	var above, below, seen, want float64
	for i, c := range k.counts.counts {
		seen += float64(c) / float64(n)
		want += k.probs[i]
		above, below = max(above, seen-want), max(below, want-seen)
	}
	f.distance("Kolmogorov–Smirnov", "all", above, below, n)
}
