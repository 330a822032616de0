package client_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

var twoSeats = client.DealRequest{First: 0, Runs: []client.Run{
	{Count: 2, Purpose: client.PurposeSeat, Recipient: ptr("seat-1")},
	{Count: 2, Purpose: client.PurposeSeat, Recipient: ptr("seat-2")},
	{Count: 1, Purpose: client.PurposeBoard, Public: ptr(true)},
}}

func TestHand(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	c := d.client(nil, nil)
	ctx := t.Context()
	closeBy := client.Timestamp{Time: time.Now().Add(time.Hour).Truncate(time.Millisecond)}
	req := client.ShuffleRequest{Table: "t", Deck: ptr("standard-52"), Take: ptr(20),
		EndAt:      &client.EndAt{Lo: 5, Hi: 9},
		Disclosure: ptr(client.DisclosurePublic), CloseBy: &closeBy, GameRef: ptr("g")}
	key := client.NewKey()
	s, err := c.Commit(ctx, key, req)
	must(t, err)
	if s.Serial != 1 || s.Places() != 20 || !s.CloseBy.Equal(closeBy.Time) {
		t.Errorf("%+v", s)
	}
	again, err := c.Commit(ctx, key, req)
	if err != nil || !same(t, again.Shuffle, repeated(s.Shuffle)) {
		t.Errorf("again: %+v, %v", again, err)
	}
	deal, err := c.Deal(ctx, s, twoSeats)
	if err != nil || len(deal.Cards) != 5 || deal.Next != 5 || deal.Close != nil {
		t.Fatalf("%+v, %v", deal, err)
	}
	loaded, err := c.Load(ctx, s.ID)
	if err != nil || loaded.Shuffle != s.Shuffle {
		t.Fatalf("%+v, %v", loaded, err)
	}
	last, err := c.Deal(ctx, loaded, client.DealRequest{First: 5,
		Runs:  []client.Run{{Count: 1, Purpose: client.PurposeBurn}},
		Close: &client.CloseRequest{Outcome: client.OutcomeVoid, Reason: ptr(client.ReasonRegulator)}})
	if err != nil || last.Close == nil || last.Close.Tape == nil {
		t.Fatalf("%+v, %v", last, err)
	}
	if state, err := c.State(ctx, s.ID); err != nil || state.State != client.ShuffleStateStateClosed ||
		*state.Reason != client.ReasonRegulator {
		t.Errorf("%+v, %v", state, err)
	}
	for _, recipient := range []string{"", "seat-2"} {
		file, err := c.Transcript(ctx, s.ID, recipient)
		must(t, err)
		if v := verify.Transcript(file, verify.Trust{VKey: d.vkey}); v.Verdict != verify.Proved ||
			v.Recipient != recipient {
			t.Errorf("%+v", v)
		}
	}
	if receipt, err := c.Receipt(ctx, s.ID); err != nil ||
		verify.Receipt([]byte(receipt), verify.Trust{VKey: d.vkey}).Verdict != verify.Proved {
		t.Errorf("%q, %v", receipt, err)
	}
	if k, err := c.Keys(ctx); err != nil || len(k.Keys) != 2 || *k.Keys[0].Vkey != d.vkey {
		t.Errorf("%+v, %v", k, err)
	}
}

func TestCustomDeck(t *testing.T) {
	t.Parallel()
	c := newDaemon(t).client(nil, nil)
	cards := []string{"red", "red", "black", "grün", "🂡"}
	s, err := c.Commit(t.Context(), "k",
		client.ShuffleRequest{Table: "t", Cards: cards, EndAt: &client.EndAt{Lo: 3, Hi: 3}})
	must(t, err)
	deal, err := c.Deal(t.Context(), s, client.DealRequest{Runs: []client.Run{{Count: 5,
		Purpose: client.PurposeBoard}}})
	must(t, err)
	var dealt []string
	for _, card := range deal.Cards {
		dealt = append(dealt, *card.Card)
	}
	slices.Sort(dealt)
	slices.Sort(cards)
	if !slices.Equal(dealt, cards) {
		t.Errorf("dealt %v of %v", dealt, cards)
	}
	ending, err := c.Close(t.Context(), s, client.CloseRequest{Outcome: client.OutcomeCompleted})
	if err != nil || len(ending.Tape) == 0 {
		t.Errorf("%+v, %v", ending, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	c := d.client(nil, nil)
	s, err := c.Commit(t.Context(), "k", client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
	must(t, err)
	want := func(err error, code client.Code, field string) {
		t.Helper()
		var e *client.Error
		if !errors.As(err, &e) || e.Code != code || e.Field != field || e.RequestID == "" {
			t.Errorf("%v, not %s %s", err, code, field)
		}
		if err != nil && (!strings.Contains(err.Error(), string(code)) || strings.Contains(err.Error(), d.token)) {
			t.Errorf("%v", err)
		}
	}
	_, err = c.Commit(t.Context(), "k", client.ShuffleRequest{Table: "t", Deck: ptr("standard-52")})
	want(err, client.CodeIdempotencyKeyReused, "")
	_, err = c.Commit(t.Context(), "", client.ShuffleRequest{Table: "t", Deck: ptr("standard-52")})
	want(err, client.CodeInvalidValue, "Idempotency-Key")
	_, err = c.Commit(t.Context(), "k2", client.ShuffleRequest{Table: "t", Deck: ptr("standard-53")})
	want(err, client.CodeInvalidRequest, "deck")
	_, err = c.Deal(t.Context(), s, client.DealRequest{First: 1, Runs: twoSeats.Runs})
	want(err, client.CodePlace, "")
	_, err = c.Deal(t.Context(), s, client.DealRequest{Runs: []client.Run{{Count: 2, Purpose: client.PurposeSeat}}})
	want(err, client.CodeInvalidRequest, "runs[0].recipient")
	_, err = c.Transcript(t.Context(), 99, "")
	want(err, client.CodeNotFound, "")
	nobody := d.client(nil, func(cfg *client.Config) { cfg.Token = "" })
	_, err = nobody.Commit(t.Context(), "k3", client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
	want(err, client.CodeUnauthorized, "")
	if _, err := nobody.State(t.Context(), s.ID); err != nil {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	good := client.Config{URL: "https://shuffle.example.com/casino/", Ledger: "main",
		VKey: "example.com/main+07afa1a7+AT2UahZD1RIf+ni8a3bebTaBLaj7QQWlAGzKBv20RmKa"}
	if _, err := client.New(good); err == nil {
		t.Error("a key whose hash is wrong")
	}
	good.VKey = newDaemon(t).vkey
	if _, err := client.New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*client.Config){
		"no key":               func(c *client.Config) { c.VKey = "" },
		"no ledger":            func(c *client.Config) { c.Ledger = "" },
		"path as ledger":       func(c *client.Config) { c.Ledger = "../x" },
		"no address":           func(c *client.Config) { c.URL = "" },
		"no scheme":            func(c *client.Config) { c.URL = "shuffle.example.com" },
		"other scheme":         func(c *client.Config) { c.URL = "ftp://shuffle.example.com" },
		"query":                func(c *client.Config) { c.URL += "?x=1" },
		"password":             func(c *client.Config) { c.URL = "https://a:b@shuffle.example.com" },
		"negative":             func(c *client.Config) { c.Attempts = -1 },
		"pauses the wrong way": func(c *client.Config) { c.Pause, c.MaxPause = time.Second, time.Millisecond },
	} {
		bad := good
		change(&bad)
		if _, err := client.New(bad); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestQuorumsApart: a policy of which two quorums share no witness can make nothing
// witnessed, so no client is made that would wait for it.
func TestQuorumsApart(t *testing.T) {
	t.Parallel()
	text := "log " + newDaemon(t).vkey + "\n"
	for i, name := range []string{"w1", "w2", "w3"} {
		vkey, err := audit.WitnessVKey(name,
			ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i)}, 32)).Public().(ed25519.PublicKey))
		must(t, err)
		text += "witness " + name + " " + vkey + "\n"
	}
	for quorum, says := range map[string]string{
		"group g any w1 w2 w3\nquorum g\n": "the quorum of w1 and the quorum of w2 share no witness",
		"group g any w1 w2\nquorum g\n":    "the quorum of w1 and the quorum of w2 share no witness",
		"group g 2 w1 w2 w3\nquorum g\n":   "",
		"quorum w1\n":                      "",
		"quorum none\n":                    "",
	} {
		_, err := client.New(client.Config{URL: "https://shuffle.example.com", Ledger: "main", Policy: text + quorum})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", quorum, err)
		}
	}
}

func TestNewKey(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	before := fmt.Sprintf("%012x", time.Now().UnixMilli())
	for range 10_000 {
		k := client.NewKey()
		if !form.MatchString(k) || seen[k] || k[:8]+k[9:13] < before {
			t.Fatalf("%s after %s", k, before)
		}
		seen[k] = true
	}
	if after := fmt.Sprintf("%012x", time.Now().UnixMilli()); client.NewKey()[:8] > after[:8] {
		t.Error("a key from the future")
	}
}

// TestOneClientForMany uses one client from many goroutines.
func TestOneClientForMany(t *testing.T) {
	t.Parallel()
	c := newDaemon(t).client(nil, func(cfg *client.Config) {
		cfg.HTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	})
	errs := make(chan error)
	const n = 32
	for i := range n {
		go func() {
			s, err := c.Commit(t.Context(), client.NewKey(),
				client.ShuffleRequest{Table: fmt.Sprint("t", i), Deck: ptr("short-36")})
			if err == nil {
				_, err = c.Deal(t.Context(), s, twoSeats)
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
