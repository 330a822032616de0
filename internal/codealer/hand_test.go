package codealer_test

import (
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// TestHand: a hand is dealt blind, and its file says so to everybody and to each seat.
func TestHand(t *testing.T) {
	for name, set := range map[string]setting{"sqlite": {}, "postgres": {postgres: true}, "a pool": {pool: 2},
		"auditors": {disclosure: audit.DisclosureAuditor}} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, set)
			s := p.blind("hand")
			p.proved(s.ID, dealer.View{})
			seats := p.deal(s.ID, 0, seat(2, "a"), seat(2, "b"))
			if len(seats.Cards) != 4 || seats.Cards[0].By == nil || seats.CoDealer == "" {
				t.Fatalf("%+v", seats)
			}
			flop := p.deal(s.ID, 4, burn, board(3))
			if len(flop.Cards) != 3 || len(flop.Unopened) != 1 {
				t.Fatalf("%+v", flop)
			}
			p.proved(s.ID, dealer.View{})
			_, err := p.house.dealer.Deal(t.Context(), house, s.ID, dealer.DealRequest{First: 8,
				Runs: []audit.Run{board(1)}, Close: &completed})
			check(t, err)
			v := p.proved(s.ID, dealer.View{Identity: house.Identity})
			if v.State != "closed" || len(v.Blind.Requests) != 3 || len(v.Cards) == 0 {
				t.Errorf("%+v", v)
			}
		})
	}
}
