package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/keys"
	"shuffled/internal/verify"
)

// TestNotWitnessed: with a policy that asks, nothing is revealed and dealt before
// the quorum cosigned the commit, whatever the ledger itself asks for.
func TestNotWitnessed(t *testing.T) {
	t.Parallel()
	d := newDaemon(t) // whose genesis wants no witnesses
	outsiders := newDaemonWith(t, setting{witnesses: 1})
	lines := strings.SplitN(outsiders.policy, "\n", 2)
	var mixes, deals int
	count := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/mix") {
				mixes++
			}
			if strings.HasSuffix(r.URL.Path, "/deal") {
				deals++
			}
			h.ServeHTTP(w, r)
		})
	}
	c := d.client(count, func(cfg *client.Config) {
		cfg.VKey, cfg.Policy, cfg.Attempts = "", "log "+d.vkey+"\n"+lines[1], 3
	})
	slot := client.NewSlot(d.origin, "t")
	s, err := c.Commit(t.Context(), "k",
		client.ShuffleRequest{Table: "t", Deck: ptr("short-36"), Mix: &client.MixPlan{Slots: []client.Hash{slot.Hash}}})
	must(t, err)
	mix := client.MixRequest{Slots: []client.Hash{slot.Value}}
	if _, err := c.Mix(t.Context(), s, mix); !errors.Is(err, client.ErrNotWitnessed) || client.Unknown(err) {
		t.Errorf("mix: %v", err)
	}
	if _, err := c.Deal(t.Context(), s, twoSeats); !errors.Is(err, client.ErrNotWitnessed) {
		t.Errorf("deal: %v", err)
	}
	if _, err := c.Transcript(t.Context(), s.ID, ""); !errors.Is(err, client.ErrNotWitnessed) {
		t.Errorf("transcript: %v", err)
	}
	if mixes != 0 || deals != 0 {
		t.Errorf("%d mixes and %d deals were asked for", mixes, deals)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := c.Await(ctx, s); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, client.ErrNotWitnessed) {
		t.Errorf("a caller without time: %v", err)
	}
	// Under the key alone the same shuffle can be played; then its witnesses come
	// too late, also to a client that asks for them.
	plain := d.client(nil, nil)
	loaded, err := plain.Load(t.Context(), s.ID)
	must(t, err)
	if _, err := plain.Mix(t.Context(), loaded, mix); err != nil {
		t.Error(err)
	}
}

// TestLate: who dealt before the quorum saw the commit cannot make up for it. A question that was on its way when the
// witnesses came back may be of a head from before the deal, and then it was not late: so a few hands.
func TestLate(t *testing.T) {
	t.Parallel()
	d := newDaemonWith(t, setting{witnesses: 3, late: true})
	plain, c := d.client(nil, nil), d.client(nil, d.witnessed)
	for n := range 5 {
		for _, w := range d.witnesses {
			w.Down(true)
		}
		early, err := plain.Commit(t.Context(), fmt.Sprint("k", n),
			client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
		must(t, err)
		if _, err := plain.Deal(t.Context(), early, twoSeats); err != nil {
			t.Fatal(err)
		}
		for _, w := range d.witnesses {
			w.Down(false)
		}
		s, err := c.Load(t.Context(), early.ID)
		must(t, err)
		must(t, c.Await(t.Context(), s))
		if _, err := c.Deal(client.FirstTried(t.Context(), d.start), s, twoSeats); err == nil {
			continue
		} else if !errors.Is(err, client.ErrNotWitnessed) {
			t.Errorf("the same deal: %v", err)
		}
		next := client.DealRequest{First: 5, Runs: []client.Run{{Count: 1, Purpose: client.PurposeBurn}}}
		if _, err := c.Deal(t.Context(), s, next); !errors.Is(err, client.ErrNotWitnessed) {
			t.Errorf("the next deal: %v", err)
		}
		return
	}
	t.Error("no deal was late")
}

// TestWitnessed plays under a policy, and goes on with another client.
func TestWitnessed(t *testing.T) {
	t.Parallel()
	d := newDaemonWith(t, setting{witnesses: 3})
	c := d.client(nil, d.witnessed)
	s, err := c.Commit(t.Context(), "k", client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
	must(t, err)
	if _, err := c.Deal(t.Context(), s, twoSeats); err != nil {
		t.Fatal(err)
	}
	other := d.client(nil, d.witnessed)
	loaded, err := other.Load(t.Context(), s.ID)
	must(t, err)
	for _, req := range []client.DealRequest{twoSeats,
		{First: 5, Runs: []client.Run{{Count: 1, Purpose: client.PurposeBurn}}}} {
		if _, err := other.Deal(client.FirstTried(t.Context(), d.start), loaded, req); err != nil {
			t.Error(err)
		}
	}
	file, err := other.Transcript(t.Context(), s.ID, "")
	must(t, err)
	if v := verify.Transcript(file, verify.Trust{Policy: []byte(d.policy)}); v.Level != verify.LevelWitnessed {
		t.Errorf("level %s", v.Level)
	}
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	d, other := newDaemonWith(t, setting{witnesses: 1}), newDaemon(t)
	stranger, err := keys.GenerateSigning("example.com/other")
	must(t, err)
	for what, change := range map[string]func(*client.Config){
		"both":        func(cfg *client.Config) { cfg.Policy = d.policy },
		"no log line": func(cfg *client.Config) { cfg.VKey, cfg.Policy = "", "quorum none\n" },
		"no policy":   func(cfg *client.Config) { cfg.VKey, cfg.Policy = "", "x" },
		"two ledgers' keys": func(cfg *client.Config) {
			cfg.VKey, cfg.Policy = "", "log "+d.vkey+"\nlog "+stranger.VKey()+"\nquorum none\n"
		},
	} {
		cfg := client.Config{URL: "http://localhost", Ledger: "main", VKey: d.vkey}
		change(&cfg)
		if _, err := client.New(cfg); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	// Two keys of one ledger: either may sign.
	c := d.client(nil, func(cfg *client.Config) {
		cfg.VKey, cfg.Policy = "", "# pinned\n\tlog  "+other.vkey+"\nlog "+d.vkey+" https://log.example/\n\nquorum none"
	})
	if _, err := c.Commit(t.Context(), "k", client.ShuffleRequest{Table: "t", Deck: ptr("short-36")}); err != nil {
		t.Error(err)
	}
}
