package codealer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/trust"
	"shuffled/internal/codealer"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/entropy"
	"shuffled/internal/follow"
	"shuffled/internal/httpapi"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/recall"
	"shuffled/internal/seal"
	"shuffled/internal/store/postgres"
	"shuffled/internal/store/sqlite"
	"shuffled/internal/testdb"
	"shuffled/internal/verify"
	"shuffled/internal/witness"
	"shuffled/internal/witness/witnesstest"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const (
	houseOrigin = "cards.example.com/main"
	labOrigin   = "lab.example.org/orders"
)

// daemon is a ledger with its dealer behind its API.
type daemon struct {
	t       testing.TB
	origin  string
	signers []*keys.SigningKey // the first is in force
	vkey    string
	store   ledger.Store
	db      string // file of the SQLite database
	open    ledger.Config
	cfg     dealer.Config
	ledger  *sequencer.Ledger
	dealer  *dealer.Dealer
	url     string
	clock   *ahead

	handler atomic.Pointer[http.Handler]
}

// ahead is a clock that is ahead of the time.
type ahead struct {
	start time.Time
	by    atomic.Int64
}

func (a *ahead) read() (time.Time, time.Duration) {
	by := time.Duration(a.by.Load())
	return time.Now().Add(by), time.Since(a.start) + by
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pair is a house and its co-dealer, with witnesses that both have.
type pair struct {
	t          testing.TB
	house, lab *daemon
	policy     map[string]string // of each ledger, by origin, with its keys
	token      string            // of the house at the co-dealer
	dir        string
	way        *codealer.CoDealers // of the house
	front      *front              // between them
	witness    *witnesstest.Witness
	kept       chan struct{} // the house kept, or did not keep, the close of an order
}

// keeps says when the close of an order was kept.
type keeps struct {
	ledger.Store
	kept chan struct{}
}

func (k keeps) PutStatement(ctx context.Context, id ledger.ID, shuffle uint64, n int, note []byte) error {
	defer func() { k.kept <- struct{}{} }()
	return k.Store.PutStatement(ctx, id, shuffle, n, note)
}

type setting struct {
	postgres   bool
	disclosure audit.Disclosure
	pool, asks int
}

func newPair(t testing.TB, set setting) *pair {
	t.Helper()
	p := &pair{t: t, policy: map[string]string{}, dir: t.TempDir(), kept: make(chan struct{}, 1024)}
	var signers [2][]*keys.SigningKey
	var vkeys []string
	for i, origin := range []string{houseOrigin, labOrigin} {
		for range 2 { // the second one is for a rotation
			key, err := keys.GenerateSigning(origin)
			check(t, err)
			signers[i], vkeys = append(signers[i], key), append(vkeys, key.VKey())
		}
	}
	w := witnesstest.Start(t, vkeys...)
	p.witness = w
	witnesses := fmt.Sprintf("%s\nquorum %s\n", w.PolicyLine, w.Name)
	p.policy[houseOrigin] = fmt.Sprintf("log %s\nlog %s\n%s", vkeys[0], vkeys[1], witnesses)
	p.policy[labOrigin] = fmt.Sprintf("log %s\nlog %s\n%s", vkeys[2], vkeys[3], witnesses)
	if set.disclosure == 0 {
		set.disclosure = audit.DisclosurePublic
	}
	p.house = p.begin(houseOrigin, signers[0], witnesses, set, 3600)
	p.lab = p.begin(labOrigin, signers[1], witnesses, setting{disclosure: set.disclosure}, 7200)
	p.lab.cfg.Houses = map[string]blind.House{houseOrigin: p.asHouse()}
	p.lab.serve()
	p.token = p.lab.newToken(audit.RoleBlind, "cards")
	p.house.append(&audit.Key{Subject: audit.SubjectCoDealer, Origin: labOrigin, Public: signers[1][0].Public(),
		Policy: []byte(p.policy[labOrigin])})
	p.front = newFront(t, p.lab.url)
	p.way = p.open(p.house, "state", set)
	p.house.cfg.CoDealer, p.house.cfg.Store = p.way, keeps{p.house.store, p.kept}
	p.house.serve()
	return p
}

// open makes the way of a house to its co-dealer.
func (p *pair) open(house *daemon, state string, set setting) *codealer.CoDealers {
	p.t.Helper()
	way, err := codealer.Open(codealer.Config{Origin: houseOrigin, Pool: set.pool, Asks: set.asks,
		Pin: house.ledger.CoDealer,
		Peers: []codealer.Peer{{Origin: labOrigin, URL: p.front.url, Ledger: "main",
			Token: func() (string, error) { return p.token, nil }, State: filepath.Join(p.dir, state)}},
		Log: slog.New(slog.DiscardHandler), Now: time.Now})
	check(p.t, err)
	p.t.Cleanup(way.Close)
	return way
}

func (p *pair) asHouse() blind.House {
	trusted, err := trust.ParseTrust("", []byte(p.policy[houseOrigin]))
	check(p.t, err)
	return blind.House{Keys: trusted.Keys, Policy: trusted.Policy}
}

// begin makes a ledger and opens it.
func (p *pair) begin(origin string, signers []*keys.SigningKey, witnesses string, set setting, closeBy uint32) *daemon {
	t := p.t
	t.Helper()
	dir := t.TempDir()
	d := &daemon{t: t, origin: origin, signers: signers, vkey: signers[0].VKey(), clock: &ahead{start: time.Now()}}
	if set.postgres {
		dsn := testdb.DSN(t)
		check(t, postgres.MigrateUp(t.Context(), dsn, postgres.Options{}))
		s, err := postgres.Open(t.Context(), dsn, postgres.Options{AllowSuperuser: true})
		check(t, err)
		t.Cleanup(func() { s.Close() })
		d.store = s
	} else {
		path := filepath.Join(dir, "db")
		d.db = path
		check(t, sqlite.MigrateUp(t.Context(), path, sqlite.Options{}))
		s, err := sqlite.Open(path, sqlite.Options{})
		check(t, err)
		t.Cleanup(func() { s.Close() })
		d.store = s
	}
	auditor, err := keys.GenerateAuditor()
	check(t, err)
	info, mark := ledger.Info{Name: "main", Origin: origin}, filepath.Join(dir, "mark")
	check(t, sequencer.Create(t.Context(), d.store, info, &audit.Genesis{Revision: audit.Revision, Origin: origin,
		SigningKey: signers[0].Public(), AuditorKeys: [][]byte{auditor.Public()}, Policy: []byte(witnesses),
		Deals: audit.DealsCosigned, Disclosure: set.disclosure, MixModes: 15, DefaultCloseBy: closeBy,
		MaxCloseBy: 86_400, Access: audit.AccessPublic}, signers[0].Signer(), mark, time.Now()))
	d.open = ledger.Config{Store: d.store, Info: info, Mark: mark, Start: audit.Event{Name: "test"},
		Clock:   d.clock.read,
		Signers: []note.Signer{signers[0].Signer(), signers[1].Signer()},
		Witness: witness.Reach}
	source, err := entropy.New(entropy.Config{})
	check(t, err)
	key, err := seal.NewKey(keys.GenerateSealing().Bytes())
	check(t, err)
	ring, err := seal.NewKeyring(key)
	check(t, err)
	d.cfg = dealer.Config{Store: d.store, Entropy: source, Keys: ring, Log: slog.New(slog.DiscardHandler),
		Now: func() int64 { now, _ := d.clock.read(); return now.UnixMilli() }}
	d.start()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*d.handler.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// start opens the ledger; a test that starts it again closes the old one before.
func (d *daemon) start() {
	d.t.Helper()
	l, err := sequencer.Open(d.t.Context(), d.open)
	check(d.t, err)
	d.t.Cleanup(func() { l.Close() })
	d.ledger, d.cfg.Ledger = l, l
}

// serve puts a dealer as it is configured behind the API.
func (d *daemon) serve() {
	d.t.Helper()
	d.dealer = dealer.New(d.cfg)
	log := slog.New(slog.DiscardHandler)
	api, err := httpapi.New(httpapi.Config{Limits: config.Default().Limits.Sandbox(), Log: log})
	check(d.t, err)
	feed := follow.New(follow.Config{Ledger: d.ledger, Tables: d.dealer.Shuffles(), Now: time.Now, Log: log})
	check(d.t, api.Add(httpapi.Ledger{Dealer: d.dealer, Log: d.ledger, Access: d.store,
		Recall: recall.New(d.ledger, d.store, 0, time.Now), Events: feed}))
	api.Ready()
	handler := http.Handler(api)
	d.handler.Store(&handler)
}

func (d *daemon) append(b audit.Body) {
	d.t.Helper()
	_, err := d.ledger.Append(d.t.Context(), ledger.Proposal{Actor: audit.Operator, Bodies: []audit.Body{b}})
	check(d.t, err)
}

func (d *daemon) newToken(role audit.Role, identity string) string {
	d.t.Helper()
	id, bearer := keys.NewToken()
	_, secret, _ := keys.SplitToken(string(bearer.Bytes()))
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: id, Form: audit.FormToken, Role: role, Identity: identity}
	c.Digest = c.Opens(keys.HashToken(secret))
	d.append(c)
	return string(bearer.Bytes())
}

var house = audit.Actor{Identity: "tester", Credential: "tester"}

// blind commits to a shuffle with a co-dealer.
func (p *pair) blind(key string, change ...func(*api.ShuffleRequest)) api.Shuffle {
	p.t.Helper()
	req := api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &api.MixPlan{CoDealer: true}}
	for _, f := range change {
		f(&req)
	}
	s, err := p.house.dealer.Shuffle(p.t.Context(), house, key, req)
	check(p.t, err)
	return s
}

func (p *pair) deal(id uint64, first int, runs ...audit.Run) api.Deal {
	p.t.Helper()
	d, err := p.house.dealer.Deal(p.t.Context(), house, id, api.DealRequest{First: first, Runs: runs})
	check(p.t, err)
	return d
}

func (p *pair) close(id uint64, req api.CloseRequest) api.Close {
	p.t.Helper()
	c, err := p.house.dealer.Close(p.t.Context(), house, id, req)
	check(p.t, err)
	return c
}

// written returns the newest entry of a shuffle of the house.
func (p *pair) written(id uint64) audit.Body {
	p.t.Helper()
	b, err := p.house.dealer.Transcript(p.t.Context(), id, api.View{})
	check(p.t, err)
	f, err := openings.ParseTranscript(b)
	check(p.t, err)
	r, err := audit.ParseReceipt(f.Receipts[len(f.Receipts)-1])
	check(p.t, err)
	e, err := audit.ParseEntry(r.Entry)
	check(p.t, err)
	return e.Body
}

// proved returns the verdict on the shuffle's transcript for everybody, once the witnesses saw
// all of it, under a policy for the co-dealer.
func (p *pair) proved(id uint64, v api.View) *verify.Verdict {
	p.t.Helper()
	check(p.t, p.house.ledger.AwaitCosigned(p.t.Context(), p.house.ledger.Head().Size-1))
	b, err := p.house.dealer.Transcript(p.t.Context(), id, v)
	check(p.t, err)
	verdict := verify.Transcript(b, verify.Trust{Policy: []byte(p.policy[houseOrigin]),
		CoDealer: []byte(p.policy[labOrigin])})
	undealt := verdict.Next == 0 && verdict.NotBlind == verify.NotDealt
	if verdict.Verdict != verify.Proved || verdict.Blind == nil && !undealt {
		p.t.Fatalf("the verdict: %s at %s, blind %v: %+v", verdict.Verdict, verdict.Failed, verdict.Blind,
			verdict.Steps)
	}
	return verdict
}

func seat(count int, to string) audit.Run {
	return audit.Run{Count: count, Purpose: audit.PurposeSeat, Recipient: to}
}

func board(count int) audit.Run {
	return audit.Run{Count: count, Purpose: audit.PurposeBoard, Public: true}
}

var burn = audit.Run{Count: 1, Purpose: audit.PurposeBurn}

var (
	completed = api.CloseRequest{Outcome: audit.OutcomeCompleted}
	gone      = api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonCoDealer}
)

// front is a proxy in front of the co-dealer, which a test makes fail or slow.
type front struct {
	url   string
	to    string
	delay atomic.Int64
	fault atomic.Pointer[func(http.ResponseWriter, *http.Request, func() *httptest.ResponseRecorder) bool]
	deals atomic.Int64 // calls of deals
}

func newFront(t testing.TB, to string) *front {
	f := &front{to: to}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// broken makes every call of a path go by fault, which says whether it answered it; nil mends it.
func (f *front) broken(path string, fault func(http.ResponseWriter, func() *httptest.ResponseRecorder) bool) {
	if fault == nil {
		f.fault.Store(nil)
		return
	}
	by := func(w http.ResponseWriter, r *http.Request, answered func() *httptest.ResponseRecorder) bool {
		return strings.HasSuffix(r.URL.Path, path) && fault(w, answered)
	}
	f.fault.Store(&by)
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/deal") {
		f.deals.Add(1)
	}
	if d := time.Duration(f.delay.Load()); d > 0 {
		<-time.After(d)
	}
	body, err := io.ReadAll(r.Body) // or a fault that waits would not be told that the caller has left
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	ask := func() *httptest.ResponseRecorder {
		out := httptest.NewRecorder()
		req := r.Clone(context.WithoutCancel(r.Context()))
		req.RequestURI = ""
		req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(f.to, "http://")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			out.Code = http.StatusBadGateway
			return out
		}
		defer resp.Body.Close()
		out.Code = resp.StatusCode
		for k, v := range resp.Header {
			out.Header()[k] = v
		}
		if _, err := out.Body.ReadFrom(resp.Body); err != nil {
			out.Code = http.StatusBadGateway
		}
		return out
	}
	if fault := f.fault.Load(); fault != nil && (*fault)(w, r, ask) {
		return
	}
	out := ask()
	for k, v := range out.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(out.Code)
	w.Write(out.Body.Bytes())
}

// down answers nothing.
func down(w http.ResponseWriter, _ func() *httptest.ResponseRecorder) bool {
	w.WriteHeader(http.StatusBadGateway)
	return true
}

// lost has the co-dealer do what is asked for, and loses the answer.
func lost(w http.ResponseWriter, answered func() *httptest.ResponseRecorder) bool {
	answered()
	w.WriteHeader(http.StatusBadGateway)
	return true
}
