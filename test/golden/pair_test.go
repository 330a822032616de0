package golden

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/codealer"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/ledger"
)

// pair makes the lab the co-dealer of the house, and lets the house play blind hands.
func (s *story) pair(house, lab *daemon) {
	t := s.t
	trusted, err := trust.ParseTrust("", []byte(house.trusted()))
	must(t, err)
	lab.cfg.Houses = map[string]blind.House{houseOrigin: {Keys: trusted.Keys, Policy: trusted.Policy}}
	lab.Dealer = dealer.New(lab.cfg)
	token := lab.hire(audit.Actor{Identity: "cards"}, audit.RoleBlind)
	s.coDealer = lab.trusted()
	house.approved(operator, &audit.Key{Subject: audit.SubjectCoDealer, Origin: labOrigin,
		Public: lab.signers[0].Public(), Policy: []byte(s.coDealer)}, "alice", "bob")
	way := newWay(t.TempDir(), lab.serve())
	front := httptest.NewServer(way)
	defer front.Close()
	way.dealers, err = codealer.Open(codealer.Config{Origin: houseOrigin, Pin: house.ledger.CoDealer,
		Peers: []codealer.Peer{{Origin: labOrigin, URL: front.URL, Ledger: "main",
			Token: func() (string, error) { return token, nil }, State: filepath.Join(way.dir, "state")}},
		Log: slog.New(slog.DiscardHandler), Now: s.clock.now})
	must(t, err)
	defer way.dealers.Close()
	store := keeps{house.cfg.Store, make(chan struct{}, 8)}
	house.cfg.CoDealer, house.cfg.Store = way.dealers, store
	house.Dealer = dealer.New(house.cfg)

	blind := func(r *api.ShuffleRequest) { r.Plan = &api.MixPlan{CoDealer: true} }
	one := house.hand("blind", blind)
	s.ended(lab, store.kept)
	s.file(house, one, "blind", "a hand in the order of a co-dealer", api.View{},
		api.View{Identity: cards.Identity, Recipient: "seat-2"})
	one = house.hand("blind", blind, auditors)
	s.ended(lab, store.kept)
	s.file(house, one, "blind-auditors", "the same, disclosed to auditors", api.View{})

	dice := house.draw(api.DrawsRequest{Table: "blind", Ranges: []uint32{6, 6, 37},
		Plan: &api.MixPlan{CoDealer: true}})
	house.deal(dice, board(3))
	house.end(dice, completed)
	s.ended(lab, store.kept)
	s.file(house, dice, "blind-draws", "draws in the order of a co-dealer", api.View{})

	req := deck("blind")
	blind(&req)
	open := house.commit(req)
	house.deal(open, seat(2, "seat-1"))
	way.lost.Store(true)
	ctx, cancel := context.WithTimeout(house.ctx(), time.Second)
	defer cancel()
	_, err = house.Deal(ctx, cards, open, api.DealRequest{First: 2, Runs: []audit.Run{board(1)}})
	if err == nil {
		t.Fatal("dealt without an answer")
	}
	way.lost.Store(false)
	lab.settle()
	house.settle()
	house.end(open, void(audit.ReasonCoDealer))
	s.ended(lab, store.kept)
	s.file(house, open, "blind-void", "the co-dealer's answer was lost: void, and what was not played is named",
		api.View{})
	house.cfg.CoDealer, house.cfg.Store = nil, store.Store
	house.Dealer = dealer.New(house.cfg)
}

// keeps says when the house has kept the close of an order.
type keeps struct {
	ledger.Store
	kept chan struct{}
}

func (k keeps) PutStatement(ctx context.Context, id ledger.ID, shuffle uint64, n int, note []byte) error {
	err := k.Store.PutStatement(ctx, id, shuffle, n, note)
	k.kept <- struct{}{}
	return err
}

// ended waits until the lab has closed all orders, and the house has kept the close of the last one.
func (s *story) ended(lab *daemon, kept chan struct{}) {
	s.t.Helper()
	for moved := lab.ledger.Changed(); lab.ledger.Live().Open > 0; moved = lab.ledger.Changed() {
		if lab.ledger.Live().Open == 0 {
			break
		}
		select {
		case <-moved:
		case <-time.After(time.Minute):
			s.t.Fatal("the lab has open orders")
		}
	}
	lab.settle()
	select {
	case <-kept:
	case <-time.After(time.Minute):
		s.t.Fatal("the house has not kept the close of an order")
	}
}

// way is a proxy between the house and the lab. While lost is set, it loses the answers to deals.
type way struct {
	dir     string
	proxy   *httputil.ReverseProxy
	dealers *codealer.CoDealers
	lost    atomic.Bool
}

func newWay(dir, to string) *way {
	address, err := url.Parse(to)
	if err != nil {
		panic(err)
	}
	return &way{dir: dir, proxy: httputil.NewSingleHostReverseProxy(address)}
}

func (w *way) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if w.lost.Load() && strings.HasSuffix(r.URL.Path, "/deal") {
		w.proxy.ServeHTTP(httptest.NewRecorder(), r)
		rw.WriteHeader(http.StatusBadGateway)
		return
	}
	w.proxy.ServeHTTP(rw, r)
}
