package battery

import (
	"fmt"
	"slices"
)

// fullTypes is the number of card types up to which a pair of positions has its whole table, types × types.
const fullTypes = 64

// pairedAlone is the number of positions up to which every pair of them is a result of its own.
const pairedAlone = 64

// pairCounters returns the counters that compare two positions.
func pairCounters(s Shape) []counter {
	all := []counter{newPairwise(s), newTriples(s), newNextGame(s), newInterplay(s), newSerial(s)}
	if s.types() <= fullTypes {
		all = append(all, newAdjacent(s))
	}
	return all
}

// stride is how many games share the work that grows with the square of the cards.
func stride(s Shape) int { return max(1, s.Cards/52) }

// turn is the number of consecutive games of a shoe that count the same pairs of positions, so that their
// counts stay in the cache. With D decks, one game of 2·D counts a given pair.
const turn = 64

// pairwise counts, for every pair of positions, the difference of the later card's type to the earlier
// one's, mod the number of types. In a deck the differences 1..n−1 are equally likely; in a shoe of D
// decks, 0 is rarer: (D−1)/(52·D−1).
type pairwise struct {
	n, types, decks, stride int
	games                   []uint64   // by turn
	cells                   [][]uint32 // [distance][position·types + difference]
}

func newPairwise(s Shape) *pairwise {
	c := &pairwise{n: s.Cards, types: s.types(), decks: s.Decks, stride: 1}
	if s.Cards >= 2*52 {
		c.stride = 2 * stride(s)
	}
	c.games = make([]uint64, c.stride)
	c.cells = make([][]uint32, c.n)
	for d := 1; d < c.n; d++ {
		c.cells[d] = make([]uint32, (c.n-d)*c.types)
	}
	return c
}

func (c *pairwise) add(d *dealt) {
	now := int(d.game / turn % uint64(c.stride))
	c.games[now]++
	types := int32(c.types)
	for apart := 1 + now; apart < c.n; apart += c.stride {
		row := c.cells[apart]
		later := d.kind[apart:]
		for i, a := range d.kind[:len(later)] {
			diff := later[i] - a
			row[diff+types&(diff>>31)]++
			row = row[types:]
		}
	}
}

func (c *pairwise) merge(other counter) {
	o := other.(*pairwise)
	sum(c.games, o.games)
	for d := range c.cells {
		sum(c.cells[d], o.cells[d])
	}
}

func (c *pairwise) results(f *deckFindings) {
	const test = "position pairs"
	least := sparse(c.types) * uint64(c.stride)
	if c.decks > 1 {
		least *= 2 // the difference 0 is rarer
	}
	if slices.Min(c.games)*uint64(c.stride) < least {
		f.skip(test, fmt.Sprintf("need %d outcomes", least))
		return
	}
	for i := range c.n - 1 {
		smallest := pairOf{p: 2}
		for j := i + 1; j < c.n; j++ {
			pair := c.pair(i, j)
			if c.n <= pairedAlone {
				f.cells(test, fmt.Sprintf("pair %d,%d", i, j), pair.x, pair.df, pair.games, 1)
			} else if pair.p < smallest.p {
				smallest = pair
			}
		}
		if c.n > pairedAlone {
			f.cells(test, ordinal(i)+" and all later ones", smallest.x, smallest.df, smallest.games, 1)
			// The smallest of so many p-values counts as many times (Bonferroni).
			last := &f.found[len(f.found)-1]
			last.P = min(1, last.P*float64(c.n-1-i))
		}
	}
}

// pairOf is the test of one pair of positions.
type pairOf struct {
	x, df, p float64
	games    uint64
}

func (c *pairwise) pair(i, j int) (t pairOf) {
	d := j - i
	t.games = c.games[(d-1)%c.stride]
	row := c.cells[d][i*c.types:][:c.types]
	t.x, t.df = differences(row, c.decks)
	t.p = chiSquareP(t.x, t.df)
	return t
}

// differences is the chi-square of the differences mod len(row) of two cards.
func differences(row []uint32, decks int) (x, df float64) {
	n := float64(total32(row))
	if decks == 1 {
		return evenness(row[1:]), float64(len(row) - 2) // no card is there twice
	}
	others := float64(decks*len(row) - 1)
	same := n * float64(decks-1) / others
	other := n * float64(decks) / others
	x = (float64(row[0]) - same) * (float64(row[0]) - same) / same
	for _, c := range row[1:] {
		x += (float64(c) - other) * (float64(c) - other) / other
	}
	return x, float64(len(row) - 1)
}

// adjacent counts the whole table of card types for each position and the next.
type adjacent struct {
	n, types, decks int
	cells           []uint32 // [(position·types + type)·types + next type]
}

func newAdjacent(s Shape) *adjacent {
	t := s.types()
	return &adjacent{n: s.Cards, types: t, decks: s.Decks, cells: make([]uint32, (s.Cards-1)*t*t)}
}

func (c *adjacent) add(d *dealt) {
	t := int32(c.types)
	row := c.cells
	for i, next := range d.kind[1:] {
		row[d.kind[i]*t+next]++
		row = row[t*t:]
	}
}

func (c *adjacent) merge(other counter) { sum(c.cells, other.(*adjacent).cells) }

func (c *adjacent) results(f *deckFindings) {
	const test = "adjacent pairs"
	size := c.types * c.types
	games := total32(c.cells[:size])
	if least := sparse(size); games < least {
		f.skip(test, fmt.Sprintf("need %d outcomes", least))
		return
	}
	// n(n−1) ordered pairs of cards are equally likely.
	all := float64(c.types*c.decks) * float64(c.types*c.decks-1)
	other := float64(games) * float64(c.decks*c.decks) / all
	same := float64(games) * float64(c.decks*(c.decks-1)) / all
	for i := range c.n - 1 {
		x := 0.0
		for cell, count := range c.cells[i*size:][:size] {
			want := other
			if cell%(c.types+1) == 0 {
				want = same
			}
			if want > 0 {
				x += (float64(count) - want) * (float64(count) - want) / want
			}
		}
		df := float64(size - 1)
		if c.decks == 1 {
			df -= float64(c.types) // no card is there twice
		}
		f.cells(test, fmt.Sprintf("pair %d,%d", i, i+1), x, df, games, 1)
	}
}

// nextGame counts the card types of each position in a game and in the next one: the whole table, or the
// differences mod types if there are many types.
type nextGame struct {
	n, types int
	full     bool
	games    uint64
	cells    []uint32
}

func newNextGame(s Shape) *nextGame {
	c := &nextGame{n: s.Cards, types: s.types(), full: s.types() <= fullTypes}
	c.cells = make([]uint32, c.n*c.size())
	return c
}

func (c *nextGame) size() int {
	if c.full {
		return c.types * c.types
	}
	return c.types
}

func (c *nextGame) add(d *dealt) {
	if d.before == nil {
		return
	}
	c.games++
	t, size, row := int32(c.types), c.size(), c.cells
	for i, now := range d.kind {
		cell := now - d.before.kind[i]
		cell += t & (cell >> 31)
		if c.full {
			cell = d.before.kind[i]*t + now
		}
		row[cell]++
		row = row[size:]
	}
}

func (c *nextGame) merge(other counter) {
	o := other.(*nextGame)
	c.games += o.games
	sum(c.cells, o.cells)
}

func (c *nextGame) results(f *deckFindings) {
	const test = "next game"
	if least := sparse(c.size()); c.games < least {
		f.skip(test, fmt.Sprintf("need %d outcomes", least+1))
		return
	}
	for i := range c.n {
		table := c.cells[i*c.size():][:c.size()]
		if !c.full {
			f.flat(test, ordinal(i), table)
			continue
		}
		x, df := interaction(table, c.types)
		f.cells(test, ordinal(i), x, df, c.games, 1)
	}
}

// interaction is the chi-square of a t × t table of equally likely cells, less those of its two margins.
// The rest measures the dependence of the two, with (t−1)² degrees of freedom. This also holds if the games
// overlap, each being the second of one pair and the first of another (Good 1953).
func interaction(table []uint32, t int) (x, df float64) {
	first, second := make([]uint64, t), make([]uint64, t)
	for cell, count := range table {
		first[cell/t] += uint64(count)
		second[cell%t] += uint64(count)
	}
	return evenness(table) - evenness(first) - evenness(second), float64((t - 1) * (t - 1))
}
