package dealer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

// TestSlotOnce: a slot hash stands in one commit of the ledger, however two come:
// one after the other, at another table, in a draw, together, by two daemons.
func TestSlotOnce(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		_, hashes := slots("once", 34)
		plan := &api.MixPlan{Slots: hashes[:2]}
		first := api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: plan}
		s := tb.commit("first", first)
		again := func(when string) {
			t.Helper()
			tb.unwritten(func() {
				for _, table := range []string{"t", "u"} {
					one := &api.MixPlan{Slots: [][32]byte{hashes[9], hashes[1]}, Cut: true}
					_, err := tb.Shuffle(t.Context(), as("tester"), "second",
						api.ShuffleRequest{Table: table, Deck: "short-36", Plan: one})
					wantRefusal(t, when+", a shuffle at "+table, err, "", audit.RuleSlot)
					_, err = tb.Draws(t.Context(), as("tester"), "second",
						api.DrawsRequest{Table: table, Ranges: []uint32{6}, Plan: plan})
					wantRefusal(t, when+", a draw at "+table, err, "", audit.RuleSlot)
				}
				if diff := cmp.Diff(s, tb.commit("first", first), sameAnswer); diff != "" {
					t.Error(when, "the request that has the slot is answered otherwise:", diff)
				}
			})
		}
		again("open")
		tb.close(s.ID)
		again("closed")

		daemons := []*table{tb, tb.rival(tb.cfg.Store)}
		for n, hash := range hashes[10:] {
			var won, lost atomic.Int32
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					req := api.ShuffleRequest{Table: fmt.Sprintf("t%d", i%3), Deck: "standard-52",
						Plan: &api.MixPlan{Slots: [][32]byte{hash}}}
					_, err := daemons[i%2].Shuffle(context.Background(), as("tester"), fmt.Sprintf("%d-%d", n, i), req)
					var illegal *audit.Illegal
					switch {
					case err == nil:
						won.Add(1)
					case errors.As(err, &illegal) && illegal.Code == audit.RuleSlot:
						lost.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 || lost.Load() != 7 {
				t.Fatalf("%d of 8 commits have the slot, %d are refused", won.Load(), lost.Load())
			}
		}
		seen := make(map[[32]byte]bool)
		for _, e := range tb.entries() {
			if c, ok := e.Body.(*audit.Commit); ok {
				for _, p := range c.Context.Plan {
					if seen[p.Slot] {
						t.Errorf("slot %x stands in two commits", p.Slot)
					}
					seen[p.Slot] = true
				}
			}
		}
		if len(seen) != 2+24 {
			t.Errorf("void: %d slots", len(seen))
		}
	})
}

// TestMixWaitsForWitnesses: where deals wait for the witnesses, so do values.
func TestMixWaitsForWitnesses(t *testing.T) {
	onEachStore(t, setting{modes: allModes, witnesses: 2}, func(t *testing.T, tb *table) {
		values, hashes := slots("witnessed", 1)
		tb.witnesses[1].Down(true)
		s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{Slots: hashes}})
		tb.unwritten(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := tb.Mix(ctx, as("tester"), s.ID, api.MixRequest{Slots: values})
			wantIs(t, "a mix before the witnesses", err, ledger.ErrNotWitnessed)
		})
		tb.witnesses[1].Down(false)
		var err error
		for range 5 {
			if _, err = tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Slots: values}); !errors.Is(err,
				ledger.ErrNotWitnessed) {
				break
			}
		}
		must(t, err)
		entries := tb.entries()
		mix := entries[len(entries)-1].Body.(*audit.Mix)
		if mix.Checkpoint <= s.ID {
			t.Errorf("the mix names a cosigned checkpoint of %d entries, the commit is entry %d", mix.Checkpoint, s.ID)
		}
		tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a")}})
		tb.transcript(s.ID, api.View{})
	})
}

// TestFetchedRound: a round is asked for when it is out and not before, and believed when it is signed and not before.
func TestFetchedRound(t *testing.T) {
	t.Parallel()
	round := beacontest.Newest()
	tb := newTableWith(t, setting{modes: allModes, at: roundTime(round.Round).Add(-30 * time.Second)})
	var asked []uint64
	var answer [48]byte
	var failure error
	tb.cfg.Round = func(_ context.Context, r uint64) ([48]byte, error) {
		asked = append(asked, r)
		return answer, failure
	}
	tb.Dealer = dealer.New(tb.cfg)
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52",
		Plan: &api.MixPlan{Beacon: &api.BeaconPlan{Round: new(round.Round)}}})
	mix := func() error {
		_, err := tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{})
		return err
	}
	tb.unwritten(func() {
		wantIs(t, "before the round", mix(), api.ErrBeaconEarly)
		if len(asked) > 0 {
			t.Error("it was asked for before it was out")
		}
		tb.pass(31 * time.Second)
		failure = errors.New("no relay answers")
		wantIs(t, "no relay", mix(), api.ErrBeaconEarly)
		failure, answer = nil, beacontest.Rounds()[0].Signature
		wantRefusal(t, "another round", mix(), "", audit.RuleBeacon)
	})
	answer = round.Signature
	must(t, mix())
	tb.cfg.Round = nil
	tb.Dealer = dealer.New(tb.cfg)
	if err := mix(); err != nil {
		t.Errorf("a repeat fetches: %v", err)
	}
	if !slices.Equal(asked, []uint64{round.Round, round.Round, round.Round}) {
		t.Errorf("rounds %d were asked for", asked)
	}
}
