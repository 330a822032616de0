package dealer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
)

// child asks for cards of a shuffle at table t.
func child(id uint64, positions ...uint16) api.ShuffleRequest {
	return api.ShuffleRequest{Table: "t", Parent: &api.Parent{ID: id, Positions: positions}}
}

// values are the cards' values, sorted.
func sortedValues(cards ...[]openings.Card) (values []uint32) {
	for _, c := range slices.Concat(cards...) {
		values = append(values, c.Value)
	}
	slices.Sort(values)
	return values
}

// wholeDeck is 0 … n−1.
func wholeDeck(n int) (values []uint32) {
	for i := range n {
		values = append(values, uint32(i))
	}
	return values
}

// all deals every place that is left, and closes.
func (tb *table) all(s api.Shuffle, first, count int) []openings.Card {
	tb.t.Helper()
	return tb.deal(s.ID, api.DealRequest{First: first, Runs: []audit.Run{seat(count, "a")},
		Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}}).Cards
}

// TestStub: the cards that were not dealt are shuffled again, with or without a
// mix, and every card of the deck is in the parent's deals or the child's, once.
func TestStub(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		for name, plan := range map[string]*api.MixPlan{"plain": nil, "mixed": {Cut: true}} {
			parent := tb.commit(name, api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: plan})
			if plan != nil {
				if _, err := tb.Mix(t.Context(), as("tester"), parent.ID, api.MixRequest{Cut: num(30)}); err != nil {
					t.Fatal(err)
				}
			}
			dealt := tb.deal(parent.ID, api.DealRequest{Runs: []audit.Run{seat(9, "a"),
				{Count: 2, Purpose: audit.PurposeBurn, Public: true}}})
			req := child(parent.ID)
			s := tb.commit(name+"-stub", req)
			state, err := tb.Status(t.Context(), parent.ID)
			if err != nil || state.Outcome != audit.OutcomeContinued.String() || state.ClosedAt == 0 {
				t.Errorf("%s: the parent is %+v, %v", name, state, err)
			}
			tb.restart()
			tb.unwritten(func() {
				if diff := cmp.Diff(s, tb.commit(name+"-stub", req), sameAnswer); diff != "" {
					t.Error(name, "the child repeated after its parent ended:", diff)
				}
				_, err := tb.Shuffle(t.Context(), as("tester"), name+"-again", req)
				wantRefusal(t, "a second child", err, "", audit.RuleParent)
			})
			of, below := tb.commitOf(parent.ID).Context, tb.commitOf(s.ID).Context
			if below.Parent == nil || below.Parent.ID != parent.ID || below.Recipe.Take != 41 ||
				below.Recipe.Cards != 41 || below.DeckHash != of.DeckHash {
				t.Errorf("%s: the child is %+v", name, below)
			}
			rest := tb.all(s, 0, 41)
			if got := sortedValues(dealt.Cards, rest); !slices.Equal(got, wholeDeck(52)) {
				t.Errorf("%s: parent and child together are %v", name, got)
			}
			for _, c := range rest {
				if c.Card == "" {
					t.Errorf("%s: card %+v", name, c)
				}
			}
			tb.transcript(parent.ID, api.View{})
			tb.transcript(s.ID, api.View{})
		}
	})
}

// TestListedPositions: returned cards, a part of a deck, take and a cut card.
func TestListedPositions(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		parent := tb.commit("parent", deckOf(audit.DisclosurePublic))
		dealt := tb.deal(parent.ID, api.DealRequest{Runs: []audit.Run{seat(6, "a")}}).Cards
		// Two of the dealt cards come back, with two that nobody saw.
		req := child(parent.ID, 3, 50, 1, 40)
		req.Take, req.EndAt = num(3), &api.EndAt{Lo: 1, Hi: 3}
		s := tb.commit("child", req)
		cards := tb.all(s, 0, 3)
		tr := tb.transcript(parent.ID, api.View{})
		tape := tb.endOf(parent.ID).Tape
		commit := tb.entries()[parent.ID].Body.(*audit.Commit)
		out, err := commit.Context.Recipe.Run(tape)
		must(t, err)
		back := []uint32{out.Values[3], out.Values[50], out.Values[1], out.Values[40]}
		for _, c := range cards {
			if !slices.Contains(back, c.Value) {
				t.Errorf("the child deals %d, the cards that came back are %d", c.Value, back)
			}
		}
		if dealt[3].Value != back[0] || len(tr.Cards) != 6 {
			t.Errorf("the parent showed %d, its tape says %d", dealt[3].Value, back[0])
		}
		tb.transcript(s.ID, api.View{})
		if state, err := tb.Status(t.Context(), s.ID); err != nil || !*state.LastHand ||
			commit.Context.DeckHash != tb.commitOf(s.ID).Context.DeckHash ||
			tb.commitOf(s.ID).Context.Recipe.EndHi != 3 {
			t.Errorf("%+v, %v", state, err)
		}
	})
}

// TestChildTellsNoBurn: a child that holds a burn has all cards that nobody saw, as a continuous shuffler gives them
// back. Otherwise its cards would tell the owner what was burned.
func TestChildTellsNoBurn(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		parent := tb.commit("burned", deckOf(audit.DisclosurePublic))
		runs := []audit.Run{seat(2, "a"), {Count: 1, Purpose: audit.PurposeBurn}, board(3)}
		tb.deal(parent.ID, api.DealRequest{Runs: runs})
		all := make([]uint16, 52)
		for i := range all {
			all[i] = uint16(i)
		}
		tb.unwritten(func() {
			for name, with := range map[string][]uint16{"a-known-one": {0, 2}, "an-undealt-one": {2, 51},
				"all-but-one": all[:51]} {
				_, err := tb.Shuffle(t.Context(), as("tester"), name, child(parent.ID, with...))
				wantRefusal(t, "a burn with "+name, err, "", audit.RuleParent)
			}
		})
		unseen := append([]uint16{2}, all[6:]...)
		tb.all(tb.commit("unseen", child(parent.ID, unseen...)), 0, 47)
	})
}

// deckOf is a deck at table t.
func deckOf(who audit.Disclosure) api.ShuffleRequest {
	return api.ShuffleRequest{Table: "t", Deck: "standard-52", Disclosure: who}
}

// endOf is what the ledger says of the tape of a shuffle.
func (tb *table) endOf(id uint64) audit.DisclosureEntry {
	tb.t.Helper()
	for _, e := range tb.entries() {
		if d, ok := audit.DisclosedBy(e.Body); ok && d.Shuffle == id {
			return d
		}
	}
	tb.t.Fatalf("no entry says anything of the tape of shuffle %d", id)
	return audit.DisclosureEntry{}
}

// closeOf is the close of a shuffle. commitOf returns the commit at an index of the ledger.
func (tb *table) commitOf(id uint64) *audit.Commit {
	tb.t.Helper()
	c, ok := tb.entries()[id].Body.(*audit.Commit)
	if !ok {
		tb.t.Fatalf("entry %d is no commit", id)
	}
	return c
}

func (tb *table) closeOf(id uint64) *audit.Close {
	tb.t.Helper()
	for _, e := range tb.entries() {
		if c, ok := e.Body.(*audit.Close); ok && c.Shuffle == id {
			return c
		}
	}
	tb.t.Fatalf("shuffle %d is not closed", id)
	return nil
}

// TestBadChildren: what is no parent, and what are no positions of it.
func TestBadChildren(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		parent := tb.commit("parent", api.ShuffleRequest{Table: "t", Deck: "standard-52", Take: num(20)})
		draw, err := tb.Draws(t.Context(), as("tester"), "draw", api.DrawsRequest{Table: "t", Ranges: []uint32{6, 6}})
		must(t, err)
		elsewhere := tb.commit("elsewhere", api.ShuffleRequest{Table: "u", Deck: "standard-52"})
		closed := tb.commit("closed", deckOf(audit.DisclosurePublic))
		tb.close(closed.ID)
		with := func(r api.ShuffleRequest, change func(r *api.ShuffleRequest)) api.ShuffleRequest {
			change(&r)
			return r
		}
		tb.unwritten(func() {
			for name, c := range map[string]struct {
				field, rule string
				req         api.ShuffleRequest
			}{
				"the genesis":     {"parent.id", "", child(0)},
				"an event":        {"", audit.RuleParent, child(1)},
				"nothing":         {"", audit.RuleParent, child(999)},
				"too far":         {"parent.id", "", child(audit.MaxInteger + 1)},
				"a draw":          {"", audit.RuleParent, child(draw.ID)},
				"another table's": {"", audit.RuleParent, child(elsewhere.ID)},
				"a closed one":    {"", audit.RuleParent, child(closed.ID)},
				"one position":    {"parent.positions", "", child(parent.ID, 1)},
				"no positions": {"parent.positions", "",
					with(child(parent.ID), func(r *api.ShuffleRequest) { r.Parent.Positions = []uint16{} })},
				"a position twice":      {"parent.positions[2]", "", child(parent.ID, 1, 2, 1)},
				"one that none has":     {"parent.positions[1]", "", child(parent.ID, 1, 4096)},
				"one that is not dealt": {"", audit.RuleParent, child(parent.ID, 1, 20)},
				"a deck, too": {"parent", "",
					with(child(parent.ID), func(r *api.ShuffleRequest) { r.Deck = "standard-52" })},
				"take more": {"take", "",
					with(child(parent.ID, 1, 2), func(r *api.ShuffleRequest) { r.Take = num(3) })},
				"end_at more": {"end_at", "",
					with(child(parent.ID, 1, 2),
						func(r *api.ShuffleRequest) { r.EndAt = &api.EndAt{Lo: 3, Hi: 3} })},
			} {
				_, err := tb.Shuffle(t.Context(), as("tester"), strings.ReplaceAll(name, " ", "-"), c.req)
				wantRefusal(t, name, err, c.field, c.rule)
			}
		})
		tb.deal(parent.ID, api.DealRequest{Runs: []audit.Run{seat(19, "a")}})
		tb.unwritten(func() {
			_, err := tb.Shuffle(t.Context(), as("tester"), "one-left", child(parent.ID))
			wantRefusal(t, "one card is left", err, "", audit.RuleParent)
			tb.pass(time.Hour + time.Second)
			_, err = tb.Shuffle(t.Context(), as("tester"), "late", child(parent.ID, 0, 1))
			wantRefusal(t, "an overdue parent", err, "", audit.RuleParent)
		})
		if n, err := tb.Expire(t.Context()); n != 3 || err != nil {
			t.Errorf("%d expired, %v", n, err)
		}
	})
}

// TestGenerations shuffles the same cards again for as many generations as a chain may have.
func TestGenerations(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("0", deckOf(audit.DisclosurePublic))
	ids := []uint64{s.ID}
	for n := 1; n <= 7; n++ {
		s = tb.commit(fmt.Sprint(n), child(s.ID, 0, 1, 2, 3, 4, 5, 6, 7))
		ids = append(ids, s.ID)
	}
	tb.unwritten(func() {
		_, err := tb.Shuffle(t.Context(), as("tester"), "8", child(s.ID, 0, 1, 2))
		wantRefusal(t, "the ninth of a chain", err, "", audit.RuleParent)
	})
	cards := tb.all(s, 0, 8)
	commit := tb.entries()[ids[0]].Body.(*audit.Commit)
	out, err := commit.Context.Recipe.Run(tb.endOf(ids[0]).Tape)
	must(t, err)
	first := slices.Sorted(slices.Values(out.Values[:8]))
	if got := sortedValues(cards); !slices.Equal(got, first) {
		t.Errorf("after 7 generations the cards are %v, they were %v", got, first)
	}
	for _, id := range ids {
		tb.transcript(id, api.View{})
	}
	// Without the sealing key everything disclosed is opened, through all ancestors.
	cfg := tb.cfg
	cfg.Keys = newRing(t)
	other := dealer.New(cfg)
	for _, id := range ids {
		if _, err := other.Transcript(t.Context(), id, api.View{}); err != nil {
			t.Errorf("the transcript of %d without the sealing key: %v", id, err)
		}
	}
}

// TestChildrenAndDeals: while a parent is dealt, a child of its stub comes. It
// holds exactly what was not dealt, or it is refused.
func TestChildrenAndDeals(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		rival := tb.rival(tb.cfg.Store)
		refused := 0
		for n := range 12 {
			parent := tb.commit(fmt.Sprint("parent-", n), deckOf(audit.DisclosurePublic))
			var wg sync.WaitGroup
			var dealt []openings.Card
			wg.Go(func() {
				for first := 0; first < 40; first++ {
					d, err := rival.Deal(context.Background(), as("tester"), parent.ID,
						api.DealRequest{First: first, Runs: []audit.Run{seat(1, "a")}})
					if err != nil {
						break // the parent ended
					}
					dealt = append(dealt, d.Cards...)
				}
			})
			answers := make([]api.Shuffle, 3)
			errs := make([]error, len(answers))
			for i := range answers {
				wg.Go(func() {
					answers[i], errs[i] = tb.Shuffle(context.Background(), as("tester"), fmt.Sprint("child-", n),
						child(parent.ID))
				})
			}
			wg.Wait()
			// A copy that gave way to deals may be refused before another is not.
			s, err := tb.Shuffle(t.Context(), as("tester"), fmt.Sprint("child-", n), child(parent.ID))
			for i := range answers {
				if errs[i] != nil {
					refused++
					wantRefusal(t, "a child of a busy parent", errs[i], "", audit.RuleParent)
				} else if diff := cmp.Diff(s, answers[i], sameAnswer); diff != "" || err != nil {
					t.Error("copies of a child get different answers:", err, diff)
				}
			}
			if err != nil {
				t.Fatal("refused although nobody deals:", err)
			}
			rest := tb.all(s, 0, 52-len(dealt))
			if got := sortedValues(dealt, rest); !slices.Equal(got, wholeDeck(52)) {
				t.Fatalf("parent and child together are %v", got)
			}
		}
		t.Logf("%d of %d requests gave way to deals", refused, 12*3)
		tb.entries()
	})
}

// TestChildDisclosure: each side discloses as its own commit declared.
func TestChildDisclosure(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, auditors []*disclosure.Auditor) {
		kinds := []audit.Disclosure{audit.DisclosurePublic, audit.DisclosureAuditor}
		var sealed []uint64
		for _, above := range kinds {
			for _, below := range append(kinds, 0) { // 0: that of the parent
				name := fmt.Sprint(above, "-", below)
				parent := tb.commit(name, deckOf(above))
				dealt := tb.deal(parent.ID, api.DealRequest{Runs: []audit.Run{seat(4, "a"), board(3)}}).Cards
				req := child(parent.ID)
				req.Disclosure = below
				s := tb.commit(name+"-child", req)
				rest := tb.all(s, 0, 45)
				if got := sortedValues(dealt, rest); !slices.Equal(got, wholeDeck(52)) {
					t.Errorf("%s: parent and child together are %v", name, got)
				}
				if below == 0 {
					below = above
				}
				for id, who := range map[uint64]audit.Disclosure{parent.ID: above, s.ID: below} {
					form := tb.endOf(id).Form
					if (form == audit.FormTape) != (who == audit.DisclosurePublic) {
						t.Errorf("%s: shuffle %d closed in form %d", name, id, form)
					}
					if who == audit.DisclosureAuditor {
						sealed = append(sealed, id)
					}
					tb.transcript(id, api.View{})
					tb.transcript(id, api.View{Auditor: true})
					tb.transcript(id, api.View{Identity: "tester"})
				}
			}
		}
		tapes := tb.opened(auditors[0])
		for _, id := range sealed {
			if tapes[id] == nil {
				t.Errorf("the auditor cannot open shuffle %d", id)
			}
		}
		if len(sealed) != 6 {
			t.Errorf("void: %d sealed", len(sealed))
		}
	})
}
