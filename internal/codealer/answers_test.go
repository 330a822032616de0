package codealer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/verify"
)

// told are the members of an answer that the house does not use: entry, openings and its own deck say it.
var told = map[string]bool{"time": true, "next": true, "repeated": true, "unopened": true, "card": true}

// altered calls each with the JSON of v, in which one value is another one, left out, or there twice.
func altered(v any, each func(what string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, was := range v {
			if told[name] {
				continue
			}
			for i, other := range others(was) {
				v[name] = other
				each(fmt.Sprint(name, " ", i))
			}
			v[name] = was
			altered(was, func(what string) { each(name + " " + what) })
		}
	case []any:
		for i, was := range v {
			for n, other := range others(was) {
				v[i] = other
				each(fmt.Sprint(i, " ", n))
			}
			v[i] = was
			altered(was, func(what string) { each(fmt.Sprint(i, " ", what)) })
		}
	}
}

// others are values in place of one of an answer.
func others(v any) (all []any) {
	switch v := v.(type) {
	case float64:
		if all = append(all, v+1, v+2, 4095.0); v == 0 {
			return all // which null is, too
		}
	case []any:
		if len(v) > 1 {
			turned := slices.Clone(v)
			slices.Reverse(turned)
			all = append(all, v[:len(v)-1], append(v[:len(v):len(v)], v[len(v)-1]), turned)
		}
	case string:
		for i := 0; i < len(v); i += 1 + len(v)/24 {
			flipped := []byte(v)
			flipped[i] ^= 1
			all = append(all, string(flipped))
		}
		if lines := strings.SplitAfter(v, "\n"); len(lines) > 2 { // a receipt, without the line of its witness
			all = append(all, strings.Join(lines[:len(lines)-2], ""))
		}
	}
	return append(all, nil)
}

// TestLyingCoDealer: a house takes no answer of its co-dealer in which any member is another one, which opens other
// positions of the same order, or which is to another request. It writes nothing, and the hand goes on.
func TestLyingCoDealer(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	var said []byte
	p.front.broken("/deal", func(w http.ResponseWriter, answered func() *httptest.ResponseRecorder) bool {
		said = answered().Body.Bytes()
		w.Write(said)
		return true
	})
	p.deal(s.ID, 0, seat(2, "a"))
	earlier := said
	p.front.broken("/deal", func(w http.ResponseWriter, answered func() *httptest.ResponseRecorder) bool {
		said = answered().Body.Bytes()
		return down(w, answered)
	})
	req := api.DealRequest{First: 2, Runs: []audit.Run{seat(2, "b"), burn, board(1)},
		State: audit.StateHash([]byte("hand 7\n"))}
	deal := func(req api.DealRequest) error {
		_, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID, req)
		return err
	}
	if deal(req) == nil {
		t.Fatal("the lost answer was taken")
	}
	size, tried := p.house.ledger.Head().Size, 0
	refused := func(what string, req api.DealRequest, answer []byte) {
		t.Helper()
		p.front.broken("/deal", func(w http.ResponseWriter, _ func() *httptest.ResponseRecorder) bool {
			w.Header().Set("Content-Type", "application/json")
			w.Write(answer)
			return true
		})
		tried++
		if err := deal(req); err == nil || p.house.ledger.Head().Size != size {
			t.Fatalf("%s: %v, and %d entries", what, err, p.house.ledger.Head().Size-size)
		}
	}
	var answer map[string]any
	check(t, json.Unmarshal(said, &answer))
	text := func() []byte {
		b, err := json.Marshal(answer)
		check(t, err)
		return b
	}
	altered(answer, func(what string) { refused(what, req, text()) })
	cards := answer["cards"].([]any)
	for i := range cards {
		one, other := cards[i].(map[string]any), cards[(i+1)%len(cards)].(map[string]any)
		swap := func() {
			cards[i], cards[(i+1)%len(cards)] = cards[(i+1)%len(cards)], cards[i]
			one["place"], other["place"] = other["place"], one["place"]
		}
		swap()
		refused(fmt.Sprint("the openings of two positions exchanged, from place ", i), req, text())
		swap()
	}
	refused("the answer to an earlier request", req, earlier)
	for what, change := range map[string]func(*api.DealRequest){
		"another history":   func(r *api.DealRequest) { r.State[0]++ },
		"no history":        func(r *api.DealRequest) { r.State = [32]byte{} },
		"another recipient": func(r *api.DealRequest) { r.Runs = []audit.Run{seat(2, "c"), burn, board(1)} },
		"another purpose":   func(r *api.DealRequest) { r.Runs = []audit.Run{seat(2, "b"), burn, seat(1, "b")} },
		"other runs": func(r *api.DealRequest) {
			r.Runs = []audit.Run{seat(1, "b"), seat(1, "b"), burn, board(1)}
		},
		"what is not public": func(r *api.DealRequest) { r.Runs[2].Public = false; r.Runs[2].Recipient = "d" },
	} {
		other := req
		other.Runs = append([]audit.Run{}, req.Runs...)
		change(&other)
		refused(what, other, said)
	}
	if tried < 150 {
		t.Errorf("only %d lies", tried)
	}
	p.front.broken("", nil)
	check(t, deal(req))
	p.proved(s.ID, api.View{})
}

// TestUnseenDeal: before the witnesses saw a deal of an order, no address opens its places.
func TestUnseenDeal(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.deal(s.ID, 0, board(1))
	check(t, p.house.ledger.AwaitCosigned(t.Context(), p.house.ledger.Head().Size-1))
	size := p.lab.ledger.Head().Size
	p.witness.Down(true)
	_, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID,
		api.DealRequest{First: 1, Runs: []audit.Run{board(1)}})
	if err == nil {
		t.Fatal("dealt, and no witness was there")
	}
	if p.lab.ledger.Head().Size == size {
		t.Fatal("the co-dealer entered nothing")
	}
	waits := 0
	for id := range size {
		_, err := p.lab.dealer.Transcript(within(t, 2*time.Second), id, api.View{Identity: "cards"})
		if errors.Is(err, api.ErrNotFound) {
			continue
		}
		if waits++; !errors.Is(err, ledger.ErrNotWitnessed) {
			t.Errorf("shuffle %d: %v, want ErrNotWitnessed", id, err)
		}
	}
	if waits != 1 {
		t.Errorf("%d orders", waits)
	}
	p.witness.Down(false)
	p.deal(s.ID, 1, board(1))
	p.close(s.ID, completed)
	p.proved(s.ID, api.View{})
}

// TestUndealtPlaces: with all that a house has, its token at the co-dealer too, no place of the order
// opens before it is dealt, and none that is aside.
func TestUndealtPlaces(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	order, dealt := p.lab.ledger.Head().Size-1, 0
	for _, runs := range [][]audit.Run{nil, {seat(2, "a")}, {burn, board(3)}, {burn, board(1)}} {
		for _, r := range runs {
			dealt += r.Count
		}
		if runs != nil {
			p.deal(s.ID, p.next(s.ID), runs...)
		}
		b, err := p.lab.dealer.Transcript(t.Context(), order, api.View{Identity: "cards"})
		check(t, err)
		f, err := openings.ParseTranscript(b)
		check(t, err)
		for _, c := range f.Cards {
			if aside := c.Place == 2 || c.Place == 6; c.Place >= dealt || aside {
				t.Errorf("%d places are dealt, and place %d opens", dealt, c.Place)
			}
		}
		if v := verify.Transcript(b, verify.Trust{}); v.State != "open" || v.Next != dealt {
			t.Errorf("the order is %s, at place %d", v.State, v.Next)
		}
		_, err = p.lab.dealer.Deal(t.Context(), audit.Actor{Identity: "cards", Credential: "cards"}, order,
			api.DealRequest{First: dealt, Runs: []audit.Run{board(1)}})
		if err == nil {
			t.Error("the order was dealt from, and nobody asked")
		}
	}
}

// next is the place that comes next in a shuffle of the house.
func (p *pair) next(id uint64) int {
	p.t.Helper()
	s, err := p.house.dealer.Status(p.t.Context(), id)
	check(p.t, err)
	return s.Next
}
