package battery

import (
	"fmt"
	"slices"
)

// tripleTurns is the number of games over which the triples are distributed: each game counts one part of them.
const tripleTurns = 16

// triplePlaces is the largest number of places of which every three are counted. Of more cards, this many
// evenly spaced places are used.
const triplePlaces = 52

// leastTriples is the smallest deck whose triples are counted.
const leastTriples = 12

// triples counts, for every three places, the sum of their card types mod the number of types. No other
// test finds a card that is chosen to fit two others, if the cards look fair alone and in pairs.
type triples struct {
	types, decks int
	places       []int
	pairs        [tripleTurns][][2]int // by turn: the first two places, by number
	games        [tripleTurns]uint64
	cells        [tripleTurns][]uint32 // [triple of the turn][sum]
}

func newTriples(s Shape) *triples {
	c := &triples{types: s.types(), decks: s.Decks}
	if s.Cards < leastTriples {
		return c
	}
	m := min(s.Cards, triplePlaces)
	for i := range m {
		c.places = append(c.places, i*s.Cards/m)
	}
	var rows [tripleTurns]int
	pair := 0
	for a := range m {
		for b := a + 1; b < m-1; b, pair = b+1, pair+1 {
			now := pair % tripleTurns
			c.pairs[now] = append(c.pairs[now], [2]int{a, b})
			rows[now] += m - 1 - b
		}
	}
	for now := range c.cells {
		c.cells[now] = make([]uint32, rows[now]*c.types)
	}
	return c
}

func (c *triples) add(d *dealt) {
	now := int(d.game / turn % tripleTurns)
	c.games[now]++
	t, row := int32(c.types), c.cells[now]
	for _, pair := range c.pairs[now] {
		two := d.kind[c.places[pair[0]]] + d.kind[c.places[pair[1]]]
		two -= t &^ ((two - t) >> 31) // mod t
		for _, third := range c.places[pair[1]+1:] {
			sum := two + d.kind[third] - t
			row[sum+t&(sum>>31)]++
			row = row[t:]
		}
	}
}

func (c *triples) merge(other counter) {
	o := other.(*triples)
	sum(c.games[:], o.games[:])
	for now := range c.cells {
		sum(c.cells[now], o.cells[now])
	}
}

func (c *triples) results(f *deckFindings) {
	const test = "position triples"
	if len(c.places) == 0 {
		return
	}
	least, games := tripleTurns*sparse(c.types), slices.Min(c.games[:])
	if games*tripleTurns < least {
		f.skip(test, fmt.Sprintf("need %d outcomes", least))
		return
	}
	law := tripleLaw(c.types, c.decks)
	var at [tripleTurns]int // in its cells
	type best struct{ x, p, tried float64 }
	worst := make([]best, len(c.places))
	for now, pairs := range c.pairs {
		for _, pair := range pairs {
			w := &worst[pair[0]]
			for range len(c.places) - 1 - pair[1] {
				x := against(c.cells[now][at[now]:][:c.types], law)
				at[now] += c.types
				if p := chiSquareP(x, float64(c.types-1)); w.tried == 0 || p < w.p {
					w.x, w.p = x, p
				}
				w.tried++
			}
		}
	}
	for a, w := range worst[:len(worst)-2] {
		// The smallest of so many p-values counts as many times (Bonferroni).
		f.cells(test, ordinal(c.places[a])+" and two later ones", w.x, float64(c.types-1), games, 1)
		last := &f.found[len(f.found)-1]
		last.P = min(1, w.p*w.tried)
		detects := last.detects
		last.detects = func(level float64) string { return detects(level / worst[0].tried) }
	}
}

// against is the chi-square of counts against the law, all of whose classes are possible.
func against(counts []uint32, law []float64) (x float64) {
	n := float64(total32(counts))
	for i, count := range counts {
		want := n * law[i]
		x += (float64(count) - want) * (float64(count) - want) / want
	}
	return x
}

// tripleLaw is the law of the sum mod t of the types of three different cards; each type has as many cards as there are
// decks. It counts all triples, less those in which two are the same card, plus twice those in which three are.
func tripleLaw(t, decks int) []float64 {
	ways, all := make([]float64, t), 0.0
	for s := range ways {
		ways[s] = float64(decks*decks*decks*t*t - 3*decks*decks*t)
	}
	for a := range t {
		ways[3*a%t] += float64(2 * decks)
	}
	for _, w := range ways {
		all += w
	}
	for s := range ways {
		ways[s] /= all
	}
	return ways
}
