package dealer_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/dealer/api"
)

// TestEveryMemberCounts makes requests that differ in one member, each under a key of its own, and then each under the
// key of every other: it is the same request only where it is.
func TestEveryMemberCounts(t *testing.T) {
	onBothAt(t, func(t *testing.T, tb *table) {
		_, h := slots("members", 8)
		by, later := tb.now().UnixMilli()+3_000_000, tb.now().UnixMilli()+3_000_001
		round := beacontest.Newest().Round
		type ask func(key string) (api.Shuffle, error)
		var asks []ask
		cards := func(change func(r *api.ShuffleRequest)) {
			req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
			change(&req)
			asks = append(asks, func(key string) (api.Shuffle,
				error) {
				return tb.Shuffle(t.Context(), as("tester"), key, req)
			})
		}
		draws := func(req api.DrawsRequest) {
			req.Table = "t"
			asks = append(asks, func(key string) (api.Shuffle,
				error) {
				return tb.Draws(t.Context(), as("tester"), key, req)
			})
		}
		plan := func(p api.MixPlan) { cards(func(r *api.ShuffleRequest) { r.Plan = &p }) }
		cards(func(r *api.ShuffleRequest) {})
		cards(func(r *api.ShuffleRequest) { r.Deck = "short-36" })
		for _, names := range [][]string{{"a", "b"}, {"b", "a"}, {"ab", "c"}, {"a", "bc"}, {"a", "b", "c"}} {
			cards(func(r *api.ShuffleRequest) { r.Deck, r.Cards = "", names })
		}
		for _, n := range []int{5, 6, 52} {
			cards(func(r *api.ShuffleRequest) { r.Take = &n })
		}
		for _, e := range []api.EndAt{{Lo: 1, Hi: 5}, {Lo: 1, Hi: 6}, {Lo: 5, Hi: 5}, {Lo: 2, Hi: 5}} {
			cards(func(r *api.ShuffleRequest) { r.EndAt = &e })
		}
		plan(api.MixPlan{Cut: true})
		plan(api.MixPlan{Beacon: new(api.BeaconPlan)})
		plan(api.MixPlan{Beacon: &api.BeaconPlan{Round: new(round)}})
		plan(api.MixPlan{Beacon: new(api.BeaconPlan), Cut: true})
		plan(api.MixPlan{Slots: h[:1]})
		plan(api.MixPlan{Slots: h[1:2]})
		plan(api.MixPlan{Slots: h[2:3], Cut: true})
		plan(api.MixPlan{Slots: h[3:5]})
		plan(api.MixPlan{Slots: [][32]byte{h[6], h[5]}})
		for _, who := range []audit.Disclosure{audit.DisclosurePublic, audit.DisclosureAuditor} {
			cards(func(r *api.ShuffleRequest) { r.Disclosure = who })
		}
		for _, at := range []api.Time{api.Time(by), api.Time(later)} {
			cards(func(r *api.ShuffleRequest) { r.CloseBy = &at })
		}
		for _, ref := range []string{"a", "b"} {
			cards(func(r *api.ShuffleRequest) { r.GameRef = ref })
		}
		for i, positions := range [][]uint16{nil, nil, {0, 1}, {1, 0}, {0, 1, 2}} {
			above := tb.commit(fmt.Sprint("above-", i), deckOf(0))
			cards(func(r *api.ShuffleRequest) {
				r.Deck, r.Parent = "", &api.Parent{ID: above.ID, Positions: positions}
			})
		}
		for _, ranges := range [][]uint32{{6}, {7}, {6, 6}, {6, 7}} {
			draws(api.DrawsRequest{Ranges: ranges})
		}
		draws(api.DrawsRequest{Ranges: []uint32{6}, Plan: &api.MixPlan{Slots: h[7:]}})
		draws(api.DrawsRequest{Ranges: []uint32{6}, GameRef: "a"})
		for _, n := range []api.Numbers{{Of: 6, Take: 1}, {Of: 6, Take: 2}, {Of: 7, Take: 1}} {
			draws(api.DrawsRequest{Numbers: &n})
		}
		for _, w := range [][]api.Stop{{{Label: "a", Weight: 1}, {Label: "b", Weight: 2}},
			{{Label: "a", Weight: 2}, {Label: "b", Weight: 1}},
			{{Label: "b", Weight: 1}, {Label: "a", Weight: 2}}} {
			draws(api.DrawsRequest{Wheel: w})
		}
		// As cards, numbers 1..2 are a deck of the cards 1 and 2: still another request.
		cards(func(r *api.ShuffleRequest) { r.Deck, r.Cards = "", []string{"1", "2"} })
		draws(api.DrawsRequest{Numbers: &api.Numbers{Of: 2, Take: 2}})

		answers := make([]api.Shuffle, len(asks))
		for i, one := range asks {
			var err error
			if answers[i], err = one(fmt.Sprint("key-", i)); err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		tb.unwritten(func() {
			for i := range asks {
				for j, other := range asks {
					s, err := other(fmt.Sprint("key-", i))
					if i == j && (err != nil || !cmp.Equal(s, answers[i], sameAnswer)) {
						t.Errorf("request %d again: %v", i, err)
					} else if i != j && !errors.Is(err, api.ErrKeyReused) {
						t.Errorf("request %d under the key of %d: %v", j, i, err)
					}
				}
			}
		})
	})
}

// onBothAt runs a test on each store before the newest published round, with all sources and one auditor.
func onBothAt(t *testing.T, test func(t *testing.T, tb *table)) {
	t.Helper()
	_, publics := newAuditors(t, 1)
	onEachStore(t, setting{modes: allModes, auditors: publics,
		at: roundTime(beacontest.Newest().Round).Add(-10 * time.Minute)}, test)
}
