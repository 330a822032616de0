package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/client"
)

// counted counts what is saved.
type counted struct{ saves atomic.Int64 }

func (*counted) Load() ([]byte, error) { return nil, nil }
func (s *counted) Save(b []byte) error { s.saves.Add(1); return nil }

// TestCommits has a batch of hands, the answer lost twice on its way.
func TestCommits(t *testing.T) {
	t.Parallel()
	d, state := newDaemon(t), new(counted)
	var calls atomic.Int64
	c := d.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n := calls.Add(1); n < 3 {
				troubles[[]string{"lost answer", "cut answer"}[n-1]](w, r, h)
				return
			}
			h.ServeHTTP(w, r)
		})
	}, func(cfg *client.Config) { cfg.State = state })
	ctx := t.Context()
	req := client.ShuffleRequest{Table: "t", Deck: ptr("standard-52"), GameRef: ptr("g"),
		EndAt: &client.EndAt{Lo: 5, Hi: 9}}
	hands, err := c.Commits(ctx, "k", req, 20)
	if err != nil || len(hands) != 20 || calls.Load() != 3 {
		t.Fatalf("%d hands after %d calls: %v", len(hands), calls.Load(), err)
	}
	if n := state.saves.Load(); n != 1 {
		t.Errorf("one checkpoint was saved %d times", n)
	}
	for i, hand := range hands[:3] {
		if hand.Serial != uint64(i+1) || hand.ID != hands[0].ID+uint64(i) || hand.Places() != 52 {
			t.Errorf("hand %d is %+v", i, hand.Shuffle)
		}
		if _, err := c.Deal(ctx, hand, twoSeats); err != nil {
			t.Error(err)
		}
		if _, err := c.Close(ctx, hand, client.CloseRequest{Outcome: client.OutcomeCompleted}); err != nil {
			t.Error(err)
		}
		if _, err := c.Transcript(ctx, hand.ID, ""); err != nil {
			t.Error(err)
		}
	}
	again, err := c.Commits(client.FirstTried(ctx, time.Time{}), "k", req, 20)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again {
		if !same(t, again[i].Shuffle, repeated(hands[i].Shuffle)) {
			t.Errorf("hand %d again: %+v", i, again[i].Shuffle)
		}
	}
	walked := 0
	for _, err := range c.History(ctx, hands[19].ID) {
		if walked++; err != nil {
			t.Fatal(err)
		}
	}
	if walked != 20 {
		t.Errorf("%d shuffles in the table's history", walked)
	}
	refused := func(what string, err error, code client.Code) {
		t.Helper()
		var e *client.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = c.Commits(ctx, "k", req, 21)
	refused("another count", err, client.CodeIdempotencyKeyReused)
	_, err = c.Commit(ctx, "k", req)
	refused("one for many", err, client.CodeIdempotencyKeyReused)
	_, err = c.Commits(ctx, "one", req, 1)
	refused("a batch of one", err, client.CodeInvalidValue)
	counting := req
	counting.Count = ptr(2)
	before := calls.Load()
	if _, err := c.Commit(ctx, "c", counting); err == nil || calls.Load() != before {
		t.Errorf("one shuffle with a count: %v", err)
	}
}

// TestLiesOfBatches tells lies about a batch, with a cut for each.
func TestLiesOfBatches(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), new(liar)
	c := d.client(l.between, nil)
	ctx := client.FirstTried(t.Context(), d.start)
	req := client.ShuffleRequest{Table: "t", Deck: ptr("short-36"),
		Mix: &client.MixPlan{Cut: ptr(client.MixPlanCut(true)), Beacon: &client.BeaconPlan{}}}
	lieAbout(t, l, []told{{"batch", "/shuffles", func() (any, error) {
		all, err := c.Commits(ctx, "k", req, 3)
		var told []any
		for _, s := range all {
			told = append(told, shuffleOf(s))
		}
		return told, err
	}, nil}})
	var f *client.Fault
	// A true answer to another batch, of the same ledger.
	var other []byte
	l.tell("/shuffles", func(b []byte) []byte { other = b; return b })
	if _, err := c.Commits(ctx, "other", req, 3); err != nil {
		t.Fatal(err)
	}
	l.tell("/shuffles", func([]byte) []byte { return other })
	if _, err := c.Commits(ctx, "k", req, 3); !errors.As(err, &f) {
		t.Errorf("another batch was believed: %v", err)
	}
}

// TestOtherBatch has true answers to another count than was asked for.
func TestOtherBatch(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	for name, by := range map[string]string{"fewer": `"count":2`, "more": `"count":4`, "one": `"game_ref":"g"`} {
		c := d.client(func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(w, withBody(r, strings.Replace(readAll(t, r), `"count":3`, by, 1)))
			})
		}, nil)
		var f *client.Fault
		if _, err := c.Commits(context.Background(), name, client.ShuffleRequest{Table: "t", Deck: ptr("short-36")},
			3); !errors.As(err, &f) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
