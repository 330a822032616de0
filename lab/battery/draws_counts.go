package battery

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// blocks cuts what it reads into blocks that do not overlap, puts each into a
// class, and compares the counts with their exact probabilities by chi-square.
type blocks struct {
	test, name string
	size       int                      // values per block
	class      func(block []uint32) int // below len(probs), or −1 for a block left out
	probs      []float64
	most       int // merge neighbouring classes down to this many about equally likely ones; 0: only if counts are low

	counts []uint64
	rest   []uint32
}

func newBlocks(test, name string, size int, probs []float64, class func([]uint32) int) *blocks {
	return &blocks{test: test, name: name, size: size, class: class, probs: probs, counts: make([]uint64, len(probs))}
}

func (b *blocks) feed(xs []uint32) {
	if len(b.rest) > 0 {
		n := min(b.size-len(b.rest), len(xs))
		b.rest = append(b.rest, xs[:n]...)
		xs = xs[n:]
		if len(b.rest) < b.size {
			return
		}
		b.count(b.rest)
		b.rest = b.rest[:0]
	}
	for ; len(xs) >= b.size; xs = xs[b.size:] {
		b.count(xs[:b.size])
	}
	b.rest = append(b.rest, xs...)
}

func (b *blocks) count(block []uint32) {
	if c := b.class(block); c >= 0 {
		b.counts[c]++
	}
}

func (b *blocks) merge(other drawTest) { addCounts(b.counts, other.(*blocks).counts) }
func (b *blocks) results(f *findings)  { f.chiSquare(b.test, b.name, b.counts, b.probs, b.most) }

func addCounts(to, from []uint64) {
	for i, n := range from {
		to[i] += n
	}
}

// uniform returns n equal probabilities.
func uniform(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// maxBins is the number of bins in which the values of a large K are counted; up to it every value has its own bin.
const maxBins = 1 << 12

// bins cuts 0..K−1 into at most n bins, with their probabilities.
func (d *drawTally) bins(n int) (bin func(x uint32) int, probs []float64) {
	k := d.shape.K
	n = int(min(uint32(n), k))
	probs = binCounts(k, n)
	for i := range probs {
		probs[i] /= float64(k)
	}
	if n == int(k) {
		return func(x uint32) int { return int(x) }, probs
	}
	return func(x uint32) int { return int(uint64(x) * uint64(n) / uint64(k)) }, probs
}

// subsequences are the m for which every m-th value is tested alone.
var subsequences = []int{2, 3, 5, 7, 10}

// frequencyTests read the values as they are.
func (d *drawTally) frequencyTests() []drawTest {
	bin, probs := d.bins(maxBins)
	first := func(block []uint32) int { return bin(block[0]) }
	all := newBlocks("frequency", "all", 1, probs, first)
	tests := []drawTest{all}
	if d.shape.K >= minKolmogorov {
		tests = append(tests, &kolmogorov{counts: all, probs: probs})
	} else {
		d.skip("Kolmogorov–Smirnov", "values of 1..%d are too few to be nearly continuous: frequency counts each",
			d.shape.K)
	}
	for _, m := range subsequences {
		tests = append(tests, newBlocks("subsequence", fmt.Sprintf("every value %d", m), m, probs, first))
	}
	return tests
}

// letterTests read letters of the small alphabet.
func (d *drawTally) letterTests() []drawTest {
	n := d.small.size
	tests := []drawTest{
		newBlocks("serial pairs", "all", 2, uniform(int(n*n)), func(b []uint32) int { return int(b[0]*n + b[1]) }),
		newOverlaps(n),
		d.poker(),
		newCoupon(n),
		newCollisions(n),
	}
	tests = append(tests, d.poisson()...)
	return append(tests, newGaps(d.small)...)
}

// pokerHand is the number of values of a poker hand.
const pokerHand = 5

// poker counts the different letters of a hand.
func (d *drawTally) poker() drawTest {
	probs := occupancy(d.small.size, pokerHand)[1:]
	return newBlocks("poker hand", "all", pokerHand, probs, func(hand []uint32) int {
		var seen uint64 // a letter is below 64
		different := -1
		for _, l := range hand {
			if seen&(1<<l) == 0 {
				seen |= 1 << l
				different++
			}
		}
		return different
	})
}

// poisson counts the occurrences of one letter in a block in which one or a few are expected. The count is
// binomial, near a Poisson count for many letters.
func (d *drawTally) poisson() (tests []drawTest) {
	n := d.small.size
	size := int(max(n, 16))
	binomial := distuv.Binomial{N: float64(size), P: 1 / float64(n)}
	probs := make([]float64, size+1)
	for i := range probs {
		probs[i] = binomial.Prob(float64(i))
	}
	for _, mark := range slices.Compact([]uint32{0, n / 2, n - 1}) {
		tests = append(tests, newBlocks("Poisson count", d.small.name(mark), size, probs, func(b []uint32) int {
			c := 0
			for _, l := range b {
				if l == mark {
					c++
				}
			}
			return c
		}))
	}
	return tests
}

// Sizes of the blocks whose values are put in order.
const (
	maxPermuted = 4
	orderedSize = 5
	maximumOf   = 8
	orderRanges = 16
)

// orderTests compare values with each other.
func (d *drawTally) orderTests() []drawTest {
	tests := []drawTest{d.permutation(),
		d.orderStatistic("maximum of t", fmt.Sprintf("of %d", maximumOf), maximumOf, maximumOf)}
	for rank := 1; rank <= orderedSize; rank++ {
		tests = append(tests, d.orderStatistic("order statistic", fmt.Sprintf("%d of %d", rank, orderedSize),
			orderedSize, rank))
	}
	tests = append(tests, newRuns("up", d.shape.K, false), newRuns("down", d.shape.K, true), newCorrelation(d.shape.K))
	return append(tests, newDuplicates(d.shape.K)...)
}

// permutation counts the orders of small blocks. A block with a tie is left out:
// without one, all orders are equally likely for every K.
func (d *drawTally) permutation() drawTest {
	t := int(min(d.shape.K, maxPermuted))
	orders := 1
	for i := 2; i <= t; i++ {
		orders *= i
	}
	return newBlocks("permutation", fmt.Sprintf("blocks of %d without a tie", t), t, uniform(orders), orderOf)
}

// orderOf numbers the order of a block by how many earlier values are larger, and is −1 for a block with a tie.
func orderOf(block []uint32) int {
	order := 0
	for i, x := range block {
		larger := 0
		for _, y := range block[:i] {
			if y == x {
				return -1
			}
			if y > x {
				larger++
			}
		}
		order = order*(i+1) + larger
	}
	return order
}

// orderStatistic counts the rank-th smallest of t values.
func (d *drawTally) orderStatistic(test, name string, t, rank int) drawTest {
	cuts, probs := orderCuts(d.shape.K, t, rank, orderRanges)
	sorted := make([]uint32, t)
	return newBlocks(test, name, t, probs, func(block []uint32) int {
		copy(sorted, block)
		for i := 1; i < t; i++ {
			for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
				sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
			}
		}
		class, _ := slices.BinarySearch(cuts, sorted[rank-1])
		return class
	})
}
