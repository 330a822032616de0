package battery

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// kolmogorovBins is the number of steps at which the distribution function is compared. Between two of them
// it changes by less than the battery can detect.
const kolmogorovBins = 1 << 12

// orderRank counts the rank of the first cards among all possible ones: five of 52 have 311,875,200, all
// equally likely, so the distribution function is known everywhere.
type orderRank struct {
	name  string
	t     int    // cards that are ranked
	hands uint64 // the number of possible ranks
	last  bool   // the last cards, from the end
	room  []int32
	cells []uint32
}

func newKolmogorov(name string, n int, last bool) *orderRank {
	c := &orderRank{name: name, last: last, room: make([]int32, n), hands: 1}
	for c.t < n && c.hands < 1<<28 {
		c.hands *= uint64(n - c.t)
		c.t++
	}
	c.cells = make([]uint32, min(kolmogorovBins, c.hands))
	return c
}

func (c *orderRank) add(d *dealt) {
	cards := d.card
	if c.last {
		cards = c.room
		for i := range c.t {
			cards[i] = d.card[len(cards)-1-i]
		}
	}
	rank := lehmer(cards, c.t)
	c.cells[rank*uint64(len(c.cells))/c.hands]++
}

func (c *orderRank) merge(other counter) { sum(c.cells, other.(*orderRank).cells) }

// upTo returns the probability of the first bins cells.
func (c *orderRank) upTo(bins int) float64 {
	size := uint64(len(c.cells))
	return float64((uint64(bins)*c.hands+size-1)/size) / float64(c.hands)
}

func (c *orderRank) results(f *deckFindings) {
	const test = "Kolmogorov–Smirnov"
	n := total32(c.cells)
	if n < tail {
		f.skip(test, fmt.Sprintf("%s need %d outcomes", c.name, tail))
		return
	}
	var count uint64
	var above, below float64
	for i, cell := range c.cells {
		count += uint64(cell)
		off := float64(count)/float64(n) - c.upTo(i+1)
		above, below = max(above, off), max(below, -off)
	}
	f.found = append(f.found, finding{
		Result{Test: test, Name: "order of the " + c.name, Statistic: max(above, below) * math.Sqrt(float64(n)),
			P: kolmogorovP(above, below, n), N: n},
		func(level float64) string {
			// The distance that is rejected, and the deviation of one side's share.
			d := (math.Sqrt(math.Log(2/level)/2) + shiftFound(1)/2) / math.Sqrt(float64(n))
			return fmt.Sprintf("a distribution function off by %.2g %%", 100*d)
		},
	})
}

// maxHashes is the number of games of one worker, and half the number of a battery, that are compared with
// each other: 16 bytes each.
const maxHashes = 1 << 23

// A print is a hash of a game, of 128 bits. Of the 2^24 kept games two different ones have the same print
// with a chance of 2^-81, so one repeat decides.
type print [2]uint64

// repeated counts games that are the same from the first card to the last.
type repeated struct {
	n      int
	count  int
	prints [][]print // in blocks, so that none is ever copied to grow
}

func newRepeated(s Shape) *repeated { return &repeated{n: s.Cards} }

func printOf(card []int32) (h print) {
	h = print{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03}
	for _, v := range card {
		h[0] = (h[0] ^ uint64(v)) * 0xff51afd7ed558ccd
		h[0] ^= h[0] >> 32
		h[1] = (h[1] ^ uint64(v)) * 0xc4ceb9fe1a85ec53
		h[1] ^= h[1] >> 29
	}
	return h
}

func (c *repeated) add(d *dealt) {
	if c.count == maxHashes || c.n <= maxOrders {
		return
	}
	const block = 1 << 14
	if c.count%block == 0 {
		c.prints = append(c.prints, make([]print, 0, block))
	}
	last := &c.prints[len(c.prints)-1]
	*last = append(*last, printOf(d.card))
	c.count++
}

func (c *repeated) merge(other counter) {
	for _, block := range other.(*repeated).prints {
		block = block[:min(len(block), 2*maxHashes-c.count)]
		c.prints = append(c.prints, block)
		c.count += len(block)
	}
}

func (c *repeated) results(f *deckFindings) {
	if c.n <= maxOrders {
		return // every order has its own count
	}
	if c.count < 2 {
		f.skip("duplicates", "need 2 outcomes")
		return
	}
	prints := slices.Concat(c.prints...)
	slices.SortFunc(prints, func(a, b print) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	pairs, run := 0, 0
	for i := 1; i < len(prints); i++ {
		if run++; prints[i] != prints[i-1] {
			run = 0
		}
		pairs += run
	}
	f.duplicates(pairs, c.n, uint64(c.count))
}

// duplicates adds the test of pairs of equal games of n cards. Two fair games are equal with a chance of
// 1/n!, and their hashes with 2^-128.
func (f *deckFindings) duplicates(pairs, n int, games uint64) {
	all := float64(games) * float64(games-1) / 2
	lgamma, _ := math.Lgamma(float64(n + 1))
	mean := all * (math.Exp(-lgamma) + math.Exp2(-128))
	f.found = append(f.found, finding{
		Result{Test: "duplicates", Name: "games that were dealt before", Statistic: float64(pairs),
			P: poissonP(float64(pairs), mean), N: games},
		func(level float64) string {
			more := excess(mean, level)
			return fmt.Sprintf("%.2g more repeats than %.2g, as of a generator of 2^%.1f orders", more, mean,
				math.Log2(all/more))
		},
	})
}
