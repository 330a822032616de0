package dealer_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/store/sqlite"
)

// calls are requests for one shuffle, of an actor.
type calls map[string]func(context.Context, audit.Actor) error

// refused: each call is refused by the rule for this actor, and writes nothing.
func (c calls) refused(tb *table, actor audit.Actor, rule string) {
	tb.t.Helper()
	for name, call := range c {
		tb.unwritten(func() {
			wantRefusal(tb.t, name+" by "+actor.Identity, call(tb.t.Context(), actor), "", rule)
		})
	}
}

// answered: each call has an answer that it had before.
func (c calls) answered(tb *table, actor audit.Actor) {
	tb.t.Helper()
	for name, call := range c {
		tb.unwritten(func() {
			if err := call(tb.t.Context(), actor); err != nil {
				tb.t.Errorf("%s by %s: %v", name, actor.Identity, err)
			}
		})
	}
}

func (tb *table) callDeal(id uint64, req api.DealRequest) func(context.Context, audit.Actor) error {
	return func(ctx context.Context, by audit.Actor) error { _, err := tb.Deal(ctx, by, id, req); return err }
}

func (tb *table) callMix(id uint64, cut int) func(context.Context, audit.Actor) error {
	return func(ctx context.Context, by audit.Actor) error {
		_, err := tb.Mix(ctx, by, id, api.MixRequest{Cut: num(cut)})
		return err
	}
}

func (tb *table) callClose(id uint64, req api.CloseRequest) func(context.Context, audit.Actor) error {
	return func(ctx context.Context, by audit.Actor) error { _, err := tb.Close(ctx, by, id, req); return err }
}

func (tb *table) callChild(key string, id uint64) func(context.Context, audit.Actor) error {
	return func(ctx context.Context, by audit.Actor) error {
		_, err := tb.Shuffle(ctx, by, key, child(id))
		return err
	}
}

var (
	ended  = api.CloseRequest{Outcome: audit.OutcomeEndedEarly}
	voided = api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal}
)

// TestOwner: nobody but the identity that committed a shuffle mixes, deals, continues and closes it, and nobody else is
// answered what it was answered (docs/SPEC.md section 9, owner).
func TestOwner(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{Cut: true}})
		mallory := as("mallory")
		first, next := api.DealRequest{Runs: []audit.Run{seat(2, "a")}},
			api.DealRequest{First: 2, Runs: []audit.Run{seat(2, "b")}}
		final := next
		final.Close = &ended
		calls{"mix": tb.callMix(s.ID, 9), "deal": tb.callDeal(s.ID, first)}.refused(tb, mallory, audit.RuleOwner)
		if _, err := tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Cut: num(9)}); err != nil {
			t.Fatal(err)
		}
		tb.deal(s.ID, first)
		calls{
			"the same mix": tb.callMix(s.ID, 9), "another mix": tb.callMix(s.ID, 8),
			"the same deal": tb.callDeal(s.ID, first), "the next deal": tb.callDeal(s.ID, next),
			"a final deal": tb.callDeal(s.ID, final),
			"a close":      tb.callClose(s.ID, ended), "a void": tb.callClose(s.ID, voided),
			"a child": tb.callChild("child", s.ID),
		}.refused(tb, mallory, audit.RuleOwner)

		elsewhere := child(s.ID)
		elsewhere.Table = "another"
		_, err := tb.Shuffle(t.Context(), mallory, "elsewhere", elsewhere)
		wantRefusal(t, "a child at another table, whose users do not learn the owner", err, "", audit.RuleParent)

		below, err := tb.Shuffle(t.Context(), as("tester"), "child", child(s.ID))
		must(t, err)
		calls{"the same child": tb.callChild("child", s.ID), "the same deal, closed": tb.callDeal(s.ID, first)}.
			refused(tb, mallory, audit.RuleOwner)
		tb.close(below.ID)
		calls{"the same close": tb.callClose(below.ID, ended), "another close": tb.callClose(below.ID, voided)}.
			refused(tb, mallory, audit.RuleOwner)
		calls{"mix": tb.callMix(s.ID, 9), "deal": tb.callDeal(s.ID, first), "child": tb.callChild("child", s.ID),
			"close": tb.callClose(below.ID, ended)}.answered(tb, as("tester"))
		tb.transcript(s.ID, api.View{})
	})
}

// TestKeyOfAnother: an idempotency key is one of an identity: under the same key and
// for the same request another identity commits a shuffle of its own.
func TestKeyOfAnother(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		send := func(by string) api.Shuffle {
			t.Helper()
			one, err := tb.Shuffle(t.Context(), as(by), "k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
			must(t, err)
			return one
		}
		first, other := send("tester"), send("mallory")
		if other.Repeated || other.ID == first.ID || other.Commitment == first.Commitment {
			t.Errorf("shuffle %d is answered with %+v", first.ID, other)
		}
		if status, err := tb.Status(t.Context(), other.ID); err != nil || status.Owner != "mallory" {
			t.Errorf("shuffle %d is of %q, %v", other.ID, status.Owner, err)
		}
		for by, want := range map[string]api.Shuffle{"tester": first, "mallory": other} {
			if again := send(by); again.ID != want.ID || !again.Repeated {
				t.Errorf("%s again: %+v", by, again)
			}
		}
	})
}

// takePlay writes what an act of administrators approves: that an identity plays on.
func takePlay(t *testing.T, d *dealer.Dealer, by audit.Actor, id uint64) {
	t.Helper()
	body := &audit.Takeover{Shuffle: id, Extent: audit.ExtentPlay, Reason: "the backend is down"}
	if _, err := d.Ledger().Append(t.Context(), ledger.Proposal{Actor: by, Bodies: []audit.Body{body}}); err != nil {
		t.Fatal(err)
	}
}

// takeOver takes a shuffle over and says whether that was done before.
func (tb *table) takeOver(by string, id uint64, repeated bool) api.Takeover {
	tb.t.Helper()
	a, err := tb.Takeover(tb.t.Context(), as(by), id, api.TakeoverRequest{Reason: "the backend is down"})
	must(tb.t, err)
	if a.Repeated != repeated {
		tb.t.Errorf("repeated is %v: %+v", a.Repeated, a)
	}
	return a
}

// sees is the number of cards in the transcript that an identity gets.
func (tb *table) sees(id uint64, identity string) int {
	tb.t.Helper()
	return len(tb.transcript(id, api.View{Identity: identity}).Cards)
}

// TestTakeoverToClose: who took a shuffle over to close it voids and closes it, and
// neither deals nor is told earlier answers; the owner before is an owner no more.
func TestTakeoverToClose(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{Cut: true}})
		if _, err := tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Cut: num(9)}); err != nil {
			t.Fatal(err)
		}
		first := api.DealRequest{Runs: []audit.Run{seat(2, "a"), board(1)}}
		tb.deal(s.ID, first)
		taken := tb.takeOver("bob", s.ID, false)
		if taken.From != "tester" || taken.Time == 0 || taken.Receipt == "" {
			t.Errorf("taken over: %+v", taken)
		}
		all := calls{"mix": tb.callMix(s.ID, 9), "the same deal": tb.callDeal(s.ID, first),
			"child":         tb.callChild("child", s.ID),
			"the next deal": tb.callDeal(s.ID, api.DealRequest{First: 3, Runs: []audit.Run{seat(1, "b")}})}
		all.refused(tb, as("bob"), audit.RuleOwner)
		all["close"] = tb.callClose(s.ID, ended)
		all.refused(tb, as("tester"), audit.RuleOwner)
		for _, who := range []string{"bob", "tester", ""} {
			if n := tb.sees(s.ID, who); n != 1 {
				t.Errorf("%q sees %d cards, want the board's", who, n)
			}
		}
		st, err := tb.Status(t.Context(), s.ID)
		if err != nil || st.Owner != "bob" || st.Extent != audit.ExtentClose.String() {
			t.Errorf("status %+v, %v", st, err)
		}
		if _, err := tb.Close(t.Context(), as("bob"), s.ID, voided); err != nil {
			t.Fatal(err)
		}
		tb.unwritten(func() { // what was done is told for ever
			tb.takeOver("bob", s.ID, true)
			_, err := tb.Takeover(t.Context(), as("carol"), s.ID, api.TakeoverRequest{Reason: "r"})
			wantRefusal(t, "a closed shuffle", err, "", audit.RuleNotOpen)
		})
		calls{"void": tb.callClose(s.ID, voided)}.answered(tb, as("bob"))
		calls{"void": tb.callClose(s.ID, voided)}.refused(tb, as("tester"), audit.RuleOwner)
		tb.transcript(s.ID, api.View{})
	})
}

// TestTakeoverToPlay: who took a shuffle over to play it is its owner in all things.
func TestTakeoverToPlay(t *testing.T) {
	onEachStore(t, setting{modes: allModes}, func(t *testing.T, tb *table) {
		s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{Cut: true}})
		mix, err := tb.Mix(t.Context(), as("tester"), s.ID, api.MixRequest{Cut: num(9)})
		must(t, err)
		first := api.DealRequest{Runs: []audit.Run{seat(2, "a")}}
		dealt := tb.deal(s.ID, first)
		tb.takeOver("bob", s.ID, false)
		takePlay(t, tb.Dealer, as("bob"), s.ID)
		tb.restart()
		_, err = tb.Takeover(t.Context(), as("bob"), s.ID, api.TakeoverRequest{Reason: "r"})
		wantRefusal(t, "less than one has", err, "", audit.RuleOwner)
		again, err := tb.Mix(t.Context(), as("bob"), s.ID, api.MixRequest{Cut: num(9)})
		if diff := cmp.Diff(mix, again, sameAnswer); diff != "" || err != nil || !again.Repeated {
			t.Errorf("the mix again: %v %s", err, diff)
		}
		repeated, err := tb.Deal(t.Context(), as("bob"), s.ID, first)
		if diff := cmp.Diff(dealt, repeated, sameAnswer); diff != "" || err != nil || !repeated.Repeated {
			t.Errorf("the deal again: %v %s", err, diff)
		}
		if _, err := tb.Deal(t.Context(), as("bob"), s.ID,
			api.DealRequest{First: 2, Runs: []audit.Run{seat(3, "b")}}); err != nil {
			t.Fatal(err)
		}
		for who, want := range map[string]int{"bob": 5, "tester": 0, "": 0} {
			if n := tb.sees(s.ID, who); n != want {
				t.Errorf("%q sees %d cards, want %d", who, n, want)
			}
		}
		calls{"the same deal": tb.callDeal(s.ID, first), "child": tb.callChild("child", s.ID),
			"close": tb.callClose(s.ID, ended)}.
			refused(tb, as("tester"), audit.RuleOwner)
		below, err := tb.Shuffle(t.Context(), as("bob"), "child", child(s.ID))
		must(t, err)
		if _, err := tb.Close(t.Context(), as("bob"), below.ID, ended); err != nil {
			t.Error(err)
		}
		tb.transcript(s.ID, api.View{})
	})
}

// TestTakeoverRefused: what is asked wrongly changes nothing, and sixteen takeovers are all that a shuffle has.
func TestTakeoverRefused(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	for name, c := range map[string]struct {
		by          string
		req         api.TakeoverRequest
		field, rule string
	}{
		"no reason":    {"bob", api.TakeoverRequest{}, "reason", ""},
		"blank reason": {"bob", api.TakeoverRequest{Reason: " "}, "reason", ""},
		"the owner":    {"tester", api.TakeoverRequest{Reason: "r"}, "", audit.RuleOwner},
	} {
		tb.unwritten(func() {
			_, err := tb.Takeover(t.Context(), as(c.by), s.ID, c.req)
			wantRefusal(t, name, err, c.field, c.rule)
		})
	}
	_, err := tb.Takeover(t.Context(), as("bob"), 999, api.TakeoverRequest{Reason: "r"})
	wantIs(t, "no shuffle", err, api.ErrNotFound)
	for i := range audit.MaxTakeovers {
		tb.takeOver([]string{"bob", "tester"}[i%2], s.ID, false)
	}
	_, err = tb.Takeover(t.Context(), as("bob"), s.ID, api.TakeoverRequest{Reason: "r"})
	wantRefusal(t, "one more", err, "", audit.RuleOwner)
	tb.close(s.ID) // of tester, who was the last
}

// hides is a server that has takeovers which no standby has: it shows them, and none of
// them gets through the barrier while on is set.
type hides struct {
	ledger.Store
	on atomic.Bool
}

func (h *hides) ByShuffles(ctx context.Context, id ledger.ID, s ledger.Standing, all ...uint64) ([][]ledger.Row,
	error) {
	lists, err := h.Store.ByShuffles(ctx, id, s, all...)
	if s == ledger.Durable && h.on.Load() {
		for i, rows := range lists {
			lists[i] = slices.DeleteFunc(slices.Clone(rows),
				func(r ledger.Row) bool { return r.Type == audit.TypeTakeover })
		}
	}
	return lists, err
}

// TestTakeoverIsDurable: earlier answers and cards are told to a new owner only when the takeover cannot be lost.
func TestTakeoverIsDurable(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	first := api.DealRequest{Runs: []audit.Run{seat(2, "a")}}
	tb.deal(s.ID, first)
	h := &hides{Store: tb.cfg.Store}
	tb.cfg.Store = h
	tb.Dealer = dealer.New(tb.cfg)
	takePlay(t, tb.Dealer, as("bob"), s.ID)
	h.on.Store(true)
	calls{"the same deal": tb.callDeal(s.ID, first)}.refused(tb, as("bob"), audit.RuleOwner)
	if n := tb.sees(s.ID, "bob"); n != 0 {
		t.Errorf("bob sees %d cards", n)
	}
	h.on.Store(false)
	calls{"the same deal": tb.callDeal(s.ID, first)}.answered(tb, as("bob"))
	if n := tb.sees(s.ID, "bob"); n != 2 {
		t.Errorf("bob sees %d cards", n)
	}
}

// strays is a store whose server that shows without the barrier was left behind in a failover.
type strays struct {
	ledger.Store
	behind ledger.Store
}

func (s *strays) ByShuffles(ctx context.Context, id ledger.ID, standing ledger.Standing, all ...uint64) ([][]ledger.Row,
	error) {
	if standing == ledger.Visible {
		return s.behind.ByShuffles(ctx, id, standing, all...)
	}
	return s.Store.ByShuffles(ctx, id, standing, all...)
}

// TestLostTakeover: a takeover that a failover lost took nothing from the owner, whatever
// the server that was left behind shows; sent again it is written again.
func TestLostTakeover(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	copied := tb.path + ".copy"
	tb.administer(fmt.Sprintf("VACUUM INTO '%s'", copied))
	behind, err := sqlite.Open(copied, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { behind.Close() })
	takePlay(t, tb.rival(behind).Dealer, as("bob"), s.ID)

	tb.cfg.Store = &strays{tb.cfg.Store, behind}
	tb.Dealer = dealer.New(tb.cfg)
	first := api.DealRequest{Runs: []audit.Run{seat(2, "a")}}
	calls{"a deal": tb.callDeal(s.ID, first), "a close": tb.callClose(s.ID, ended)}.refused(tb, as("bob"),
		audit.RuleOwner)
	tb.deal(s.ID, first)
	takePlay(t, tb.Dealer, as("bob"), s.ID)
	calls{"the deal": tb.callDeal(s.ID, first)}.answered(tb, as("bob"))
	calls{"the deal": tb.callDeal(s.ID, first)}.refused(tb, as("tester"), audit.RuleOwner)
}

// TestTapeLostByAdministrator: what lost its tape is closed by an administrator, who owns
// no shuffle and closes none for another reason.
func TestTapeLostByAdministrator(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	for name, role := range map[string]audit.Role{"tester": audit.RoleDealer, "bob": audit.RoleDealer,
		"admin": audit.RoleAdmin, "second-admin": audit.RoleAdmin} {
		tb.append(&audit.Credential{Kind: audit.CredentialCreated, ID: name, Form: audit.FormToken, Role: role,
			Identity: name})
	}
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	lost := api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost}
	_, err := tb.Close(t.Context(), as("admin"), s.ID, lost)
	wantRefusal(t, "a tape that is there", err, "reason", "")
	calls{"void": tb.callClose(s.ID, voided)}.refused(tb, as("admin"), audit.RuleOwner)

	tb.cfg.Keys = newRing(t) // which opens nothing
	tb.Dealer = dealer.New(tb.cfg)
	calls{"tape_lost": tb.callClose(s.ID, lost)}.refused(tb, as("tester"), audit.RuleCredential)
	calls{"tape_lost": tb.callClose(s.ID, lost)}.refused(tb, as("bob"), audit.RuleCredential)
	closed, err := tb.Close(t.Context(), as("admin"), s.ID, lost)
	if err != nil || closed.Repeated || closed.Tape != nil {
		t.Fatalf("closed: %+v, %v", closed, err)
	}
	again, err := tb.Close(t.Context(), as("second-admin"), s.ID, lost)
	if diff := cmp.Diff(closed, again, sameAnswer); diff != "" || err != nil || !again.Repeated {
		t.Errorf("again: %v %s", err, diff)
	}
}
