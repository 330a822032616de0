package exact

import (
	"context"
	"slices"
	"testing"

	"shuffled/internal/shuffle"
)

// someDecks are some of AllDecks with fewer random orders, for many models.
func someDecks() []Deck {
	return []Deck{{Cards: 10, Random: 500}, {Cards: 52, Random: 2000}, {Cards: 104, Random: 200},
		{Cards: 19, To: 21, Random: 10}, {Cards: 832, To: 833, Random: 2, Three: true}}
}

// TestBrokenDecksFail gives the prover shuffles that are right for every single draw
// and for every order of up to nine cards, each with one fault of whole decks.
func TestBrokenDecksFail(t *testing.T) {
	t.Parallel()
	after := func(cards int, spoil func(shuffle.Recipe, []uint32)) Run {
		return func(r shuffle.Recipe, tape []byte) (shuffle.Outcome, error) {
			out, err := Daemon(r, tape)
			if err == nil && r.Cards >= cards {
				spoil(r, out.Values)
			}
			return out, err
		}
	}
	at52 := func(broken model) Run {
		return func(r shuffle.Recipe, tape []byte) (shuffle.Outcome, error) {
			if r.Cards != 52 || r.Take != 52 || r.EndHi != 0 {
				return Daemon(r, tape)
			}
			return broken.run(r, tape)
		}
	}
	swapIf := func(v []uint32, a int, card uint32, b int) {
		if len(v) > max(a, b) && v[a] == card {
			v[a], v[b] = v[b], v[a]
		}
	}
	for name, run := range map[string]Run{
		"the ace is never last of 20 cards": after(20, func(r shuffle.Recipe, v []uint32) {
			if r.Cards == 20 {
				swapIf(v, r.Cards-1, 0, 0)
			}
		}),
		"the ace is never last of 833 cards or more": after(833, func(r shuffle.Recipe, v []uint32) {
			swapIf(v, r.Cards-1, 0, 0)
		}),
		"the ace is never last": after(10, func(r shuffle.Recipe, v []uint32) {
			swapIf(v, r.Cards-1, 0, 0)
		}),
		"one lane too many at draw 16": at52(model{limit: func(x, limit uint64, k uint32) bool {
			return x < limit || k == 37 && x == limit
		}}),
		"the last lane of draw 16 rejected": at52(model{limit: func(x, limit uint64, k uint32) bool {
			return x < limit && (k != 37 || x != limit-1)
		}}),
		"another value from one lane of draw 40": at52(model{value: func(x, _ uint64, k uint32) uint32 {
			if k == 13 && x == 100 {
				return 1
			}
			return 1 + uint32(x%uint64(k))
		}}),
		"two draws that meet": after(52, func(_ shuffle.Recipe, v []uint32) {
			if v[3] == 20 && v[20] == 30 {
				v[3], v[20] = 30, 20
			}
		}),
		"the last card of two decks stays": after(104, func(_ shuffle.Recipe, v []uint32) {
			if i := slices.Index(v, 103); len(v) == 104 {
				v[i], v[103] = v[103], 103
			}
		}),
		"a card of a short take": after(52, func(r shuffle.Recipe, v []uint32) {
			if r.Take == 7 {
				v[0], v[6] = v[6], v[0]
			}
		}),
		"an end_at that is never the highest": func(r shuffle.Recipe, tape []byte) (shuffle.Outcome, error) {
			out, err := Daemon(r, tape)
			if r.EndHi > 0 && out.EndAt == r.EndHi {
				out.EndAt--
			}
			return out, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decks, err := Decks(context.Background(), run, someDecks(), Options{})
			if err != nil || decks.Proved || decks.Fault == "" {
				t.Fatalf("%+v, %v", decks, err)
			}
			t.Log(decks.Fault)
			if name == "an end_at that is never the highest" || name == "a card of a short take" {
				return
			}
			// The other proofs do not see it.
			if orders, err := AllOrders(context.Background(), run, 5, Options{}); err != nil || !orders.Proved {
				t.Errorf("%+v, %v", orders, err)
			}
		})
	}
}

// TestDecks counts the cases from their definitions.
func TestDecks(t *testing.T) {
	t.Parallel()
	r, err := Decks(context.Background(), Daemon, someDecks(), Options{})
	if err != nil || !r.Proved {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, want := range []Deck{
		{Cards: 10, Lanes: 9 * 256, EveryLane: true, Pairs: 1320, Random: 500},
		{Cards: 52, Lanes: 51 * 256, EveryLane: true, Pairs: 925_327, Random: 2000},
		{Cards: 104, Random: 200},
		{Cards: 19, To: 21, Lanes: 57 * 256, EveryLane: true, Pairs: 16_815 + 20_615 + 25_025, Random: 10},
		{Cards: 832, To: 833, Lanes: 2 * 3 * 8, Random: 2, Three: true},
	} {
		got := r.Decks[i]
		if want.Lanes == 0 {
			want.Lanes = 63 * 256
			for k := uint32(65); k <= 104; k++ {
				want.Lanes += uint64(k) + uint64(len(edges(k)))
			}
		}
		rejected := got.Rejected
		if got.Rejected = 0; got.Cards != want.Cards || got.To != want.To || got.Lanes != want.Lanes ||
			got.EveryLane != want.EveryLane || got.Three != want.Three ||
			got.Pairs != want.Pairs || got.Random != want.Random || rejected < 5*want.Random {
			t.Errorf("%+v with %d rejected, want %+v", got, rejected, want)
		}
	}
}

// TestRejectedInFront: a whole order of 52 cards has a lane to reject before every draw
// that can reject, and the tape is the same in every run.
func TestRejectedInFront(t *testing.T) {
	t.Parallel()
	r := shuffle.Recipe{Cards: 52, Take: 52}
	p := &deckProver{want: make([]uint32, 52), tape: make([]byte, shuffle.MaxTape)}
	rejects := make([]int, 52)
	var first []byte
	for range 2 {
		s := newSequence(52, 0)
		var tapes []byte
		for range 100 {
			tape, want, _, _ := p.drawn(r, s, rejects)
			tapes = append(tapes, tape...)
			in, can := 0, 0
			out, err := r.Explain(tape, func(step shuffle.Step) {
				if step.K > 1 && 256%step.K != 0 {
					can++
					in += min(1, len(step.Rejected))
				}
			})
			if err != nil || in != can || can != 46 || !slices.Equal(out.Values, want) {
				t.Fatalf("%d of %d draws: %v", in, can, err)
			}
		}
		if first == nil {
			first = tapes
		}
		if !slices.Equal(first, tapes) {
			t.Error("other tapes in the second run")
		}
	}
}
