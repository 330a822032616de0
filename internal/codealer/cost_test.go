package codealer_test

import (
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
)

// TestOneRoundTrip: a deal makes one call of the co-dealer, and waits for no other.
func TestOneRoundTrip(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	for i := range 5 {
		p.deal(s.ID, i, board(1))
	}
	if n := p.front.deals.Load(); n != 5 {
		t.Errorf("%d calls for 5 deals", n)
	}
	if f := p.way.Figures()[0]; f.Asked != 5 || f.Failed+f.Refused != 0 || f.Waited <= 0 {
		t.Errorf("%+v", f)
	}
}

// TestHand: a hand is dealt blind, and its file says so to everybody and to each seat.
func TestHand(t *testing.T) {
	for name, set := range map[string]setting{"sqlite": {}, "postgres": {postgres: true}, "a pool": {pool: 2},
		"auditors": {disclosure: audit.DisclosureAuditor}} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, set)
			s := p.blind("hand")
			p.proved(s.ID, api.View{})
			seats := p.deal(s.ID, 0, seat(2, "a"), seat(2, "b"))
			if len(seats.Cards) != 4 || seats.Cards[0].By == nil || seats.CoDealer == "" {
				t.Fatalf("%+v", seats)
			}
			flop := p.deal(s.ID, 4, burn, board(3))
			if len(flop.Cards) != 3 || len(flop.Unopened) != 1 {
				t.Fatalf("%+v", flop)
			}
			p.proved(s.ID, api.View{})
			_, err := p.house.dealer.Deal(t.Context(), house, s.ID, api.DealRequest{First: 8,
				Runs: []audit.Run{board(1)}, Close: &completed})
			check(t, err)
			v := p.proved(s.ID, api.View{Identity: house.Identity})
			if v.State != "closed" || len(v.Blind.Requests) != 3 || len(v.Cards) == 0 {
				t.Errorf("%+v", v)
			}
		})
	}
}
