package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
)

var shortDeck = client.ShuffleRequest{Table: "t", Deck: ptr("short-36")}

// of returns a client of a service with the token.
func (d *daemon) of(token string, between func(http.Handler) http.Handler) *client.Client {
	d.t.Helper()
	return d.client(between, func(cfg *client.Config) { cfg.Token = token })
}

// isFault wants a fault that says so.
func isFault(t *testing.T, what string, err error, says string) {
	t.Helper()
	var f *client.Fault
	if !errors.As(err, &f) || !strings.Contains(f.What, says) {
		t.Errorf("%s: %v, and not a fault with %q", what, err, says)
	}
}

// isRefused wants a refusal with the code.
func isRefused(t *testing.T, what string, err error, code client.Code) {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%s: %v, and not %s", what, err, code)
	}
}

// TestOtherIdentity answers a service with what another one asked for: table, key and
// deck are the same, and the commit is true.
func TestOtherIdentity(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), new(liar)
	ctx := client.FirstTried(t.Context(), d.start)
	rival := d.of(d.newToken(audit.RoleDealer, "rival"), l.between)
	var answer []byte
	l.tell("/shuffles", func(b []byte) []byte { answer = slices.Clone(b); return b })
	theirs, err := rival.Commit(ctx, "k", shortDeck)
	check(err)
	for name, c := range map[string]*client.Client{
		"it was done by rival, and not by dealer": d.client(l.between,
			func(cfg *client.Config) { cfg.Identity = "dealer" }),
		"and not with this client's token": d.client(l.between, nil),
	} {
		l.tell("/shuffles", func([]byte) []byte { return answer })
		_, err := c.Commit(ctx, "k", shortDeck)
		isFault(t, "a commit of another identity", err, name)
		l.tell("", nil)
		ours, err := c.Commit(ctx, "k", shortDeck)
		if err != nil || ours.ID == theirs.ID {
			t.Errorf("a commit of its own: %v", err)
		}
	}
}

// TestConfiguredIdentity has a token of another identity than was configured.
func TestConfiguredIdentity(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	named := func(name string) *client.Client {
		return d.client(nil, func(cfg *client.Config) { cfg.Identity = name })
	}
	_, err := named("baccarat").Commit(t.Context(), "k", shortDeck)
	isFault(t, "a token of another identity", err, "it was done by dealer, and not by baccarat")
	if _, err := named("dealer").Commit(t.Context(), "l", shortDeck); err != nil {
		t.Error(err)
	}
}

// TestLearntIdentity has two tokens of one service, as a rotation has. A client takes
// what was done with the other one when an entry with its own said whose it is.
func TestLearntIdentity(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	ctx := client.FirstTried(t.Context(), d.start)
	before, err := d.client(nil, nil).Commit(ctx, "k", shortDeck)
	check(err)
	token := d.newToken(audit.RoleDealer, "dealer")
	c := d.of(token, nil)
	_, err = c.Commit(ctx, "k", shortDeck)
	isFault(t, "a commit with a token that may be anybody's", err, "and not with this client's token")
	_, err = c.Commit(ctx, "l", shortDeck)
	check(err)
	after, err := c.Commit(ctx, "k", shortDeck)
	if err != nil || !same(t, after.Shuffle, repeated(before.Shuffle)) {
		t.Errorf("after an entry of its own: %v", err)
	}
	told := d.client(nil, func(cfg *client.Config) { cfg.Token, cfg.Identity = token, "dealer" })
	if _, err := told.Commit(ctx, "k", shortDeck); err != nil {
		t.Errorf("with the identity configured: %v", err)
	}
}

// TestFirstTried asks for what was done an hour before, as somebody ahead of the game
// has it done. That the answer hides that it is a repeat does not help.
func TestFirstTried(t *testing.T) {
	t.Parallel()
	d, l := newDaemonWith(t, setting{at: time.Now().Add(-time.Hour)}), new(liar)
	tried := client.FirstTried(t.Context(), d.start)
	key := client.NewKey()
	ms := fmt.Sprintf("%012x", d.start.UnixMilli())
	old := ms[:8] + "-" + ms[8:] + key[13:]
	early := d.client(nil, nil)
	for _, key := range []string{"k", key} {
		_, err := early.Commit(t.Context(), key, shortDeck)
		isFault(t, "a new commit of a daemon whose clock is an hour behind", err, "before this client asked for it")
	}
	s, err := early.Commit(tried, "k", shortDeck)
	check(err)
	_, err = early.Deal(tried, s, twoSeats)
	check(err)

	hide := func(b []byte) []byte { return []byte(strings.Replace(string(b), `"repeated":true,`, "", 1)) }
	for _, path := range []string{"none", "/shuffles", "/deal"} {
		l.tell(path, hide)
		c := d.client(l.between, nil) // which has seen nothing yet
		_, err := c.Commit(t.Context(), "k", shortDeck)
		isFault(t, "a commit of before", err, "before this client asked for it")
		c = d.client(l.between, nil)
		_, err = c.Deal(t.Context(), s, twoSeats)
		isFault(t, "a deal of before", err, "before this client asked for it")
	}
	l.tell("", nil)
	c := d.client(nil, nil)
	again, err := c.Commit(tried, "k", shortDeck)
	if err != nil || !same(t, again.Shuffle, repeated(s.Shuffle)) {
		t.Errorf("a commit that was tried first then: %v", err)
	}
	if _, err := c.Deal(tried, again, twoSeats); err != nil {
		t.Errorf("a deal that was tried first then: %v", err)
	}
	// A key of NewKey says when that was. One that is no such key says nothing.
	for range 2 {
		if _, err := c.Commit(t.Context(), old, shortDeck); err != nil {
			t.Errorf("under a key of that time: %v", err)
		}
	}
	random := old[:14] + "4" + old[15:]
	_, err = c.Commit(t.Context(), random, shortDeck)
	isFault(t, "under a random key", err, "before this client asked for it")
}

// TestRepeatOfAnother asks with a fresh client for what was done a moment ago. Whether
// somebody was ahead of the game, nobody can tell, unless the caller says that it tried.
func TestRepeatOfAnother(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	first, c := d.client(nil, nil), d.client(nil, nil)
	s, err := first.Commit(t.Context(), "k", shortDeck)
	check(err)
	_, err = first.Deal(t.Context(), s, twoSeats)
	check(err)
	_, err = c.Commit(t.Context(), "k", shortDeck)
	isFault(t, "a commit", err, "before this client asked for it")
	_, err = c.Deal(t.Context(), s, twoSeats)
	isFault(t, "a deal", err, "before this client asked for it")
	if _, err = c.Deal(client.FirstTried(t.Context(), d.start), s, twoSeats); err != nil {
		t.Error(err)
	}
}

// TestTakeOver has the floor end what a dealer began, and another go on with it.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), new(liar)
	ctx := client.FirstTried(t.Context(), d.start)
	c := d.client(nil, nil)
	floor := d.of(d.newToken(audit.RoleDealer, "floor"), l.between)
	dealt := func(key string) *client.Committed {
		s, err := c.Commit(ctx, key, shortDeck)
		check(err)
		_, err = c.Deal(ctx, s, twoSeats)
		check(err)
		return s
	}
	s := dealt("k")
	req := client.TakeoverRequest{Reason: "the back end is down"}
	taken, err := floor.TakeOver(ctx, s, req)
	if err != nil || taken.From != "dealer" || taken.Repeated != nil {
		t.Fatalf("%+v, %v", taken, err)
	}
	lieAbout(t, l, []told{{"takeover", "/takeover", func() (any, error) {
		again, err := floor.TakeOver(t.Context(), s, client.TakeoverRequest{Reason: "said otherwise"})
		if err == nil {
			again.From = ""
		}
		return again, err
	}, map[string]string{"/from": "who had it before is the daemon's word"}},
		{"state", fmt.Sprint("/shuffles/", s.ID), func() (any, error) {
			return without(floor.State(ctx, s.ID))
		}, untold}})
	void := client.CloseRequest{Outcome: client.OutcomeVoid, Reason: ptr(client.ReasonMisdeal)}
	if _, err := floor.Close(ctx, s, void); err != nil {
		t.Error(err)
	}
	if _, err := c.Load(ctx, s.ID); err != nil {
		t.Errorf("loaded by the first owner: %v", err)
	}
}

// TestTakeOverOfAnother answers a takeover with a true one of something else.
func TestTakeOverOfAnother(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), &liar{forge: true}
	c := d.client(nil, nil)
	floor := d.of(d.newToken(audit.RoleDealer, "floor"), l.between)
	var answer []byte
	take := func(s *client.Committed, reason string) error {
		_, err := floor.TakeOver(t.Context(), s, client.TakeoverRequest{Reason: reason})
		return err
	}
	first, err := c.Commit(t.Context(), "k", shortDeck)
	check(err)
	second, err := c.Commit(t.Context(), "l", shortDeck)
	check(err)
	l.tell("/takeover", func(b []byte) []byte { answer = slices.Clone(b); return b })
	check(take(first, "a test"))
	l.tell("/takeover", func([]byte) []byte { return answer })
	isFault(t, "with another reason", take(first, "another"), "")
	isFault(t, "of another shuffle", take(second, "a test"), "the takeover in the ledger is another one")

}
