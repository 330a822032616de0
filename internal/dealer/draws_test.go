package dealer_test

import (
	"fmt"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/shuffle"
	"shuffled/internal/verify"
)

func (tb *table) draw(key string, req api.DrawsRequest) api.Shuffle {
	tb.t.Helper()
	s, err := tb.Draws(tb.t.Context(), as("tester"), key, req)
	must(tb.t, err)
	return s
}

// TestDraws: dice, a raffle and a wheel, from the commit to the verdict.
func TestDraws(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		dice := tb.draw("dice", api.DrawsRequest{Table: "t", Ranges: []uint32{6, 6, 20, 1, 37}})
		d := tb.deal(dice.ID, api.DealRequest{Runs: []audit.Run{board(5)}})
		for i, k := range []uint32{6, 6, 20, 1, 37} {
			if v := d.Cards[i].Value; v < 1 || v > k || d.Shows[i] != v || d.Cards[i].Card != "" {
				t.Errorf("value %d of 1..%d is %+v, shows %d", i, k, d.Cards[i], d.Shows[i])
			}
		}
		if c := tb.commitOf(dice.ID).Context; len(c.Recipe.Ranges) != 5 || c.Recipe.Cards != 0 ||
			c.DeckHash != [32]byte{} {
			t.Errorf("%+v", c)
		}

		raffle := tb.draw("raffle", api.DrawsRequest{Table: "t", Numbers: &api.Numbers{Of: 80, Take: 20}})
		d = tb.deal(raffle.ID, api.DealRequest{Runs: []audit.Run{board(20)}})
		wantNumbers(t, 80, 20, d)
		many := tb.draw("many", api.DrawsRequest{Table: "u",
			Numbers: &api.Numbers{Of: shuffle.MaxRange, Take: shuffle.MaxNumbers}})
		for n := 0; n < shuffle.MaxNumbers; n += 1024 {
			wantNumbers(t, shuffle.MaxRange, 1024,
				tb.deal(many.ID, api.DealRequest{First: n, Runs: []audit.Run{board(1024)}}))
		}
		tb.close(many.ID)
		if v := tb.judged(many.ID, verify.Trust{}); v.Verdict != verify.Proved {
			t.Errorf("4,096 of 2^30 numbers: %+v", v.Steps)
		}
		_, err := tb.Deal(t.Context(), as("tester"), raffle.ID, api.DealRequest{First: 20, Runs: []audit.Run{board(1)}})
		wantRefusal(t, "the 21st number", err, "", audit.RulePlaces)

		wheel := tb.draw("wheel", api.DrawsRequest{Table: "t",
			Wheel: []api.Stop{{Label: "red", Weight: 18}, {Label: "black", Weight: 18}, {Label: "zero", Weight: 1}}})
		d = tb.deal(wheel.ID, api.DealRequest{Runs: []audit.Run{board(1)}})
		if c := d.Cards[0]; c.Card != map[bool]string{true: "red",
			false: map[bool]string{true: "black", false: "zero"}[c.Value < 36]}[c.Value < 18] {
			t.Errorf("the wheel stops at %+v", c)
		}
		for _, s := range []api.Shuffle{dice, raffle, wheel} {
			tb.transcript(s.ID, api.View{})
			tb.close(s.ID)
			tb.transcript(s.ID, api.View{})
		}
	})
}

// wantNumbers: cards are draws, each in a range one less than that of the place before,
// and show take different numbers of 1..of.
func wantNumbers(t *testing.T, of, take int, d api.Deal) {
	t.Helper()
	seen := make(map[uint32]bool)
	for i, c := range d.Cards {
		n := d.Shows[i]
		if n < 1 || int(n) > of || seen[n] || c.Value < 1 || int(c.Value) > of-c.Position || c.Card != "" {
			t.Fatalf("a number of 1..%d is %+v, shows %d", of, c, n)
		}
		seen[n] = true
	}
	if len(seen) != take {
		t.Errorf("%d numbers, want %d", len(seen), take)
	}
}

// TestMixedNumbers: players' values move the draws of numbers, which are dealt for
// everybody to see, in as many deals as the house likes.
func TestMixedNumbers(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		values, hashes := slots("draw", 2)
		s := tb.draw("k", api.DrawsRequest{Table: "t", Numbers: &api.Numbers{Of: 1_000_000, Take: 20},
			Plan: &api.MixPlan{Slots: hashes}})
		if _, err := tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Slots: values}); err != nil {
			t.Fatal(err)
		}
		_, err := tb.Deal(t.Context(), as("tester"), s.ID, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
		wantRefusal(t, "a number for one player alone", err, "runs[0].public", "")
		all := tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{board(3)}}).Shows
		all = append(all, tb.deal(s.ID, api.DealRequest{First: 3, Runs: []audit.Run{board(17)}}).Shows...)
		tb.transcript(s.ID, api.View{})
		tb.close(s.ID)
		v := tb.judged(s.ID, verify.Trust{Slots: values[1:]})
		if v.Verdict != verify.Proved || len(v.Cards) != 20 {
			t.Fatalf("the verdict is %+v", v)
		}
		moved := false
		for i, c := range v.Cards {
			if c.Shows != all[i] {
				t.Errorf("place %d: the verifier says %+v, the dealer %d", i, c, all[i])
			}
			moved = moved || c.Shows != c.Value
		}
		if !moved {
			t.Error("the mix moved nothing")
		}
	})
}

// TestMixedDraw: players' values move drawn values, each within its own range,
// and what is shown is what the verifier computes.
func TestMixedDraw(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		values, hashes := slots("draw", 2)
		ranges := []uint32{6, 6, 37, 1, 1 << 30, 100}
		for range 24 {
			ranges = append(ranges, 6)
		}
		s := tb.draw("k", api.DrawsRequest{Table: "t", Ranges: ranges, Plan: &api.MixPlan{Slots: hashes}})
		if _, err := tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Slots: values}); err != nil {
			t.Fatal(err)
		}
		req := api.DealRequest{Runs: []audit.Run{board(len(ranges))}}
		d := tb.deal(s.ID, req)
		moved := 0
		for i, c := range d.Cards {
			if c.Position != i || d.Shows[i] < 1 || d.Shows[i] > ranges[i] {
				t.Errorf("value %d of 1..%d: %+v shows %d", i, ranges[i], c, d.Shows[i])
			}
			if d.Shows[i] != c.Value {
				moved++
			}
		}
		if moved < 10 {
			t.Errorf("the mix moved %d of %d values", moved, len(ranges))
		}
		tb.close(s.ID)
		v := tb.judged(s.ID, verify.Trust{Slots: values[1:]})
		if v.Verdict != verify.Proved || len(v.Cards) != len(ranges) {
			t.Fatalf("the verdict is %+v", v)
		}
		for i, c := range v.Cards {
			if c.Shows != d.Shows[i] {
				t.Errorf("value %d: the verifier says %+v, the dealer %d", i, c, d.Shows[i])
			}
		}
	})
}

// TestBadDraws: bad requests name field and rule, and write nothing.
func TestBadDraws(t *testing.T) {
	t.Parallel()
	tb := newTableWith(t, setting{modes: allModes})
	long := make([]api.Stop, 4097)
	for i := range long {
		long[i] = api.Stop{Label: fmt.Sprint(i), Weight: 1}
	}
	tb.unwritten(func() {
		for name, c := range map[string]struct {
			field string
			req   api.DrawsRequest
		}{
			"nothing":   {"ranges", api.DrawsRequest{}},
			"two kinds": {"ranges", api.DrawsRequest{Ranges: []uint32{6}, Numbers: &api.Numbers{Of: 6, Take: 1}}},
			"three kinds": {"ranges",
				api.DrawsRequest{Ranges: []uint32{6}, Numbers: &api.Numbers{Of: 6, Take: 1}, Wheel: long[:3]}},
			"no ranges":            {"ranges", api.DrawsRequest{Ranges: []uint32{}}},
			"a range of 0":         {"ranges[1]", api.DrawsRequest{Ranges: []uint32{6, 0}}},
			"a range above 2^30":   {"ranges[0]", api.DrawsRequest{Ranges: []uint32{1<<30 + 1}}},
			"4,097 ranges":         {"ranges", api.DrawsRequest{Ranges: slices.Repeat([]uint32{1}, 4097)}},
			"more than a tape":     {"ranges", api.DrawsRequest{Ranges: slices.Repeat([]uint32{shuffle.MaxRange}, 4096*2)}},
			"one number":           {"numbers.of", api.DrawsRequest{Numbers: &api.Numbers{Of: 1, Take: 1}}},
			"2^30 and one numbers": {"numbers.of", api.DrawsRequest{Numbers: &api.Numbers{Of: 1<<30 + 1, Take: 1}}},
			"4,097 of many":        {"numbers.take", api.DrawsRequest{Numbers: &api.Numbers{Of: 5000, Take: 4097}}},
			"a cut of numbers": {"mix.cut", api.DrawsRequest{Numbers: &api.Numbers{Of: 6, Take: 1},
				Plan: &api.MixPlan{Cut: true}}},
			"none of 6":      {"numbers.take", api.DrawsRequest{Numbers: &api.Numbers{Of: 6}}},
			"7 of 6":         {"numbers.take", api.DrawsRequest{Numbers: &api.Numbers{Of: 6, Take: 7}}},
			"an empty wheel": {"wheel", api.DrawsRequest{Wheel: []api.Stop{}}},
			"one stop":       {"wheel", api.DrawsRequest{Wheel: long[:1]}},
			"no weight": {"wheel[1].weight",
				api.DrawsRequest{Wheel: []api.Stop{{Label: "a", Weight: 1}, {Label: "b"}}}},
			"a heavy stop": {"wheel[1].weight",
				api.DrawsRequest{Wheel: []api.Stop{{Label: "a", Weight: 1}, {Label: "b", Weight: 4096}}}},
			"the heaviest stop": {"wheel[0].weight",
				api.DrawsRequest{Wheel: []api.Stop{{Label: "a", Weight: int(^uint(0) >> 1)},
					{Label: "b", Weight: 2}}}},
			"weights that wrap": {"wheel[1].weight",
				api.DrawsRequest{Wheel: []api.Stop{{Label: "a", Weight: 2},
					{Label: "b", Weight: int(^uint(0) >> 1)}}}},
			"4,097 stops":         {"wheel[4096].weight", api.DrawsRequest{Wheel: long}},
			"a stop without name": {"wheel", api.DrawsRequest{Wheel: []api.Stop{{Weight: 2}, {Label: "b", Weight: 1}}}},
			"a cut of values":     {"mix.cut", api.DrawsRequest{Ranges: []uint32{6}, Plan: &api.MixPlan{Cut: true}}},
		} {
			c.req.Table = "t"
			_, err := tb.Draws(t.Context(), as("tester"), "k", c.req)
			wantRefusal(t, name, err, c.field, "")
		}
	})
}

// TestOrder: the whole rest goes to a back end in one run, once.
func TestOrder(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		order := func(n int) audit.Run { return audit.Run{Count: n, Purpose: audit.PurposeOrder, Recipient: "engine"} }
		s := tb.commit("k", deckOf(audit.DisclosurePublic))
		first := tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBurn, Public: true}}})
		tb.unwritten(func() {
			for name, runs := range map[string][]audit.Run{
				"a part":            {order(50)},
				"not the last run":  {order(50), board(1)},
				"more than is left": {order(52)},
				"two orders":        {order(20), order(31)},
			} {
				_, err := tb.Deal(t.Context(), as("tester"), s.ID, api.DealRequest{First: 1, Runs: runs})
				wantRefusal(t, name, err, "", audit.RulePlaces)
			}
		})
		req := api.DealRequest{First: 1, Runs: []audit.Run{board(3), order(48)}}
		d := tb.deal(s.ID, req)
		if got := sortedValues(first.Cards, d.Cards); !slices.Equal(got, wholeDeck(52)) {
			t.Errorf("all cards are %v", got)
		}
		if public := tb.transcript(s.ID, api.View{}); len(public.Cards) != 4 {
			t.Errorf("everybody sees %d cards", len(public.Cards))
		}
		_, err := tb.Deal(t.Context(), as("tester"), s.ID, api.DealRequest{First: 52, Runs: []audit.Run{board(1)}})
		wantRefusal(t, "after the order", err, "", audit.RulePlaces)
		tb.close(s.ID)
		tb.transcript(s.ID, api.View{})
	})
}

// TestLastHand: the cut card is told when it comes out and not a place before,
// also when its place was drawn from the tape.
func TestLastHand(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		for n := range 12 {
			end := api.EndAt{Lo: 10, Hi: 10 + 2*n}
			s := tb.commit(fmt.Sprint(n), api.ShuffleRequest{Table: "t", Deck: "shoe-1", EndAt: &end})
			out := 0
			for first := 8; first < end.Hi+2; first++ {
				req := api.DealRequest{First: first, Runs: []audit.Run{seat(1, "a")}}
				if first == 8 {
					req = api.DealRequest{Runs: []audit.Run{seat(9, "a")}}
				}
				d := tb.deal(s.ID, req)
				state, err := tb.Status(t.Context(), s.ID)
				if err != nil || state.LastHand == nil || *state.LastHand != d.LastHand {
					t.Fatalf("after place %d the deal says %t, the state %+v, %v", first, d.LastHand, state, err)
				}
				if d.LastHand && out == 0 {
					out = d.Next
				} else if !d.LastHand && out > 0 {
					t.Error("the cut card went back in")
				}
				if repeated := tb.deal(s.ID, req); repeated.LastHand != d.LastHand {
					t.Error("a repeat says otherwise")
				}
			}
			tb.close(s.ID)
			v := tb.judged(s.ID, verify.Trust{})
			if v.EndAt != out || out < end.Lo || out > end.Hi || v.Verdict != verify.Proved {
				t.Errorf("the cut card of %v came out at %d, the verifier says %d (%s)", end, out, v.EndAt, v.Verdict)
			}
		}
	})
}
