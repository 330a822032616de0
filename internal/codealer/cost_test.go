package codealer_test

import (
	"crypto/rand"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
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
	plain := func(r *dealer.ShuffleRequest) { r.Plan = nil }
	for _, c := range []struct {
		name   string
		delay  time.Duration
		change []func(*dealer.ShuffleRequest)
	}{
		{"plain", 0, []func(*dealer.ShuffleRequest){plain}},
		{"blind/0ms", 0, nil},
		{"blind/5ms", 5 * time.Millisecond, nil},
		{"blind/20ms", 20 * time.Millisecond, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := newPair(b, setting{pool: 4})
			p.front.delay.Store(int64(c.delay))
			var s dealer.Shuffle
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
