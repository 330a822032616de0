package dealer_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
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
			asks = append(asks, func(key string) (api.Shuffle, error) {
				return tb.Shuffle(t.Context(), as("tester"), key, req)
			})
		}
		draws := func(req api.DrawsRequest) {
			req.Table = "t"
			asks = append(asks, func(key string) (api.Shuffle, error) {
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

// TestDecksOfCommits: a commit that is refused leaves no deck behind, and one that
// lands has its deck in the store, alone and in a batch, also when it is repeated.
func TestDecksOfCommits(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[postgres], func(t *testing.T) {
			t.Parallel()
			decksOfCommits(t, newTableWith(t, setting{postgres: postgres}))
		})
	}
}

func decksOfCommits(t *testing.T, tb *table) {
	ctx := t.Context()
	request := func(n int) (api.ShuffleRequest, shuffle.Deck) {
		deck, err := shuffle.NewDeck([]string{"a", "b", fmt.Sprint("c", n)})
		must(t, err)
		return api.ShuffleRequest{Table: fmt.Sprint("t", n), Cards: deck.Cards()}, deck
	}
	kept := func(deck shuffle.Deck) bool {
		cards, err := tb.cfg.Store.Deck(ctx, tb.Ledger().ID(), deck.Hash())
		if err != nil && !errors.Is(err, ledger.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil && cmp.Equal(cards, deck.Cards())
	}
	event := func(e *audit.Event) {
		t.Helper()
		if _, err := tb.Ledger().Append(ctx, ledger.Proposal{Actor: as("admin"), Bodies: []audit.Body{e}}); err != nil {
			t.Fatal(err)
		}
	}
	event(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeLedger, Reason: "a drill"})
	for n := range 30 {
		req, deck := request(n)
		_, err := tb.Shuffle(ctx, as("tester"), fmt.Sprint("k", n), req)
		var illegal *audit.Illegal
		if !errors.As(err, &illegal) || illegal.Code != audit.RuleKill {
			t.Errorf("a commit under a kill switch: %v", err)
		}
		if kept(deck) {
			t.Errorf("the refused commit %d left its deck behind", n)
		}
	}
	event(&audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeLedger, Reason: "over"})
	for n := range 2 {
		for range 2 { // the second repeats the first
			req, deck := request(n)
			s, err := tb.Shuffle(ctx, as("tester"), fmt.Sprint("k", n), req)
			if err != nil || !kept(deck) {
				t.Fatalf("commit %d: %v; deck kept: %t", n, err, kept(deck))
			}
			if _, err := tb.Deal(ctx, as("tester"), s.ID,
				api.DealRequest{Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBoard}}}); err != nil {
				t.Error(err)
			}
			if _, err := tb.Shuffle(ctx, as("tester"), fmt.Sprint("b", n), req); err != nil {
				t.Errorf("a second commit with the same deck: %v", err)
			}
		}
	}
	named, _ := shuffle.Named("standard-52")
	for n := range 2 { // the second time the dealer knows that the store has it
		if _, err := tb.Shuffle(ctx, as("tester"), fmt.Sprint("n", n),
			api.ShuffleRequest{Table: "t", Deck: "standard-52"}); err != nil || !kept(named) {
			t.Errorf("a published deck: %v; kept: %t", err, kept(named))
		}
	}
}

// TestDecksAllowed: a refused deck changes nothing. What was committed before the settings changed has its first
// answer, and children.
func TestDecksAllowed(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	set := func(decks ...string) { tb.cfg.Decks = decks; tb.Dealer = dealer.New(tb.cfg) }
	request := api.ShuffleRequest{Table: "t", Cards: []string{"a", "b", "c"}}
	s := tb.commit("first", request)
	set("shoe-1")
	size := tb.Ledger().Head().Size
	if _, err := tb.Shuffle(t.Context(), as("tester"), "second", request); !errors.Is(err, dealer.ErrDeck) ||
		tb.Ledger().Head().Size != size {
		t.Errorf("a deck that is not allowed: %v", err)
	}
	if again := tb.commit("first", request); again.ID != s.ID {
		t.Error("the repeat of an earlier commit is another")
	}
	tb.commit("child", api.ShuffleRequest{Table: "t", Parent: &api.Parent{ID: s.ID, Positions: []uint16{2, 0}}})
	tb.commit("standard", api.ShuffleRequest{Table: "t", Deck: "standard-52"}) // shoe-1 by its first name
	tb.draw("draws", api.DrawsRequest{Table: "t", Ranges: []uint32{6}})
}
