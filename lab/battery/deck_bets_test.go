package battery

import "testing"

// Cards by index in standard-52: suits s h d c, each from the ace to the king.
func TestBetsByHand(t *testing.T) {
	const aceS, aceH, aceD, aceC, twoS, threeS, queenS, kingS, kingH, nineH = 0, 13, 26, 39, 1, 2, 11, 12, 25, 21
	s := Shape{Cards: 104, Decks: 2}
	tests := []struct {
		bet   string
		start int
		cards []int32 // from start
		want  int
	}{
		{"pair on the first two cards", 0, []int32{aceS, kingS, 0, 0}, 0},
		{"pair on the first two cards", 0, []int32{aceS, aceH, 0, 0}, 1},
		{"pair on the first two cards", 0, []int32{aceH, aceD, 0, 0}, 2},
		{"pair on the first two cards", 0, []int32{aceC, aceS, 0, 0}, 2},
		{"pair on the first two cards", 0, []int32{aceC, aceC, 0, 0}, 3},
		{"pair on the first two cards", 52, []int32{aceH, aceD, 0, 0}, 2},
		{"player's pair", 52, []int32{aceH, twoS, aceD, kingS}, 2},
		{"banker's pair", 52, []int32{twoS, aceH, kingS, aceC}, 1},
		{"suited first two cards", 0, []int32{queenS, kingS}, 2},
		{"suited first two cards", 0, []int32{queenS, kingH}, 0},
		{"suited first two cards", 0, []int32{aceS, kingS}, 1},
		{"twenty and blackjack", 0, []int32{aceS, nineH}, 1},
		{"twenty and blackjack", 0, []int32{kingH, queenS}, 1},
		{"twenty and blackjack", 0, []int32{aceS, kingH}, 2},
		{"first three cards as at poker", 0, []int32{aceS, threeS, twoS}, 4},
		{"first three cards as at poker", 0, []int32{queenS, kingH, aceC}, 2},
	}
	for _, tt := range tests {
		d := newDealt(s)
		for i := range d.kind {
			d.kind[i] = int32(i % 13 * 4) // what a wrong position reads
		}
		copy(d.kind[tt.start:], tt.cards)
		found := false
		for _, b := range bets {
			if b.name == tt.bet {
				found = true
				if got := b.at(tt.start)(d); got != tt.want {
					t.Errorf("%s from position %d of %v: %d, want %d", tt.bet, tt.start, tt.cards, got, tt.want)
				}
			}
		}
		if !found {
			t.Errorf("no bet is named %q", tt.bet)
		}
	}
}
