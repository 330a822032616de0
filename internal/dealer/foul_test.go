package dealer_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
)

// foul appends, behind the dealer's back, the commit of a deck that is not what its tape gives: change makes it so.
func (tb *table) foul(key string, c audit.Context, inputs []uint32, change func(values []uint32),
	more ...audit.Body) uint64 {
	t := tb.t
	t.Helper()
	tape, err := tb.cfg.Entropy.Tape(c.Recipe.TapeLen())
	must(t, err)
	c.Genesis = tb.Ledger().GenesisHash()
	out, err := c.Recipe.Run(tape)
	must(t, err)
	if inputs != nil {
		for i, x := range out.Values {
			out.Values[i] = inputs[x]
		}
	}
	change(out.Values)
	commitment := openings.Commitment(c.Encode(), tape)
	tree := openings.NewDeckTree(openings.LeafTag(commitment, c.Encode()), out.Values, openings.Salts(commitment, tape,
		len(out.Values)))
	sealed, err := tb.cfg.Keys.Seal(c.Origin, commitment, seal.Join(tape, inputs))
	must(t, err)
	commit := &audit.Commit{Context: &c, Commitment: commitment, DeckRoot: tree.Root(),
		KeyTag: audit.KeyTag(origin, "tester", c.Table, key)}
	appended, err := tb.Ledger().Append(t.Context(),
		ledger.Proposal{Actor: as("tester"), Bodies: append([]audit.Body{commit}, more...), Kept: [][]byte{sealed}})
	must(t, err)
	return appended[0].Index
}

// TestFoulDeck: no card is dealt of a deck whose root is of another order, or which has a card twice. The latch is set;
// the deck can only be ended, and its tape told, so that its table goes on and every audit sees it.
func TestFoulDeck(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		var causes []entropy.Cause
		source, err := entropy.New(entropy.Config{OnLatch: func(c entropy.Cause) { causes = append(causes, c) }})
		must(t, err)
		tb.cfg.Entropy = source
		tb.Dealer = dealer.New(tb.cfg)
		honest := tb.commit("honest", deckOf(audit.DisclosurePublic))
		template := tb.entries()[honest.ID].Body.(*audit.Commit).Context
		swapped := func(v []uint32) { v[0], v[1] = v[1], v[0] }
		parent := tb.commit("parent", deckOf(audit.DisclosurePublic))
		other := tb.commit("other", api.ShuffleRequest{Table: "u", Deck: "standard-52"})
		tb.deal(honest.ID, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
		below := *template
		below.Recipe.Cards, below.Recipe.Take = 3, 3
		below.Parent = &audit.Parent{ID: parent.ID, Positions: []uint16{0, 1, 2}}
		decks := map[string]uint64{
			"another order": tb.foul("1", *template, nil, swapped),
			"a card twice":  tb.foul("2", *template, nil, func(v []uint32) { v[0] = v[1] }),
			"no such card":  tb.foul("3", *template, nil, func(v []uint32) { v[0] = 52 }),
			// Its root is of its own cards; only that one is there twice tells.
			"a child with a card twice": tb.foul("4", below, []uint32{7, 8, 7}, func([]uint32) {},
				&audit.Close{Shuffle: parent.ID, Outcome: audit.OutcomeContinued}),
		}
		latched := 0
		for _, name := range []string{"another order", "a card twice", "no such card", "a child with a card twice"} {
			id := decks[name]
			tb.unwritten(func() {
				_, err := tb.Deal(t.Context(), as("tester"), id, api.DealRequest{Runs: []audit.Run{board(1)}})
				wantIs(t, name, err, api.ErrEntropy)
				cause, set := source.Latched()
				if !set || cause.Reason != entropy.ReasonFoulDeck {
					t.Errorf("%s: the latch is %v, %+v", name, set, cause)
				}
				_, err = tb.Shuffle(t.Context(), as("tester"), "more", deckOf(audit.DisclosurePublic))
				wantIs(t, "a commit after it", err, api.ErrEntropy)
				_, err = tb.Shuffle(t.Context(), as("tester"), "stub", child(id))
				wantIs(t, "a child of it", err, api.ErrEntropy)
				_, err = tb.Close(t.Context(), as("tester"), id, api.CloseRequest{Outcome: audit.OutcomeCompleted})
				wantIs(t, "its completion", err, api.ErrEntropy)
			})
			if latched++; len(causes) != latched {
				t.Errorf("%s: the owner was told of %d latches", name, len(causes))
			}
			tb.deal(honest.ID, api.DealRequest{First: latched, Runs: []audit.Run{seat(1, "a")}}) // what stands is dealt
			_, err := tb.ClearLatch(t.Context(), as("admin"), name, nil)
			must(t, err)
		}
		_, err = tb.Close(t.Context(), as("tester"), decks["another order"],
			api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal})
		if err != nil {
			t.Fatalf("a foul deck cannot be ended: %v", err)
		}
		tb.close(honest.ID)
		tb.close(other.ID)
		tb.pass(time.Hour + time.Second)
		for range 3 {
			if n, err := tb.Expire(t.Context()); err != nil || n != 3 && n != 0 {
				t.Errorf("%d expired, %v", n, err)
			}
		}
		if _, set := source.Latched(); set {
			t.Error("the reaper sets the latch again")
		}
		next := tb.commit("next", deckOf(audit.DisclosurePublic))
		tb.deal(next.ID, api.DealRequest{Runs: []audit.Run{board(52)}})
		for name, id := range decks {
			// The parent of the last was continued honestly: its inputs betray it.
			if got := tb.closeOf(id); got.Form != audit.FormTape ||
				name == "another order" != (got.Outcome == audit.OutcomeVoid) {
				t.Errorf("%s: closed as %+v", name, got)
			}
		}
		report := tb.inspected(nil)
		want := map[string]uint64{"deck_root": 4}
		if fmt.Sprint(report.FaultCodes) != fmt.Sprint(want) {
			t.Errorf("the audit finds %v, want %v: %+v", report.FaultCodes, want, report.Faults)
		}
		if kinds := latchEvents(tb.entries()); !slices.Equal(kinds,
			slices.Repeat([]audit.EventKind{audit.EventLatchSet, audit.EventLatchClear}, 4)) {
			t.Errorf("latch events %v", kinds)
		}
	})
}

// tapeOf opens the sealed tape of a shuffle as it stands in the store.
func (tb *table) tapeOf(id uint64) ([]byte, error) {
	found, err := tb.cfg.Store.ByShuffles(tb.t.Context(), tb.Ledger().ID(), ledger.Durable, id)
	if err != nil {
		return nil, err
	}
	rows := found[0]
	e, err := audit.ParseEntry(rows[0].Entry)
	if err != nil {
		return nil, err
	}
	c := e.Body.(*audit.Commit)
	b, err := tb.cfg.Keys.Open(origin, c.Commitment, rows[0].Kept)
	if err != nil {
		return nil, err
	}
	n := 0
	if c.Context.Parent != nil {
		n = c.Context.Recipe.Cards
	}
	tape, _, err := seal.Split(b, c.Context.Recipe.TapeLen(), n)
	return tape, err
}

// latchEvents are the kinds of the events about the latch.
func latchEvents(entries []audit.Entry) (kinds []audit.EventKind) {
	for _, e := range entries {
		if v, ok := e.Body.(*audit.Event); ok && (v.Kind == audit.EventLatchSet || v.Kind == audit.EventLatchClear) {
			kinds = append(kinds, v.Kind)
		}
	}
	return kinds
}
