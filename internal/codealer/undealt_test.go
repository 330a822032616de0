package codealer_test

import (
	"errors"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/verify"
)

// TestUnseenDeal: before the witnesses saw a deal of an order, no address opens its places.
func TestUnseenDeal(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.deal(s.ID, 0, board(1))
	check(t, p.house.ledger.AwaitCosigned(t.Context(), p.house.ledger.Head().Size-1))
	size := p.lab.ledger.Head().Size
	p.witness.Down(true)
	_, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID,
		api.DealRequest{First: 1, Runs: []audit.Run{board(1)}})
	if err == nil {
		t.Fatal("dealt, and no witness was there")
	}
	if p.lab.ledger.Head().Size == size {
		t.Fatal("the co-dealer entered nothing")
	}
	waits := 0
	for id := range size {
		_, err := p.lab.dealer.Transcript(within(t, 2*time.Second), id, api.View{Identity: "cards"})
		if errors.Is(err, api.ErrNotFound) {
			continue
		}
		if waits++; !errors.Is(err, ledger.ErrNotWitnessed) {
			t.Errorf("shuffle %d: %v, want ErrNotWitnessed", id, err)
		}
	}
	if waits != 1 {
		t.Errorf("%d orders", waits)
	}
	p.witness.Down(false)
	p.deal(s.ID, 1, board(1))
	p.close(s.ID, completed)
	p.proved(s.ID, api.View{})
}

// TestUndealtPlaces: with all that a house has, its token at the co-dealer too, no place of the order
// opens before it is dealt, and none that is aside.
func TestUndealtPlaces(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	order, dealt := p.lab.ledger.Head().Size-1, 0
	for _, runs := range [][]audit.Run{nil, {seat(2, "a")}, {burn, board(3)}, {burn, board(1)}} {
		for _, r := range runs {
			dealt += r.Count
		}
		if runs != nil {
			p.deal(s.ID, p.next(s.ID), runs...)
		}
		b, err := p.lab.dealer.Transcript(t.Context(), order, api.View{Identity: "cards"})
		check(t, err)
		f, err := openings.ParseTranscript(b)
		check(t, err)
		for _, c := range f.Cards {
			if aside := c.Place == 2 || c.Place == 6; c.Place >= dealt || aside {
				t.Errorf("%d places are dealt, and place %d opens", dealt, c.Place)
			}
		}
		if v := verify.Transcript(b, verify.Trust{}); v.State != "open" || v.Next != dealt {
			t.Errorf("the order is %s, at place %d", v.State, v.Next)
		}
		_, err = p.lab.dealer.Deal(t.Context(), audit.Actor{Identity: "cards", Credential: "cards"}, order,
			api.DealRequest{First: dealt, Runs: []audit.Run{board(1)}})
		if err == nil {
			t.Error("the order was dealt from, and nobody asked")
		}
	}
}

// next is the place that comes next in a shuffle of the house.
func (p *pair) next(id uint64) int {
	p.t.Helper()
	s, err := p.house.dealer.Status(p.t.Context(), id)
	check(p.t, err)
	return s.Next
}
