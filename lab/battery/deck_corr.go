package battery

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/gonum"
)

// interplay sums the products of the card type at each position of a game with that at each position of the
// next. Products of different pairs of games are not correlated. Those of one pair are correlated like
// positions: the factor (n−1)/n applies twice.
type interplay struct {
	n, types, stride int
	games            uint64
	last, now        []float64
	sums             []float64 // [position before · n + position]: whole numbers below 2^53
}

func newInterplay(s Shape) *interplay {
	n := s.Cards
	return &interplay{n: n, types: s.types(), stride: stride(s), last: make([]float64, n), now: make([]float64, n),
		sums: make([]float64, n*n)}
}

// twice returns 2·type − (types − 1): centred, and whole.
func twice(kind int32, types int) int64 { return 2*int64(kind) - int64(types-1) }

func (c *interplay) add(d *dealt) {
	if d.before == nil || d.game%uint64(c.stride) != 0 {
		return
	}
	c.games++
	for i, k := range d.kind {
		c.last[i] = float64(twice(d.before.kind[i], c.types))
		c.now[i] = float64(twice(k, c.types))
	}
	gonum.Implementation{}.Dger(c.n, c.n, 1, c.last, 1, c.now, 1, c.sums, c.n)
}

func (c *interplay) merge(other counter) {
	o := other.(*interplay)
	c.games += o.games
	sum(c.sums, o.sums)
}

func (c *interplay) results(f *deckFindings) {
	const least = 1000
	if c.games < least {
		f.skip("interplay", fmt.Sprintf("needs %d outcomes", least*c.stride))
		return
	}
	n, t := float64(c.n), float64(c.types)
	variance := (t*t - 1) / 3 // of twice the type
	x := 0.0
	for _, s := range c.sums {
		x += s * s
	}
	x /= variance * variance * float64(c.games)
	once := (n - 1) / n
	f.cells("interplay", "every position with every position of the next game",
		x*once*once, (n-1)*(n-1), c.games, n*n*once*once, "correlations of %.2g (root mean square)")
}

// maxLags is the largest distance of two positions in the serial correlation.
const maxLags = 26

// serial sums the products of card types that are 1, 2, … positions apart.
type serial struct {
	n, types int
	games    uint64
	sums     []int64 // by distance, from 1
	room     []int32
}

func newSerial(s Shape) *serial {
	return &serial{n: s.Cards, types: s.types(), sums: make([]int64, min(s.Cards/2, maxLags)),
		room: make([]int32, s.Cards)}
}

func (c *serial) add(d *dealt) {
	c.games++
	for i, k := range d.kind {
		c.room[i] = int32(twice(k, c.types))
	}
	for lag := range c.sums {
		later := c.room[lag+1:]
		var s int32 // at most 416·415² < 2^31
		for i, a := range c.room[:len(later)] {
			s += a * later[i]
		}
		c.sums[lag] += int64(s)
	}
}

func (c *serial) merge(other counter) {
	o := other.(*serial)
	c.games += o.games
	sum(c.sums, o.sums)
}

func (c *serial) results(f *deckFindings) {
	const least = 1000
	if c.games < least {
		f.skip("serial correlation", fmt.Sprintf("needs %d outcomes", least))
		return
	}
	for i, s := range c.sums {
		mean, variance := serialMoments(c.n, c.types, i+1)
		games := float64(c.games)
		sd := math.Sqrt(variance * games)
		t := float64(c.types)
		products := games * float64(c.n-i-1) * (t*t - 1) / 3
		f.z("serial correlation", fmt.Sprintf("lag %d", i+1), (float64(s)-games*mean)/sd, c.games, sd/products,
			"a correlation off by %.2g")
	}
}

// serialMoments returns mean and variance of Σ a(i)·a(i+lag), a being the centred types of an order of n cards, twice.
// Drawing without replacement gives them from the power sums S2 and S4 of the cards; S1 and S3 are 0.
func serialMoments(n, types, lag int) (mean, variance float64) {
	var s2, s4 float64
	for v := range n {
		a := float64(twice(int32(v%types), types))
		s2 += a * a
		s4 += a * a * a * a
	}
	N := float64(n)
	both := (s2*s2 - s4) / (N * (N - 1))                          // E a²b²
	chain := (2*s4 - s2*s2) / (N * (N - 1) * (N - 2))             // E a²bc
	apart := (3*s2*s2 - 6*s4) / (N * (N - 1) * (N - 2) * (N - 3)) // E abcd
	m := float64(n - lag)                                         // products
	touching := 2 * float64(max(0, n-2*lag))                      // ordered pairs of them that share a card
	mean = -m * s2 / (N * (N - 1))
	return mean, m*both + touching*chain + (m*m-m-touching)*apart - mean*mean
}
