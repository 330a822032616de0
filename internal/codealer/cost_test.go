package codealer_test

import (
	"crypto/rand"
	"testing"
	"time"

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

// BenchmarkDeal measures a deal of one card without a co-dealer, and with one at some distance.
// The witness of both ledgers is on this host.
func BenchmarkDeal(b *testing.B) {
	plain := func(r *api.ShuffleRequest) { r.Plan = nil }
	for _, c := range []struct {
		name   string
		delay  time.Duration
		change []func(*api.ShuffleRequest)
	}{
		{"plain", 0, []func(*api.ShuffleRequest){plain}},
		{"blind/0ms", 0, nil},
		{"blind/5ms", 5 * time.Millisecond, nil},
		{"blind/20ms", 20 * time.Millisecond, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := newPair(b, setting{pool: 4})
			p.front.delay.Store(int64(c.delay))
			var s api.Shuffle
			for i := 0; b.Loop(); i++ {
				if i%52 == 0 {
					b.StopTimer()
					s = p.blind(rand.Text(), c.change...)
					check(b, p.house.ledger.AwaitCosigned(b.Context(), s.ID))
					b.StartTimer()
				}
				p.deal(s.ID, i%52, audit.Run{Count: 1, Purpose: audit.PurposeBoard, Public: true})
			}
		})
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
