// Package codealer is how a house reaches its co-dealers (docs/BLIND.md): a pool of orders that
// are made in advance, the calls that a deal waits for, and a latch that is set when a co-dealer
// shows two histories. It writes nothing into the house's ledger.
package codealer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"shuffled/client"
	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/dealer/record"
	"shuffled/internal/ledger"
)

// Peer is where a co-dealer is reached, and with which credential.
type Peer struct {
	Origin string // of its ledger
	URL    string
	Ledger string                 // its name in addresses
	Token  func() (string, error) // of the role blind; read when it is first needed
	State  string                 // file of what was seen of its ledger; the file of the latch is next to it
}

// Config configures the connections to the co-dealers of one ledger.
type Config struct {
	Origin string // of the house's ledger
	Peers  []Peer
	// Pin returns the newest key entry of the house's ledger that names this co-dealer.
	Pin func(origin string) (trust.KeyRecord, bool)
	// Pool is how many orders of one kind are made in advance; 0: none.
	Pool int
	// Asks is how many deals are asked for at a time, of one co-dealer; 0: 256.
	Asks int
	Log  *slog.Logger
	Now  func() time.Time
}

// Figures are what metrics show of a co-dealer.
type Figures struct {
	Origin   string
	Asked    uint64        // deals that were asked for, and orders that failed
	Failed   uint64        // of these, without a valid answer
	Refused  uint64        // of these, refused for good
	Waited   time.Duration // for all valid answers together
	UnderWay int           // deals that are being asked for
	Orders   int           // made in advance and not used
	Forked   bool
}

// Figures returns the figures of each co-dealer.
func (c *CoDealers) Figures() (all []Figures) {
	for _, p := range c.cfg.Peers {
		one := c.peers[p.Origin]
		f := Figures{Origin: p.Origin, Asked: one.asked.Load(), Failed: one.failed.Load(), Refused: one.refused.Load(),
			Waited:   time.Duration(one.waited.Load()),
			UnderWay: cap(one.asks) - len(one.asks), Forked: one.latch.set() != nil}
		one.mu.Lock()
		for _, of := range one.pools {
			f.Orders += len(of.ready)
		}
		one.mu.Unlock()
		all = append(all, f)
	}
	return all
}

// CoDealers are the co-dealers of one ledger. It is a blind.CoDealer, safe for concurrent use.
type CoDealers struct {
	cfg   Config
	peers map[string]*peer

	running context.Context // ends with Close
	cancel  context.CancelFunc
	group   sync.WaitGroup
}

var _ blind.CoDealer = (*CoDealers)(nil)

// Open returns the connections to the peers. The caller must Close it.
func Open(cfg Config) (*CoDealers, error) {
	cfg.Asks = cmp.Or(cfg.Asks, 256)
	c := &CoDealers{cfg: cfg, peers: make(map[string]*peer)}
	c.running, c.cancel = context.WithCancel(context.Background())
	for _, p := range cfg.Peers {
		connections := http.DefaultTransport.(*http.Transport).Clone()
		connections.MaxIdleConnsPerHost, connections.MaxIdleConns = cfg.Asks, cfg.Asks
		one := &peer{all: c, Peer: p, asks: make(chan struct{}, cfg.Asks), closes: make(chan ended, maxCloses),
			saved: saved{State: client.FileState(p.State)}, due: make(chan *client.Client, 1),
			pools: make(map[string]*pool), http: &http.Client{Timeout: callTimeout, Transport: connections}}
		if err := one.latch.load(p.State + latchSuffix); err != nil {
			return nil, fmt.Errorf("reading the state of the co-dealer %s: %w", p.Origin, err)
		}
		c.peers[p.Origin] = one
	}
	for _, one := range c.peers {
		for range cfg.Asks {
			one.asks <- struct{}{}
		}
		c.group.Go(one.checks)
		for range closers {
			c.group.Go(one.closeOrders)
		}
	}
	return c, nil
}

// Close ends the work in the background. Orders that were not used are left to expire.
func (c *CoDealers) Close() {
	c.cancel()
	c.group.Wait()
	for _, one := range c.peers {
		one.http.CloseIdleConnections()
	}
}

const (
	callTimeout = 30 * time.Second
	maxCloses   = 4096
	closers     = 4 // goroutines that close orders
	attempts    = 5 // of a call; then it fails, and the caller may send the same request again
)

// peer is one co-dealer.
type peer struct {
	Peer
	all   *CoDealers
	http  *http.Client
	latch latch
	asks  chan struct{} // one for each request that may begin

	saved saved

	asked, failed, refused atomic.Uint64
	waited                 atomic.Int64

	closes chan ended

	mu     sync.Mutex
	entry  uint64         // the key entry that client was made from
	client *client.Client // nil: none was made yet
	pools  map[string]*pool

	due chan *client.Client // of checkSoon
}

// saved lets clients of two policies save in turn: calls under way keep the one that a key entry has replaced.
type saved struct {
	client.State
	mu sync.Mutex
}

func (s *saved) Load() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.State.Load()
}

func (s *saved) Save(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.State.Save(b)
}

// at returns a co-dealer, and a client with the policy that is pinned now.
func (c *CoDealers) at(origin string) (*peer, *client.Client, error) {
	p := c.peers[origin]
	if p == nil {
		return nil, nil, fmt.Errorf("%w: the configuration of this daemon has no address of %s", api.ErrCoDealer, origin)
	}
	if err := p.latch.set(); err != nil {
		return nil, nil, err
	}
	pin, ok := c.cfg.Pin(origin)
	if !ok {
		return nil, nil, fmt.Errorf("%w: no key entry names %s", api.ErrCoDealer, origin)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil && p.entry == pin.Index {
		return p, p.client, nil
	}
	token, err := p.Token()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: reading the token for the co-dealer: %w", api.ErrCoDealer, err)
	}
	policy, err := policyOf(pin)
	if err == nil {
		p.client, err = client.New(client.Config{URL: p.URL, Ledger: p.Ledger, Token: token, Policy: policy,
			State: &p.saved, HTTP: p.http, Attempts: attempts, Pause: 50 * time.Millisecond,
			MaxPause: time.Second})
	}
	if err != nil {
		p.client = nil
		return nil, nil, fmt.Errorf("%w: the pin of entry %d: %w", api.ErrCoDealer, pin.Index, err)
	}
	p.entry = pin.Index
	return p, p.client, nil
}

// policyOf returns the pinned policy, with the pinned key among its log lines.
func policyOf(pin trust.KeyRecord) (string, error) {
	vkey, err := audit.VKey(pin.Origin, pin.Public)
	if err != nil {
		return "", err
	}
	policy, err := trust.ParsePolicy(pin.Policy)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(policy.LogKeys, func(k []byte) bool { return slices.Equal(k, pin.Public) }) {
		return string(pin.Policy), nil
	}
	return "log " + vkey + "\n" + string(pin.Policy), nil
}

// Ask has the next places of an order dealt.
func (c *CoDealers) Ask(ctx context.Context, n blind.Next, runs []audit.Run, a api.Asking) (record.Given, error) {
	p, to, err := c.at(n.Origin)
	if err != nil {
		return record.Given{}, err
	}
	if _, err := ledger.Await(ctx, p.asks, "many deals wait for the co-dealer"); err != nil { // and nothing was written
		return record.Given{}, err
	}
	defer func() { p.asks <- struct{}{} }()
	req := client.DealRequest{First: n.First, Asked: &client.Asked{Commit: a.Commit, After: given(a.After),
		State: given(client.Hash(a.State)), Ask: a.Ask[:], Since: &n.Since}}
	for _, r := range runs {
		req.Runs = append(req.Runs, client.Run{Count: r.Count, Purpose: client.Purpose(r.Purpose.String()),
			Recipient: given(r.Recipient), Public: given(r.Public), Round: given(r.Round)})
	}
	began := time.Now()
	g, err := to.Ask(ctx, n.Order, req)
	if err = p.tried(err); err != nil {
		return record.Given{}, err
	}
	p.waited.Add(int64(time.Since(began)))
	p.checkSoon(to)
	return record.Given(*g), nil
}

// given is a member of a request; nil: it is left out.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// Asked returns the deal of an order that began at this place, nil if there is none.
func (c *CoDealers) Asked(ctx context.Context, n blind.Next) (*record.Given, error) {
	p, to, err := c.at(n.Origin)
	if err != nil {
		return nil, err
	}
	g, err := to.Asked(ctx, n.Order, n.First, n.Since)
	if err != nil || g == nil {
		return nil, p.said(err)
	}
	return (*record.Given)(g), nil
}

// tried counts a call for a deal, or one for an order that failed, and returns what said makes of its error.
func (p *peer) tried(err error) error {
	p.asked.Add(1)
	switch err = p.said(err); {
	case err == nil:
	case errors.As(err, new(*audit.Illegal)) || errors.Is(err, api.ErrRepeated):
		p.refused.Add(1)
	default:
		p.failed.Add(1)
	}
	return err
}

// said turns the error of a call into one for the dealer: the co-dealer refuses for good, it has
// shown two histories, or anything else.
func (p *peer) said(err error) error {
	var refused *client.Error
	var fault *client.Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests &&
		refused.Status != http.StatusUnauthorized && refused.Status != http.StatusForbidden:
		why := strings.TrimSpace(string(refused.Code) + ": " + refused.Detail)
		if refused.Code == client.CodeRepeated {
			p.all.cfg.Log.Error("the co-dealer gave these places to another request", "co_dealer", p.Origin, "answer", why)
			return fmt.Errorf("%w: the co-dealer opened these places, and %s", api.ErrRepeated, why)
		}
		return &audit.Illegal{Code: audit.RuleCoDealer, Detail: "the co-dealer refuses: " + why}
	case errors.As(err, &fault) && fault.Other != nil:
		p.latch.trip(p.all.cfg.Log, p.all.cfg.Now(), p.Origin, fault)
		return p.latch.set()
	}
	return fmt.Errorf("%w: %s: %w", api.ErrCoDealer, p.Origin, err)
}

// ended is an order that is to be closed.
type ended struct {
	blind.Next
	receipt func(context.Context) (string, error)
	keep    func(context.Context, record.Given) error
}

// Ended closes an order in the background. An order that cannot be closed expires.
func (c *CoDealers) Ended(n blind.Next, receipt func(context.Context) (string, error),
	keep func(context.Context, record.Given) error) {
	p := c.peers[n.Origin]
	if p == nil {
		return
	}
	select {
	case p.closes <- ended{n, receipt, keep}:
	default:
		c.cfg.Log.Warn("an order is left to expire: too many wait to be closed", "co_dealer", n.Origin, "order", n.Order)
	}
}

func (p *peer) closeOrders() {
	for {
		select {
		case <-p.all.running.Done():
			return
		case e := <-p.closes:
			if err := p.closeOrder(e); err != nil && p.all.running.Err() == nil {
				p.all.cfg.Log.Warn("the close of an order is not kept, and the order may be left to expire", "co_dealer", p.Origin,
					"order", e.Order, "error", err)
			}
		}
	}
}

// closeOrder tries for callTimeout, because a co-dealer may be starting anew.
func (p *peer) closeOrder(e ended) error {
	ctx, cancel := context.WithTimeout(p.all.running, callTimeout)
	defer cancel()
	for {
		err := p.tryClose(ctx, e)
		if !errors.Is(err, api.ErrCoDealer) && !errors.Is(err, ledger.ErrNotWitnessed) ||
			!ledger.Sleep(ctx, time.Second, nil) {
			return err
		}
	}
}

func (p *peer) tryClose(ctx context.Context, e ended) error {
	_, to, err := p.all.at(p.Origin)
	if err != nil {
		return err
	}
	follows, err := e.receipt(ctx)
	if err != nil {
		return err
	}
	g, err := to.EndOrder(ctx, e.Order, follows, e.Since)
	if err != nil || g == nil {
		return p.said(err)
	}
	return e.keep(ctx, record.Given(*g))
}
