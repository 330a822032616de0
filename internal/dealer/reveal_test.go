package dealer_test

import (
	"errors"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
	"shuffled/internal/verify"
)

// hand is a hand of poker, of which nothing but the board is public: places 0 and 1, 2 and
// 3, the burn 4, and the board 5 to 7.
func (tb *table) hand(key string, to audit.Disclosure) api.Shuffle {
	tb.t.Helper()
	s := tb.commit(key, api.ShuffleRequest{Table: "t", Deck: "standard-52", Disclosure: to})
	tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "seat-1"), seat(2, "seat-2"),
		{Count: 1, Purpose: audit.PurposeBurn}, board(3)}})
	return s
}

// places are those that a file opens.
func places(f *openings.Transcript) (all []int) {
	for _, c := range f.Cards {
		all = append(all, c.Place)
	}
	return all
}

// TestReveal: what was revealed is public, whatever the disclosure; what was not is not.
func TestReveal(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, _ []*disclosure.Auditor) {
		s := tb.hand("k", audit.DisclosureAuditor)
		shown, err := tb.Reveal(t.Context(), as("tester"), s.ID, api.RevealRequest{Places: []int{3, 2}})
		if err != nil || shown.Repeated || !slices.Equal(shown.Places, []int{2, 3}) || len(shown.Cards) != 2 {
			t.Fatal(shown, err)
		}
		if got := places(tb.transcript(s.ID, api.View{})); !slices.Equal(got, []int{2, 3, 5, 6, 7}) {
			t.Errorf("a stranger sees the places %v", got)
		}
		request := api.CloseRequest{Outcome: audit.OutcomeCompleted, Reveal: []int{4, 0}}
		ending, err := tb.Close(t.Context(), as("tester"), s.ID, request)
		if err != nil || ending.Reveal == nil || !slices.Equal(ending.Reveal.Places, []int{0, 4}) {
			t.Fatal(ending, err)
		}
		for _, other := range [][]int{nil, {0}, {0, 1, 4}} {
			_, err := tb.Close(t.Context(), as("tester"), s.ID, api.CloseRequest{Outcome: audit.OutcomeCompleted,
				Reveal: other})
			if !errors.Is(err, api.ErrRepeated) {
				t.Errorf("a close that reveals %v: %v", other, err)
			}
		}
		again, err := tb.Reveal(t.Context(), as("tester"), s.ID, api.RevealRequest{Places: []int{2, 3}})
		if err != nil || !again.Repeated {
			t.Errorf("the reveal after the close: %+v, %v", again, err)
		}
		for _, to := range []api.View{{}, {Identity: "tester", Recipient: "seat-2"}} {
			f := tb.transcript(s.ID, to)
			if got := places(f); !slices.Equal(got, []int{0, 2, 3, 4, 5, 6, 7}) {
				t.Errorf("%+v sees the places %v", to, got)
			}
			b, err := f.Marshal()
			if v := verify.File(b, verify.Trust{VKey: tb.vkey}); err != nil || v.Verdict != verify.Proved ||
				v.Shown != 7 || v.Next != 8 {
				t.Errorf("%+v: %s, %d shown of %d", to, v.Verdict, v.Shown, v.Next)
			}
		}
	})
}

// TestRevealFinal: deal, reveal and close in one batch, and the same deal with another close.
func TestRevealFinal(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.hand("k", audit.DisclosurePublic)
	req := api.DealRequest{First: 8, Runs: []audit.Run{board(1), {Count: 1, Purpose: audit.PurposeDiscard}},
		Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted, Reveal: []int{9, 1}}}
	first := tb.deal(s.ID, req)
	if first.Close == nil || first.Close.Reveal == nil || !slices.Equal(first.Close.Reveal.Places, []int{1, 9}) {
		t.Fatalf("%+v", first.Close)
	}
	req.Close = &api.CloseRequest{Outcome: audit.OutcomeCompleted}
	if _, err := tb.Deal(t.Context(), as("tester"), s.ID, req); !errors.Is(err, api.ErrRepeated) {
		t.Errorf("without the reveal: %v", err)
	}
}

// TestRevealRefused: a reveal that is refused says why, and writes nothing.
func TestRevealRefused(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.hand("k", audit.DisclosurePublic)
	for name, test := range map[string]struct {
		req         api.RevealRequest
		field, rule string
	}{
		"nothing":       {api.RevealRequest{}, "places", ""},
		"below 0":       {api.RevealRequest{Places: []int{0, -1}}, "places[1]", ""},
		"4,096":         {api.RevealRequest{Places: []int{4096}}, "places[0]", ""},
		"twice":         {api.RevealRequest{Places: []int{1, 0, 1}}, "places", ""},
		"not dealt":     {api.RevealRequest{Places: []int{8}}, "", audit.RuleReveal},
		"public":        {api.RevealRequest{Places: []int{0, 5}}, "", audit.RuleReveal},
		"a burn":        {api.RevealRequest{Places: []int{4}}, "", audit.RuleReveal},
		"of no shuffle": {api.RevealRequest{Places: []int{0}}, "", "not found"},
	} {
		id := s.ID
		if test.rule == "not found" {
			id = 1
		}
		tb.unwritten(func() {
			_, err := tb.Reveal(t.Context(), as("tester"), id, test.req)
			if id == 1 {
				if !errors.Is(err, api.ErrNotFound) {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
			wantRefusal(t, name, err, test.field, test.rule)
		})
	}
	another := audit.Actor{Identity: "another", Credential: "another"}
	tb.unwritten(func() {
		_, err := tb.Reveal(t.Context(), another, s.ID, api.RevealRequest{Places: []int{0}})
		wantRefusal(t, "by another", err, "", audit.RuleOwner)
		_, err = tb.Close(t.Context(), as("tester"), s.ID, api.CloseRequest{Outcome: audit.OutcomeCompleted,
			Reveal: []int{5}})
		wantRefusal(t, "a public place at the close", err, "", audit.RuleReveal)
		_, err = tb.Close(t.Context(), as("tester"), s.ID, api.CloseRequest{Outcome: audit.OutcomeCompleted,
			Reveal: []int{}})
		wantRefusal(t, "no place at the close", err, "reveal", "")
	})
	_, err := tb.Reveal(t.Context(), as("tester"), s.ID, api.RevealRequest{Places: []int{4}, Exposed: true})
	if err != nil {
		t.Errorf("a burn that was exposed: %v", err)
	}
}
