package dealer_test

import (
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/seal"
)

// TestReshuffledStub: the stub is shuffled again in the middle of a hand, and nobody sees
// the hole cards before the hand is over, except those that are shown down.
func TestReshuffledStub(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		hand := tb.commit("hand", deckOf(audit.DisclosurePublic))
		tb.deal(hand.ID, api.DealRequest{Runs: []audit.Run{seat(2, "seat-1"), seat(2, "seat-2"), board(3)}})
		stub := tb.commit("stub", child(hand.ID))
		sees := func(id uint64, v api.View, want int) {
			t.Helper()
			if got := len(tb.transcript(id, v).Cards); got != want {
				t.Errorf("%+v sees %d cards of shuffle %d, want %d", v, got, id, want)
			}
		}
		seen := func(stranger, owner int) {
			t.Helper()
			sees(hand.ID, api.View{}, stranger)
			sees(hand.ID, api.View{Auditor: true}, stranger)
			sees(hand.ID, api.View{Identity: "tester"}, owner)
		}
		seen(3, 7)
		tb.deal(stub.ID, api.DealRequest{Runs: []audit.Run{board(1)}})
		shown, err := tb.Reveal(t.Context(), as("tester"), hand.ID, api.RevealRequest{Places: []int{2, 3}})
		if err != nil || len(shown.Cards) != 2 {
			t.Fatalf("%+v, %v", shown, err)
		}
		seen(5, 7)
		for _, e := range tb.entries() {
			if d, ok := audit.DisclosedBy(e.Body); ok {
				t.Errorf("a tape is disclosed: %+v", d)
			}
		}
		// Who takes the stub over has the hand as well.
		takePlay(t, tb.Dealer, as("another"), stub.ID)
		seen(5, 5)
		sees(hand.ID, api.View{Identity: "another"}, 7)
		_, err = tb.Reveal(t.Context(), as("tester"), hand.ID, api.RevealRequest{Places: []int{0}})
		wantRefusal(t, "a reveal by the earlier owner", err, "", audit.RuleOwner)
		if _, err := tb.Close(t.Context(), as("another"), stub.ID,
			api.CloseRequest{Outcome: audit.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		seen(7, 7)
		if d := tb.endOf(hand.ID); d.Form != audit.FormTape {
			t.Errorf("the hand is disclosed as %+v", d)
		}
		if r := tb.inspected(nil); r.FaultCount > 0 {
			t.Errorf("the audit finds %+v", r.Faults)
		}
	})
}

// TestForgottenChain: the daemon closes the last shuffle of a chain, and discloses all.
func TestForgottenChain(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		root := tb.commit("root", deckOf(audit.DisclosurePublic))
		kid := tb.commit("kid", child(root.ID))
		last := tb.commit("last", child(kid.ID))
		tb.pass(3 * 3600 * 1e9)
		if n, err := tb.Expire(t.Context()); n != 1 || err != nil {
			t.Errorf("%d expired, %v", n, err)
		}
		for _, id := range []uint64{root.ID, kid.ID, last.ID} {
			if d := tb.endOf(id); d.Form != audit.FormTape {
				t.Errorf("shuffle %d is disclosed as %+v", id, d)
			}
		}
		if r := tb.inspected(nil); r.FaultCount > 0 {
			t.Errorf("the audit finds %+v", r.Faults)
		}
	})
}

// TestLostAncestor: the tape of a chain's root is lost. The chain cannot end as if it were
// there; an administrator ends it, and what can still be opened is disclosed.
func TestLostAncestor(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		first, second := sealingKey(t, 1), sealingKey(t, 2)
		under := func(newest *seal.Key, older ...*seal.Key) {
			ring, err := seal.NewKeyring(newest, older...)
			must(t, err)
			tb.cfg.Keys = ring
			tb.Dealer = dealer.New(tb.cfg)
		}
		under(first)
		root := tb.commit("root", deckOf(audit.DisclosurePublic))
		tb.deal(root.ID, api.DealRequest{Runs: []audit.Run{seat(2, "seat-1"), board(1)}})
		under(second, first)
		kid := tb.commit("kid", child(root.ID))
		last := tb.commit("last", child(kid.ID))
		lost := api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost}
		tb.unwritten(func() {
			_, err := tb.Close(t.Context(), as("admin"), last.ID, lost)
			wantRefusal(t, "tape_lost of a chain that is there", err, "reason", "")
		})
		under(second)
		tb.deal(last.ID, api.DealRequest{Runs: []audit.Run{board(1)}}) // its own cards are there
		tb.unwritten(func() {
			for name, close := range map[string]api.CloseRequest{"completed": {Outcome: audit.OutcomeCompleted},
				"void": {Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal}} {
				_, err := tb.Close(t.Context(), as("tester"), last.ID, close)
				wantIs(t, name, err, api.ErrSealed)
			}
		})
		closed, err := tb.Close(t.Context(), as("admin"), last.ID, lost)
		if err != nil || closed.Tape != nil {
			t.Fatalf("%+v, %v", closed, err)
		}
		again, err := tb.Close(t.Context(), as("admin"), last.ID, lost)
		if err != nil || !again.Repeated || again.Receipt != closed.Receipt {
			t.Errorf("again: %+v, %v", again, err)
		}
		for id, form := range map[uint64]audit.Form{root.ID: audit.FormNone, kid.ID: audit.FormTape,
			last.ID: audit.FormNone} {
			if d := tb.endOf(id); d.Form != form {
				t.Errorf("shuffle %d is disclosed as %+v, want form %d", id, d, form)
			}
		}
		if r := tb.inspected(nil); r.FaultCount != 2 || r.FaultCodes["tape_lost"] != 2 {
			t.Errorf("the audit finds %+v", r.Faults)
		}
	})
}
