package dealer_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

// counted counts how often shuffles are read.
type counted struct {
	ledger.Store
	reads int
}

func (c *counted) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, s ...uint64) ([][]ledger.Row,
	error) {
	c.reads++
	return c.Store.ByShuffles(ctx, id, standing, s...)
}

// TestRecentRead: a hand that one daemon deals is not read again.
func TestRecentRead(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	store := &counted{Store: tb.cfg.Store}
	tb.cfg.Store = store
	tb.Dealer = dealer.New(tb.cfg)
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a"), seat(2, "b")}})
	tb.deal(s.ID, api.DealRequest{First: 4, Runs: []audit.Run{board(3)}})
	tb.close(s.ID)
	if store.reads != 0 {
		t.Errorf("the shuffle was read %d times while one daemon dealt it", store.reads)
	}
}

// TestRecentOfTwo: what one daemon remembers of a shuffle is older than what another one
// wrote. Every answer is as if it remembered nothing.
func TestRecentOfTwo(t *testing.T) {
	t.Parallel()
	me, thief := as("tester"), as("other")
	ended := api.CloseRequest{Outcome: audit.OutcomeEndedEarly}
	hand := api.DealRequest{First: 2, Runs: []audit.Run{seat(2, "b")}}
	next := api.DealRequest{First: 4, Runs: []audit.Run{board(3)}}
	dealt := func(d *dealer.Dealer, id uint64) error {
		_, err := d.Deal(t.Context(), me, id, hand)
		return err
	}
	for name, test := range map[string]struct {
		mixed   bool
		other   func(*dealer.Dealer, uint64) error
		then    func(*dealer.Dealer, uint64) (any, error)
		refused string
	}{
		"a deal goes on": {other: dealt, then: func(d *dealer.Dealer, id uint64) (any, error) {
			a, err := d.Deal(t.Context(), me, id, next)
			return a.Cards, err
		}},
		"a deal is repeated": {other: dealt, then: func(d *dealer.Dealer, id uint64) (any, error) {
			a, err := d.Deal(t.Context(), me, id, hand)
			return []any{a.Cards, a.Repeated}, err
		}},
		"places are revealed": {other: dealt, then: func(d *dealer.Dealer, id uint64) (any, error) {
			a, err := d.Reveal(t.Context(), me, id, api.RevealRequest{Places: []int{3}})
			return a.Cards, err
		}},
		"a close shows them": {other: dealt, then: func(d *dealer.Dealer, id uint64) (any, error) {
			req := ended
			req.Reveal = []int{3}
			a, err := d.Close(t.Context(), me, id, req)
			if err != nil {
				return nil, err
			}
			return a.Reveal.Cards, nil
		}},
		"a mix": {mixed: true, other: func(d *dealer.Dealer, id uint64) error {
			values, _ := slots("t", 1)
			_, err := d.Mix(t.Context(), me, id, api.MixRequest{Slots: values})
			return err
		}, then: func(d *dealer.Dealer, id uint64) (any, error) {
			a, err := d.Deal(t.Context(), me, id, api.DealRequest{Runs: []audit.Run{board(3)}})
			return a.Cards, err
		}},
		"a takeover": {other: func(d *dealer.Dealer, id uint64) error {
			takePlay(t, d, thief, id)
			return nil
		}, then: func(d *dealer.Dealer, id uint64) (any, error) {
			a, err := d.Deal(t.Context(), me, id, hand)
			return a.Cards, err
		}, refused: audit.RuleOwner},
		"a close": {other: func(d *dealer.Dealer, id uint64) error {
			_, err := d.Close(t.Context(), me, id, ended)
			return err
		}, then: func(d *dealer.Dealer, id uint64) (any, error) {
			a, err := d.Close(t.Context(), me, id, ended)
			return []any{a.Tape, a.Repeated}, err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tb := newTableWith(t, setting{modes: allModes})
			req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
			if test.mixed {
				_, hashes := slots("t", 1)
				req.Plan = &api.MixPlan{Slots: hashes}
			}
			s := tb.commit("k", req)
			if !test.mixed {
				tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a")}})
			}
			must(t, test.other(dealer.New(tb.cfg), s.ID))
			got, err := test.then(tb.Dealer, s.ID)
			if test.refused != "" {
				wantRefusal(t, name, err, "", test.refused)
				return
			}
			must(t, err)
			want, err := test.then(dealer.New(tb.cfg), s.ID)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: a daemon that remembers nothing answers otherwise: %s", name, diff)
			}
		})
	}
}
