package battery

import (
	"fmt"
	"slices"
)

// Limits of the tests of outcomes with many values. Tests beyond them are noted as left out.
const (
	maxPaired    = 32      // positions of which every pair is tested
	maxPositions = 64      // positions tested alone against the next outcome
	maxTotal     = 1 << 14 // largest total whose distribution is worked out
)

// gameTests read outcome by outcome.
func (d *drawTally) gameTests() []drawTest {
	d.place = newPositions(d)
	tests := []drawTest{d.place}
	if d.shape.Values == 1 {
		for _, test := range []string{"position pairs", "total"} {
			d.skip(test, "an outcome has one value")
		}
		d.skip("next outcome", "an outcome has one value: serial pairs compares it with the next")
		d.skip("repeated outcome", "an outcome has one value: duplicates counts it")
		return tests
	}
	tests = append(tests, newPositionPairs(d), newNextOutcome(d), newRepeats(d.shape))
	if top := d.shape.Values*int(d.shape.K-1) + 1; top <= maxTotal {
		probs := totalProbs(d.shape.K, d.shape.Values)
		t := newBlocks("total", "of an outcome", d.shape.Values, probs, func(game []uint32) int {
			sum := uint32(0)
			for _, x := range game {
				sum += x
			}
			return int(sum)
		})
		t.most = 4 * classesAtMost
		return append(tests, t)
	}
	d.skip("total", "it takes more than %d values", maxTotal)
	return tests
}

// positions counts values at each position of an outcome.
type positions struct {
	bin    func(uint32) int
	probs  []float64
	counts [][]uint64
	sums   []uint64
	games  uint64
}

func newPositions(d *drawTally) *positions {
	p := &positions{counts: make([][]uint64, d.shape.Values), sums: make([]uint64, d.shape.Values)}
	p.bin, p.probs = d.bins(smallHigh)
	for i := range p.counts {
		p.counts[i] = make([]uint64, len(p.probs))
	}
	return p
}

func (p *positions) feed(game []uint32) {
	for i, x := range game {
		p.counts[i][p.bin(x)]++
		p.sums[i] += uint64(x)
	}
	p.games++
}

func (p *positions) merge(other drawTest) {
	o := other.(*positions)
	for i := range p.counts {
		addCounts(p.counts[i], o.counts[i])
	}
	addCounts(p.sums, o.sums)
	p.games += o.games
}

func (p *positions) results(f *findings) {
	if len(p.counts) == 1 {
		f.skip("position", "an outcome has one value: frequency counts it")
		return
	}
	for i, counts := range p.counts {
		f.chiSquare("position", fmt.Sprintf("position %d", i), counts, p.probs, 0)
	}
}

// means returns the mean value at each position, values counted from 1.
func (p *positions) means() []float64 {
	means := make([]float64, len(p.sums))
	for i, sum := range p.sums {
		means[i] = 1 + float64(sum)/float64(max(p.games, 1))
	}
	return means
}

// positionPairs tests the dependence of two positions of one outcome.
type positionPairs struct {
	coarse alphabet
	paired int // the first positions, up to a limit
	cut    int // positions that are not paired
	counts [][]uint64
	letter []uint32 // of the current outcome; size for a value left out
}

func newPositionPairs(d *drawTally) *positionPairs {
	n := min(d.shape.Values, maxPaired)
	p := &positionPairs{coarse: d.coarse, paired: n, cut: d.shape.Values - n, letter: make([]uint32, n)}
	for range n * (n - 1) / 2 {
		p.counts = append(p.counts, make([]uint64, d.coarse.size*d.coarse.size))
	}
	return p
}

func (p *positionPairs) feed(game []uint32) {
	pair := 0
	for j := range p.paired {
		l, ok := p.coarse.letter(game[j])
		if !ok {
			l = p.coarse.size
		}
		p.letter[j] = l
		for _, before := range p.letter[:j] {
			if before < p.coarse.size && l < p.coarse.size {
				p.counts[pair][before*p.coarse.size+l]++
			}
			pair++
		}
	}
}

func (p *positionPairs) merge(other drawTest) {
	for i, counts := range other.(*positionPairs).counts {
		addCounts(p.counts[i], counts)
	}
}

func (p *positionPairs) results(f *findings) {
	if p.cut > 0 {
		f.skip("position pairs", fmt.Sprintf("of the %d positions after the first %d", p.cut, p.paired))
	}
	probs, pair := uniform(int(p.coarse.size*p.coarse.size)), 0
	for j := range p.paired {
		for i := range j {
			f.chiSquare("position pairs", fmt.Sprintf("positions %d, %d", i, j), p.counts[pair], probs, 0)
			pair++
		}
	}
}

// nextOutcome compares each position with itself in the outcome after: outcomes 0
// and 1, 2 and 3 and so on, so that pairs are independent.
type nextOutcome struct {
	coarse alphabet
	counts [][]uint64 // by position
	before []uint32   // the first outcome of a pair
}

func newNextOutcome(d *drawTally) *nextOutcome {
	n := &nextOutcome{coarse: d.coarse, counts: make([][]uint64, d.shape.Values)}
	for i := range n.counts {
		n.counts[i] = make([]uint64, d.coarse.size*d.coarse.size)
	}
	return n
}

func (n *nextOutcome) feed(game []uint32) {
	if len(n.before) == 0 {
		n.before = append(n.before, game...)
		return
	}
	for i, x := range game {
		a, ok := n.coarse.letter(n.before[i])
		b, ok2 := n.coarse.letter(x)
		if ok && ok2 {
			n.counts[i][a*n.coarse.size+b]++
		}
	}
	n.before = n.before[:0]
}

func (n *nextOutcome) merge(other drawTest) {
	for i, counts := range other.(*nextOutcome).counts {
		addCounts(n.counts[i], counts)
	}
}

func (n *nextOutcome) results(f *findings) {
	probs := uniform(int(n.coarse.size * n.coarse.size))
	all := make([]uint64, len(probs))
	for _, counts := range n.counts {
		addCounts(all, counts)
	}
	f.chiSquare("next outcome", "all positions", all, probs, 0)
	if len(n.counts) > maxPositions {
		f.skip("next outcome", fmt.Sprintf("each of more than %d positions alone", maxPositions))
		return
	}
	for i, counts := range n.counts {
		f.chiSquare("next outcome", fmt.Sprintf("position %d", i), counts, probs, 0)
	}
}

// repeats counts outcomes equal to the one lag before, value for value.
type repeats struct {
	equal, pairs [lags]uint64
	chance       float64 // that two outcomes are equal
	past         [lags][]uint32
	at           int // outcomes read
}

func newRepeats(s Shape) *repeats {
	r := &repeats{chance: 1}
	for range s.Values {
		r.chance /= float64(s.K)
	}
	return r
}

func (r *repeats) feed(game []uint32) {
	for lag := 1; lag <= min(r.at, lags); lag++ {
		if slices.Equal(r.past[(r.at-lag)%lags], game) {
			r.equal[lag-1]++
		}
		r.pairs[lag-1]++
	}
	slot := &r.past[r.at%lags]
	*slot = append((*slot)[:0], game...)
	r.at++
}

func (r *repeats) merge(other drawTest) {
	o := other.(*repeats)
	addCounts(r.equal[:], o.equal[:])
	addCounts(r.pairs[:], o.pairs[:])
}

func (r *repeats) results(f *findings) {
	for lag := range r.equal {
		f.binomial("repeated outcome", fmt.Sprintf("%d apart", lag+1), r.equal[lag], r.pairs[lag], r.chance)
	}
}
