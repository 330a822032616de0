package battery

import (
	"math"
	"testing"
)

// The law of three cards is counted over all triples of different cards.
func TestTripleLaw(t *testing.T) {
	for _, s := range []Shape{{Cards: 52, Decks: 1}, {Cards: 12, Decks: 1}, {Cards: 13, Decks: 1},
		{Cards: 26, Decks: 2}, {Cards: 36, Decks: 3}} {
		ways, all := make([]float64, s.types()), 0.0
		for a := range s.Cards {
			for b := range s.Cards {
				for c := range s.Cards {
					if a != b && b != c && a != c {
						ways[(a+b+c)%s.types()]++ // a type is an index mod their number
						all++
					}
				}
			}
		}
		for i, p := range tripleLaw(s.types(), s.Decks) {
			if !alike(p, ways[i]/all) {
				t.Errorf("%+v: sum %d has %v, want %v", s, i, p, ways[i]/all)
			}
		}
	}
}

// Every triple is counted in its turn, in the row that results reads.
func TestTriplesTakeTurns(t *testing.T) {
	s := Shape{Cards: 54, Decks: 1}
	c, d, next := newTriples(s), newDealt(s), fairDeck(2, s.Cards)
	want := [tripleTurns][]uint32{}
	for now := range want {
		want[now] = make([]uint32, len(c.cells[now]))
	}
	for game := range uint64(2 * turn * tripleTurns) {
		d.set(next(), int32(s.types()))
		d.game = game
		c.add(d)
		now, row := int(game/turn%tripleTurns), 0
		for _, pair := range c.pairs[now] {
			for _, third := range c.places[pair[1]+1:] {
				want[now][row*54+int(d.kind[c.places[pair[0]]]+d.kind[c.places[pair[1]]]+d.kind[third])%54]++
				row++
			}
		}
	}
	triples := 0
	for now, cells := range c.cells {
		triples += len(cells) / 54
		for i, count := range cells {
			if count != want[now][i] {
				t.Fatalf("turn %d, cell %d: %d, want %d", now, i, count, want[now][i])
			}
		}
	}
	if triples != 22_100 || c.places[51] != 52 {
		t.Errorf("%d triples, last place %d", triples, c.places[51])
	}
}

// One repeat of a deck decides, in a sample of any size. No repeat is no evidence,
// and repeats that chance explains do not reject a small deck.
func TestOneRepeatDecides(t *testing.T) {
	for _, c := range []struct {
		pairs, n int
		games    uint64
		low      float64
		high     float64
	}{
		{1, 52, 1_000_000, 0, 1e-20}, {1, 52, 1 << 24, 0, 1e-20}, {1, 416, 1 << 24, 0, 1e-20}, {0, 52, 1 << 24, 1, 1},
		{1, 20, 100_000, 0, 1e-8}, {14, 10, 10_000, 0.5, 1},
	} {
		var f deckFindings
		f.duplicates(c.pairs, c.n, c.games)
		if p := f.found[0].P; p < c.low || p > c.high {
			t.Errorf("%d repeats among %d of %d cards: p %v", c.pairs, c.games, c.n, p)
		}
	}
	if a, b := printOf([]int32{0, 1, 2}), printOf([]int32{0, 2, 1}); a[0] == b[0] || a[1] == b[1] {
		t.Error("two orders have one print")
	}
}

// The p-value of the largest cell is the binomial tail times the cells, on both sides.
func TestLargestCell(t *testing.T) {
	tail := func(from, to int) (p float64) { // of 20 games of 4 cards
		for k := from; k <= to; k++ {
			p += math.Exp(lchoose(20, k)) * math.Pow(0.25, float64(k)) * math.Pow(0.75, float64(20-k))
		}
		return p
	}
	for _, c := range []struct {
		row  []uint64
		want float64
	}{
		{[]uint64{5, 5, 5, 5}, 1}, {[]uint64{14, 2, 2, 2}, 2 * 16 * tail(14, 20)},
		{[]uint64{7, 7, 6, 0}, min(1, 2*16*tail(0, 0))},
	} {
		rows := [][]uint64{c.row, {5, 5, 5, 5}, {5, 5, 5, 5}, {5, 5, 5, 5}}
		var f deckFindings
		f.largest(rows, 20)
		if p := f.found[0].P; !alike(p, c.want) {
			t.Errorf("%d: p %v, want %v", c.row, p, c.want)
		}
	}
}

func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
