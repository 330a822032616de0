package dealer_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

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
