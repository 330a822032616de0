package battery

import "testing"

// In a shoe each pair of positions is counted in some games, in turn, and one result
// covers a position and all later ones.
func TestShoePairsTakeTurns(t *testing.T) {
	const games = 4*turn*60 + 2*turn + 1 // the third of four turns is cut off
	s := Shape{Cards: 104, Decks: 2}
	c, d, next := newPairwise(s), newDealt(s), fairDeck(2, s.Cards)
	for game := range uint64(games) {
		d.set(next(), int32(s.types()))
		d.game = game
		c.add(d)
	}
	f := deckFindings{lambdas: map[[2]float64]float64{}}
	c.results(&f)
	if len(f.found) != s.Cards-1 {
		t.Fatalf("%d results of %d positions that have later ones", len(f.found), s.Cards-1)
	}
	for i, found := range f.found {
		smallest := 1.0
		for j := i + 1; j < s.Cards; j++ {
			pair := c.pair(i, j)
			want := uint64([]int{61 * turn, 61 * turn, 60*turn + 1, 60 * turn}[(j-i-1)%4])
			if counted := total32(c.cells[j-i][i*c.types:][:c.types]); counted != want || pair.games != want {
				t.Fatalf("pair %d,%d: %d games counted, %d said, want %d", i, j, counted, pair.games, want)
			}
			smallest = min(smallest, pair.p)
		}
		if want := min(1, smallest*float64(s.Cards-1-i)); !alike(found.P, want) {
			t.Errorf("position %d: p %v, want %v for the smallest of %d", i, found.P, want, s.Cards-1-i)
		}
	}
}
