package codealer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/codealer"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/entropy"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/witness/witnesstest"
)

// within bounds a request, as the API does: a co-dealer that is down is asked again for as long.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func wantRule(t *testing.T, err error, words string) {
	t.Helper()
	var illegal *audit.Illegal
	if !errors.As(err, &illegal) || illegal.Code != audit.RuleCoDealer || !strings.Contains(illegal.Detail, words) {
		t.Errorf("%v, want a refusal by co_dealer with %q", err, words)
	}
}

var sameDeal = cmpopts.IgnoreFields(api.Answered{}, "Repeated")

// TestLostAnswers: an answer that is lost on either side is given again.
func TestLostAnswers(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.front.broken("/deal", lost)
	req := api.DealRequest{Runs: []audit.Run{seat(2, "a")}, State: audit.StateHash([]byte("hand 7\n"))}
	if _, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID, req); !errors.Is(err, api.ErrCoDealer) {
		t.Fatalf("%v, want ErrCoDealer", err)
	}
	entered := p.lab.ledger.Head().Size
	p.front.broken("", nil)

	other := req
	other.Runs = []audit.Run{seat(2, "b")}
	_, err := p.house.dealer.Deal(t.Context(), house, s.ID, other)
	if !errors.Is(err, api.ErrRepeated) {
		t.Errorf("other runs: %v, want ErrRepeated", err)
	}
	late := req
	late.State = [32]byte{}
	_, err = p.house.dealer.Deal(t.Context(), house, s.ID, late)
	if !errors.Is(err, api.ErrRepeated) {
		t.Errorf("another history: %v, want ErrRepeated", err)
	}
	if n := p.lab.dealer.Conflicts(); n != 2 {
		t.Errorf("%d conflicts, want 2", n)
	}
	_, err = p.house.dealer.Close(t.Context(), house, s.ID, completed)
	wantRule(t, err, "opened 2 places from place 0")

	_, err = p.house.dealer.Deal(t.Context(), house, s.ID, req)
	check(t, err)
	if now := p.lab.ledger.Head().Size; now != entered {
		t.Errorf("the co-dealer entered %d more", now-entered)
	}
	if v := p.proved(s.ID, api.View{}); v.Blind.Requests[0].State == "" {
		t.Error("the state is not bound")
	}
}

// TestUnplayed: what was opened and is never dealt stands in the close.
func TestUnplayed(t *testing.T) {
	for name, disclosure := range map[string]audit.Disclosure{"public": audit.DisclosurePublic,
		"auditors": audit.DisclosureAuditor} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, setting{disclosure: disclosure})
			s := p.blind("hand")
			p.deal(s.ID, 0, seat(2, "a"), board(1))
			p.front.broken("/deal", lost)
			if _, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID,
				api.DealRequest{First: 3, Runs: []audit.Run{board(1)}}); err == nil {
				t.Fatal("dealt")
			}
			p.front.broken("", nil)
			p.close(s.ID, gone)
			v := p.proved(s.ID, api.View{})
			if v.Reason != "co_dealer" || len(v.Blind.Requests) != 2 {
				t.Fatalf("%+v", v)
			}
			if cards := v.Blind.Requests[1].Cards; len(cards) != 1 || cards[0].Place != 3 || cards[0].Name == "" {
				t.Errorf("what was not played: %+v", cards)
			}
			if v.Blind.OrderChecked != (disclosure == audit.DisclosurePublic) {
				t.Errorf("order_checked is %t", v.Blind.OrderChecked)
			}
		})
	}
}

// TestSilentAtTheEnd: while the co-dealer is silent, a shuffle ends as void for it or expires, and in no other way. Its
// close has the checkpoint of its own last deal: a later one, of another shuffle, covers the deal whose answer was
// lost.
func TestSilentAtTheEnd(t *testing.T) {
	p := newPair(t, setting{})
	ends := func(end func(id uint64)) {
		t.Helper()
		s := p.blind("hand" + fmt.Sprint(p.house.ledger.Head().Size))
		p.deal(s.ID, 0, board(1))
		p.front.broken("/deal", lost)
		req := api.DealRequest{First: 1, Runs: []audit.Run{board(1)}}
		if _, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID, req); err == nil {
			t.Fatal("dealt")
		}
		entered := p.lab.ledger.Head().Size
		p.front.broken("", nil)
		other := p.blind("newer"+fmt.Sprint(s.ID), func(r *api.ShuffleRequest) { r.Table = "u" })
		p.deal(other.ID, 0, board(1))
		if newer := p.written(other.ID).(*audit.Deal).Blind.Head; newer.Size <= entered {
			t.Fatalf("the other shuffle saw %d entries, want more than %d", newer.Size, entered)
		}
		own := p.written(s.ID).(*audit.Deal).Blind.Head
		p.front.broken("", down)
		for _, other := range []api.CloseRequest{completed,
			{Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal}} {
			_, err := p.house.dealer.Close(within(t, time.Second), house, s.ID, other)
			if !errors.Is(err, api.ErrCoDealer) {
				t.Errorf("%v: %v, want ErrCoDealer", other, err)
			}
		}
		end(s.ID)
		p.front.broken("", nil)
		if b := p.written(s.ID).(*audit.Close).Blind; b == nil || b.Deal.Index != 0 || b.Head != own {
			t.Errorf("the close has %+v of the co-dealer, and the deal before %+v", b, own)
		}
		p.proved(s.ID, api.View{})
	}
	ends(func(id uint64) { p.close(id, gone) })
	ends(func(uint64) {
		p.house.clock.by.Store(int64(2 * time.Hour))
		if n, err := p.house.dealer.Expire(within(t, 20*time.Second)); n == 0 || err != nil {
			t.Errorf("%d expired, %v", n, err)
		}
	})
}

// TestOverdueAsksOnce: a co-dealer that gives no answer is waited for once, and not for each of the hands that expire.
func TestOverdueAsksOnce(t *testing.T) {
	p := newPair(t, setting{})
	for i := range 3 {
		s := p.blind(fmt.Sprint("hand", i), func(r *api.ShuffleRequest) { r.Table = fmt.Sprint("t", i) })
		p.deal(s.ID, 0, board(1))
	}
	p.house.clock.by.Store(int64(2 * time.Hour))
	var mu sync.Mutex
	asked := make(map[string]bool) // orders
	p.front.fault.Store(new(func(w http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) bool {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/shuffles/") {
			mu.Lock()
			asked[r.URL.Path] = true
			mu.Unlock()
		}
		<-r.Context().Done()
		return true
	}))
	if n, err := p.house.dealer.Expire(within(t, 20*time.Second)); n != 3 || err != nil {
		t.Errorf("%d expired, %v", n, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 {
		t.Errorf("the co-dealer was asked for %d orders, want 1: %v", len(asked), asked)
	}
}

// durably counts the questions to a store about what is durable of shuffles.
type durably struct {
	ledger.Store
	asked atomic.Int64
}

func (d *durably) ByShuffles(ctx context.Context, id ledger.ID, s ledger.Standing, of ...uint64) ([][]ledger.Row,
	error) {
	if s == ledger.Durable {
		d.asked.Add(1)
	}
	return d.Store.ByShuffles(ctx, id, s, of...)
}

// TestBlindCloseIsDurable: what a blind close says was not dealt comes from what is durable: a failover may take away
// what is only visible.
func TestBlindCloseIsDurable(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.deal(s.ID, 0, board(1))
	store := &durably{Store: p.house.cfg.Store}
	p.house.cfg.Store = store
	p.house.serve()
	if _, err := p.house.dealer.Close(t.Context(), house, s.ID, gone); err != nil || store.asked.Load() == 0 {
		t.Errorf("the close asked %d times about what is durable: %v", store.asked.Load(), err)
	}
}

// TestReplicas: two daemons of the house deal the same hand at the same time.
func TestReplicas(t *testing.T) {
	p := newPair(t, setting{postgres: true})
	other := *p
	second := &daemon{t: t, origin: p.house.origin, store: p.house.store, open: p.house.open, cfg: p.house.cfg,
		clock: p.house.clock}
	second.open.Mark, second.open.AdoptHead = filepath.Join(t.TempDir(), "mark"), "another daemon"
	second.start()
	other.house = second
	second.cfg.CoDealer = other.open(second, "state of the other", setting{})
	second.dealer = dealer.New(second.cfg)
	s := p.blind("hand")
	for i := range 3 {
		var both [2]api.Deal
		var errs [2]error
		var group sync.WaitGroup
		for j, one := range []*pair{p, &other} {
			group.Go(func() {
				both[j], errs[j] = one.house.dealer.Deal(t.Context(), house, s.ID,
					api.DealRequest{First: 2 * i, Runs: []audit.Run{seat(2, "a")}})
			})
		}
		group.Wait()
		check(t, errors.Join(errs[:]...))
		if diff := cmp.Diff(both[0], both[1], sameDeal); diff != "" {
			t.Errorf("two answers: %s", diff)
		}
	}
	other.close(s.ID, completed)
	other.proved(s.ID, api.View{})
}

// TestReplicasOfCoDealer: the daemon of the co-dealer that made the first deal closes the order after the other one
// made the last.
func TestReplicasOfCoDealer(t *testing.T) {
	p := newPair(t, setting{})
	second := &daemon{t: t, origin: p.lab.origin, store: p.lab.store, open: p.lab.open, cfg: p.lab.cfg,
		clock: p.lab.clock}
	second.open.Mark, second.open.AdoptHead = filepath.Join(t.TempDir(), "mark"), "another daemon"
	second.start()
	second.serve()
	s := p.blind("hand")
	p.deal(s.ID, 0, board(1))
	first := p.lab.handler.Swap(second.handler.Load())
	p.deal(s.ID, 1, board(1))
	p.lab.handler.Store(first)
	p.close(s.ID, completed)
	p.orders(1)
	<-p.kept
	if v := p.proved(s.ID, api.View{}); v.DealtOn != "" {
		t.Errorf("dealt on: %q", v.DealtOn)
	}
}

// TestLateClose: an order is closed when its co-dealer is back, seconds after the shuffle's close.
func TestLateClose(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.deal(s.ID, 0, board(1))
	p.front.broken("/close", down)
	p.close(s.ID, gone)
	failed := p.way.Figures()[0].Failed
	if _, err := p.house.dealer.Shuffle(within(t, 3*time.Second), house, "next", api.ShuffleRequest{Table: "u",
		Deck: "standard-52", Plan: &api.MixPlan{CoDealer: true}}); err != nil {
		t.Fatal(err)
	}
	p.front.fault.Store(new(func(w http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) bool {
		return down(w, nil)
	}))
	_, err := p.house.dealer.Shuffle(within(t, 3*time.Second), house, "more", api.ShuffleRequest{Table: "v",
		Deck: "standard-52", Plan: &api.MixPlan{CoDealer: true}})
	if f := p.way.Figures()[0].Failed; !errors.Is(err, api.ErrCoDealer) || f == failed {
		t.Errorf("an order that failed: %v, and %d failed", err, f)
	}
	p.front.broken("", nil)
	p.orders(1)
}

// TestOrdersComeBack: while the generator is latched, commits that fail leave no orders behind.
func TestOrdersComeBack(t *testing.T) {
	p := newPair(t, setting{pool: 1})
	p.blind("hand")
	p.house.cfg.Entropy.Trip(entropy.ReasonOperator)
	before := p.lab.ledger.Head().Size
	for i := range 10 {
		_, err := p.house.dealer.Shuffle(t.Context(), house, fmt.Sprint("latched", i), api.ShuffleRequest{Table: "u",
			Deck: "standard-52", Plan: &api.MixPlan{CoDealer: true}})
		if !errors.Is(err, api.ErrEntropy) {
			t.Errorf("%v, want ErrEntropy", err)
		}
	}
	p.way.Close()
	if n := p.lab.ledger.Head().Size - before; n > 4 {
		t.Errorf("the co-dealer has %d more orders", n)
	}
}

// TestRotation: both ledgers go on to their next signing keys, and are opened again, in the middle of a hand.
func TestRotation(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.deal(s.ID, 0, seat(2, "a"))
	_, err := p.lab.ledger.AddKey(t.Context(), audit.Operator,
		&audit.Key{Subject: audit.SubjectSigning, Public: p.lab.signers[1].Public()}, nil)
	check(t, err)
	p.deal(s.ID, 2, seat(2, "b"))
	_, err = p.house.ledger.AddKey(t.Context(), audit.Operator,
		&audit.Key{Subject: audit.SubjectSigning, Public: p.house.signers[1].Public()}, nil)
	check(t, err)
	check(t, p.house.ledger.Close())
	p.house.start()
	p.way.Close()
	p.house.cfg.CoDealer = p.open(p.house, "state", setting{})
	p.house.serve()
	p.deal(s.ID, 4, board(3))
	check(t, p.lab.ledger.Close())
	p.lab.start()
	p.lab.serve()
	p.deal(s.ID, 7, board(1))
	p.close(s.ID, completed)
	p.proved(s.ID, api.View{})
}

// TestBounds: so many deals are asked for at a time, and one that waits for too long is told.
func TestBounds(t *testing.T) {
	p := newPair(t, setting{asks: 1})
	a := p.blind("one")
	p.deal(a.ID, 0, board(1))
	b := p.blind("two")
	held, release := make(chan struct{}), make(chan struct{})
	p.front.broken("/deal", func(http.ResponseWriter, func() *httptest.ResponseRecorder) bool {
		close(held)
		<-release
		return false
	})
	var group sync.WaitGroup
	group.Go(func() {
		p.house.dealer.Deal(t.Context(), house, a.ID, api.DealRequest{First: 1, Runs: []audit.Run{board(1)}})
	})
	<-held
	ctx := ledger.WithPatience(t.Context(), time.Now().Add(50*time.Millisecond))
	_, err := p.house.dealer.Deal(ctx, house, b.ID, api.DealRequest{Runs: []audit.Run{board(1)}})
	if !errors.Is(err, ledger.ErrOverloaded) {
		t.Errorf("%v, want ErrOverloaded", err)
	}
	p.front.broken("", nil)
	close(release)
	group.Wait()
	p.deal(b.ID, 0, board(1))
}

// forked is another history of the co-dealer's ledger, under its own key.
func (p *pair) forked() *daemon {
	other := witnesstest.Start(p.t, p.lab.vkey) // for that of both refuses the second history
	return p.begin(labOrigin, p.lab.signers, fmt.Sprintf("%s\nquorum %s\n", other.PolicyLine, other.Name),
		setting{disclosure: audit.DisclosurePublic}, 7200)
}

// TestForkedLedger: a co-dealer leads the house to another history of its ledger, under its own key. The house stops,
// and keeps both checkpoints.
func TestForkedLedger(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.deal(s.ID, 0, seat(2, "a"))
	two := p.forked()
	two.cfg.Houses = map[string]blind.House{houseOrigin: p.asHouse()}
	two.serve()
	token := two.newToken(audit.RoleBlind, "cards")
	lead := func(w http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) bool {
		r.Header.Set("Authorization", "Bearer "+token)
		(*two.handler.Load()).ServeHTTP(w, r)
		return true
	}
	p.front.fault.Store(&lead)
	_, err := p.house.dealer.Shuffle(t.Context(), house, "next", api.ShuffleRequest{Table: "t", Deck: "standard-52",
		Plan: &api.MixPlan{CoDealer: true}})
	if !errors.Is(err, api.ErrCoDealerForked) {
		t.Errorf("%v, want ErrCoDealerForked", err)
	}
	p.front.fault.Store(nil)
	_, err = p.house.dealer.Deal(t.Context(), house, s.ID, api.DealRequest{First: 2, Runs: []audit.Run{board(1)}})
	if !errors.Is(err, api.ErrCoDealerForked) {
		t.Errorf("%v, want ErrCoDealerForked", err)
	}
	kept, err := os.ReadFile(filepath.Join(p.dir, "state.forked"))
	if n := strings.Count(string(kept), "— "+labOrigin+" "); err != nil || n != 2 {
		t.Errorf("%d checkpoints are kept, %v: %s", n, err, kept)
	}
}

// TestForkedAtTheEnd: the house stops also if the other history shows when an order is closed, under a policy without
// witnesses, who would have refused it.
func TestForkedAtTheEnd(t *testing.T) {
	p := newPair(t, setting{})
	p.house.append(&audit.Key{Subject: audit.SubjectCoDealer, Origin: labOrigin, Public: p.lab.signers[0].Public(),
		Policy: []byte("log " + p.lab.vkey + "\nquorum none\n")})
	s := p.blind("hand")
	order := p.lab.ledger.Head().Size - 1
	two := p.forked()
	two.serve()
	var by string
	for two.ledger.Head().Size < order {
		by, _, _ = keys.SplitToken(two.newToken(audit.RoleBlind, "cards"))
	}
	two.cfg.Houses = map[string]blind.House{houseOrigin: p.asHouse()}
	two.serve()
	_, err := two.dealer.Shuffle(t.Context(), audit.Actor{Identity: "cards", Credential: by}, "order",
		api.ShuffleRequest{Table: "t", Deck: "positions-52", ForLedger: houseOrigin})
	check(t, err)
	lead := func(w http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) bool {
		if !strings.HasSuffix(r.URL.Path, "/transcript") {
			return false
		}
		r.Header.Del("Authorization")
		(*two.handler.Load()).ServeHTTP(w, r)
		return true
	}
	p.front.fault.Store(&lead)
	p.close(s.ID, completed)
	ctx := within(t, 20*time.Second)
	for i := 0; err == nil; i++ { // the order is closed in the background
		_, err = p.house.dealer.Shuffle(ctx, house, fmt.Sprint("next", i), api.ShuffleRequest{Table: "t",
			Deck: "standard-52", Plan: &api.MixPlan{CoDealer: true}})
	}
	kept, unread := os.ReadFile(filepath.Join(p.dir, "state.forked"))
	if n := strings.Count(string(kept), "— "+labOrigin+" "); !errors.Is(err, api.ErrCoDealerForked) || n < 2 {
		t.Errorf("%v; %d checkpoints are kept, %v", err, n, unread)
	}
}

// TestChecksBehindDeals: behind a deal the house compares all checkpoints of the co-dealer that it saw, also for other
// shuffles, and the deals after one that does not belong to the same history are refused.
func TestChecksBehindDeals(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.way.Close()
	two := p.forked()
	state, err := json.Marshal(map[string]any{"newest": string(p.lab.ledger.Head().Checkpoint),
		"loose": []string{string(two.ledger.Head().Checkpoint)}})
	check(t, err)
	check(t, client.FileState(filepath.Join(p.dir, "state")).Save(state))
	p.house.cfg.CoDealer = p.open(p.house, "state", setting{})
	p.house.serve()
	for place := 0; err == nil && place < 52; place++ { // no deal waits for the comparison
		_, err = p.house.dealer.Deal(t.Context(), house, s.ID, api.DealRequest{First: place,
			Runs: []audit.Run{board(1)}})
	}
	if !errors.Is(err, api.ErrCoDealerForked) {
		t.Errorf("%v, want ErrCoDealerForked", err)
	}
}

// TestForked: a co-dealer with two histories stops everything until a person clears it, over restarts as well.
func TestForked(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.deal(s.ID, 0, seat(2, "a"))
	state := filepath.Join(p.dir, "state")
	p.way.Close()

	way := p.open(p.house, "state", setting{})
	codealer.Trip(way, labOrigin)
	p.house.cfg.CoDealer = way
	p.house.serve()
	written, err := os.ReadFile(state + ".forked")
	check(t, err)
	for _, next := range [][]byte{written, written[:len(written)/2], nil, []byte("null"), {0}, written} { // torn, foul
		_, err := p.house.dealer.Deal(t.Context(), house, s.ID,
			api.DealRequest{First: 2, Runs: []audit.Run{board(1)}})
		if !errors.Is(err, api.ErrCoDealerForked) {
			t.Errorf("%v, want ErrCoDealerForked", err)
		}
		way.Close()
		check(t, os.WriteFile(state+".forked", next, 0o600))
		way = p.open(p.house, "state", setting{})
		p.house.cfg.CoDealer = way
		p.house.serve()
	}
	way.Close()
	if cleared, err := codealer.Clear(state, time.Now()); !cleared || err != nil {
		t.Fatal(cleared, err)
	}
	if _, err := os.Stat(state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was seen of the co-dealer before is still there: %v", err)
	}
	check(t, os.Mkdir(state+".forked", 0o700))
	if codealer.Readable(state) == nil {
		t.Error("a latch that cannot be read counts as none")
	}
	check(t, os.Remove(state+".forked"))
	p.house.cfg.CoDealer = p.open(p.house, "state", setting{})
	p.house.serve()
	p.deal(s.ID, 2, board(1))
	p.proved(s.ID, api.View{})
}
