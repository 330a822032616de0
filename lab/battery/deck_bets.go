package battery

import (
	"fmt"
	"math/big"
)

// A bet is a side bet on a shoe of 52-card decks, which depends on a few cards. Its odds are exact: every
// way to deal these cards is counted.
type bet struct {
	name    string
	cards   []int                 // positions from where the round begins
	classes int                   // outcomes
	of      func(kinds []int) int // outcome by card types
}

// bets are the most common ones. Card types are those of standard-52.
var bets = []bet{
	{"pair on the first two cards", []int{0, 1}, 4, pair},
	{"player's pair", []int{0, 2}, 4, pair},
	{"banker's pair", []int{1, 3}, 4, pair},
	{"suited first two cards", []int{0, 1}, 3, suited},
	{"twenty and blackjack", []int{0, 1}, 3, twenty},
	{"first three cards as at poker", []int{0, 1, 2}, 6, threeCards},
}

func rankOf(kind int) int { return kind % 13 } // 0 is the ace, 12 the king
func suitOf(kind int) int { return kind / 13 } // spades, hearts, diamonds, clubs

// points is the value of a card at baccarat.
func points(kind int) int {
	if r := rankOf(kind); r < 9 {
		return r + 1
	}
	return 0
}

// pair is 0 for none, 1 for two colours, 2 for one colour, 3 for the same card.
func pair(k []int) int {
	red := func(suit int) bool { return suit == 1 || suit == 2 }
	a, b := suitOf(k[0]), suitOf(k[1])
	switch {
	case rankOf(k[0]) != rankOf(k[1]):
		return 0
	case a == b:
		return 3
	case red(a) == red(b):
		return 2
	}
	return 1
}

// suited is 1 for two cards of a suit and 2 for its king and queen.
func suited(k []int) int {
	switch a, b := rankOf(k[0]), rankOf(k[1]); {
	case suitOf(k[0]) != suitOf(k[1]):
		return 0
	case a+b == 23 && a != b:
		return 2
	}
	return 1
}

// twenty is 1 for a total of 20 at blackjack and 2 for an ace with a ten.
func twenty(k []int) int {
	count := func(kind int) int {
		switch r := rankOf(kind); {
		case r == 0:
			return 11
		case r < 9:
			return r + 1
		}
		return 10
	}
	switch count(k[0]) + count(k[1]) {
	case 21:
		return 2
	case 20:
		return 1
	}
	return 0
}

// threeCards is 1 for a flush, 2 straight, 3 three of a kind, 4 straight flush and 5 for three of a kind in one suit.
func threeCards(k []int) int {
	a, b, c := rankOf(k[0]), rankOf(k[1]), rankOf(k[2])
	low, high := min(a, b, c), max(a, b, c)
	middle := a + b + c - low - high
	flush := suitOf(k[0]) == suitOf(k[1]) && suitOf(k[1]) == suitOf(k[2])
	straight := middle == low+1 && high == low+2 || low == 0 && middle == 11 && high == 12
	switch three := low == high; {
	case three && flush:
		return 5
	case straight && flush:
		return 4
	case three:
		return 3
	case straight:
		return 2
	case flush:
		return 1
	}
	return 0
}

// law counts the ways to deal each outcome.
func (b bet) law(decks int) []float64 {
	ways := make([]*big.Int, b.classes)
	for i := range ways {
		ways[i] = new(big.Int)
	}
	left := make([]int, shoeTypes)
	for i := range left {
		left[i] = decks
	}
	kinds := make([]int, len(b.cards))
	var deal func(i int, w int64)
	deal = func(i int, w int64) {
		if i == len(kinds) {
			class := ways[b.of(kinds)]
			class.Add(class, big.NewInt(w))
			return
		}
		for k := range left {
			if left[k] > 0 {
				kinds[i] = k
				left[k]--
				deal(i+1, w*int64(left[k]+1))
				left[k]++
			}
		}
	}
	deal(0, 1)
	return pick(ways)
}

// betCounters returns the side bets of the round at the top, and for a shoe also those of a round that
// begins in its middle.
func betCounters(s Shape) (all []counter) {
	starts := []int{0}
	if s.Decks > 1 {
		starts = append(starts, s.Cards/2)
	}
	for _, b := range bets {
		law := b.law(s.Decks)
		for _, at := range starts {
			all = append(all, newHistogram("side bets", betName(b.name, at), law, b.at(at)))
		}
	}
	law := baccaratLaw(s.Decks)
	for _, at := range starts {
		all = append(all, newHistogram("side bets", betName("baccarat: player, banker, tie", at), law,
			func(d *dealt) int {
				var v [6]int
				for i := range v {
					v[i] = points(int(d.kind[at+i]))
				}
				return baccarat(v)
			}))
	}
	return all
}

func betName(name string, at int) string { return fmt.Sprintf("%s, from position %d", name, at) }

// at reads the cards of the bet in a round that begins at a position.
func (b bet) at(start int) func(d *dealt) int {
	kinds := make([]int, len(b.cards))
	return func(d *dealt) int {
		for i, p := range b.cards {
			kinds[i] = int(d.kind[start+p])
		}
		return b.of(kinds)
	}
}

// baccarat plays a round of punto banco with the values of the next six cards: player, banker, player, banker, then
// third cards. It returns 0 when the player wins, 1 for the banker, 2 for a tie.
func baccarat(v [6]int) int {
	player, banker := (v[0]+v[2])%10, (v[1]+v[3])%10
	if player < 8 && banker < 8 {
		third, next := -1, 4
		if player <= 5 {
			third, next = v[4], 5
			player = (player + third) % 10
		}
		if bankerDraws(banker, third) {
			banker = (banker + v[next]) % 10
		}
	}
	switch {
	case player > banker:
		return 0
	case banker > player:
		return 1
	}
	return 2
}

// bankerDraws is the table of the third card: third is the player's, −1 for none.
func bankerDraws(banker, third int) bool {
	switch {
	case third < 0:
		return banker <= 5
	case banker <= 2:
		return true
	case banker == 3:
		return third != 8
	case banker <= 6:
		return third >= 2*banker-6 && third <= 7
	}
	return false
}

// baccaratLaw counts over the values of six cards: 16 cards of every deck count 0, and four each 1 to 9.
func baccaratLaw(decks int) []float64 {
	left := [10]int{16 * decks}
	for v := 1; v < 10; v++ {
		left[v] = 4 * decks
	}
	var ways [3]int64 // at most 416^6 < 2^53
	var values [6]int
	var deal func(i int, w int64)
	deal = func(i int, w int64) {
		if i == len(values) {
			ways[baccarat(values)] += w
			return
		}
		for v := range left {
			values[i] = v
			left[v]--
			deal(i+1, w*int64(left[v]+1))
			left[v]++
		}
	}
	deal(0, 1)
	return pick([]*big.Int{big.NewInt(ways[0]), big.NewInt(ways[1]), big.NewInt(ways[2])})
}
