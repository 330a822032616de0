package battery

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// parts is the number of interleaved subsequences of games: every 8th from the first, from the second, and so on.
const parts = 8

// placement counts card types by position, separately for each subsequence of games.
type placement struct {
	n, types int
	games    [parts]uint64
	cells    [parts][]uint32 // [position·types + type]
}

func newPlacement(s Shape) *placement {
	c := &placement{n: s.Cards, types: s.types()}
	for i := range c.cells {
		c.cells[i] = make([]uint32, c.n*c.types)
	}
	return c
}

func (c *placement) add(d *dealt) {
	part := d.game % parts
	c.games[part]++
	row := c.cells[part]
	for _, k := range d.kind {
		row[k]++
		row = row[c.types:]
	}
}

func (c *placement) merge(other counter) {
	o := other.(*placement)
	for i := range c.cells {
		c.games[i] += o.games[i]
		sum(c.cells[i], o.cells[i])
	}
}

// rows returns the counts of some subsequences together, by position.
func (c *placement) rows(of ...int) [][]uint64 {
	out := make([][]uint64, c.n)
	for i := range out {
		out[i] = make([]uint64, c.types)
		for _, part := range of {
			for k, count := range c.cells[part][i*c.types:][:c.types] {
				out[i][k] += uint64(count)
			}
		}
	}
	return out
}

// positions returns the counts of all games.
func (c *placement) positions() [][]uint64 {
	all := make([]int, parts)
	for i := range all {
		all[i] = i
	}
	return c.rows(all...)
}

func (c *placement) total() (games uint64) {
	for _, g := range c.games {
		games += g
	}
	return games
}

func (c *placement) results(f *deckFindings) {
	games := c.total()
	least := sparse(c.types)
	if games < least {
		f.skip("frequency, position × card", fmt.Sprintf("need %d outcomes", least))
		return
	}
	rows := c.positions()
	for i, row := range rows {
		f.cells("frequency", ordinal(i), evenness(row), float64(c.types-1), games, 1)
	}
	f.placed("position × card", "all", rows, games)
	f.largest(rows, games)
	if games < parts*least {
		f.skip("subsequences", fmt.Sprintf("need %d outcomes", parts*least))
	} else {
		for i := range parts {
			f.placed("subsequences", fmt.Sprintf("every %dth game from game %d", parts, i), c.rows(i), c.games[i])
		}
	}
	c.curve(f, means(rows), float64(games))
}

// placed adds a position × card test.
func (f *deckFindings) placed(test, name string, rows [][]uint64, games uint64) {
	x, df, _ := PositionCard(rows)
	f.cells(test, name, x, df, games, float64(len(rows)-1))
}

// largest tests the cell that is farthest off. A card that is moved to one place is one cell in thousands, and hardly
// changes their sum. Each count is binomial; the smallest p-value is multiplied by the number of cells (Bonferroni).
func (f *deckFindings) largest(rows [][]uint64, games uint64) {
	t := float64(len(rows[0]))
	cells := t * float64(len(rows))
	law := distuv.Binomial{N: float64(games), P: 1 / t}
	low, high := rows[0][0], rows[0][0]
	for _, row := range rows {
		low, high = min(low, slices.Min(row)), max(high, slices.Max(row))
	}
	count, p := low, law.CDF(float64(low))
	// 1 − CDF would round a small chance to 0: the tail is that of the other cards.
	others := distuv.Binomial{N: law.N, P: 1 - law.P}
	if above := others.CDF(law.N - float64(high)); above < p {
		count, p = high, above
	}
	sd := math.Sqrt(law.Variance())
	f.found = append(f.found, finding{
		Result{Test: "largest cell", Name: "of all positions and cards", Statistic: (float64(count) - law.Mean()) / sd,
			P: min(1, 2*p*cells), N: games},
		func(level float64) string {
			return fmt.Sprintf("one card at one position off by %.2g %%", 100*shiftFound(level/cells)*sd/law.Mean())
		},
	})
}

// curve tests the mean card type of each position, and all together. A small preference for low or high
// cards shows here first.
func (c *placement) curve(f *deckFindings, mean []float64, games float64) {
	t := float64(c.types)
	middle, sigma := (t-1)/2, math.Sqrt((t*t-1)/12)
	all := 0.0
	for i, m := range mean {
		z := (m - middle) / sigma * math.Sqrt(games)
		all += z * z
		f.z("expected value", ordinal(i), z, uint64(games), sigma/math.Sqrt(games), "a mean card off by %.2g")
	}
	n := float64(c.n)
	f.cells("expected value", "all", all*(n-1)/n, n-1, uint64(games), (n-1)*12/(t*t-1),
		"mean cards off by %.2g (root mean square)")
}

// means returns the mean card type by position.
func means(rows [][]uint64) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		var games, sum float64
		for k, count := range row {
			games += float64(count)
			sum += float64(k) * float64(count)
		}
		out[i] = sum / max(1, games)
	}
	return out
}
