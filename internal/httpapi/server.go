// Package httpapi is the daemon's HTTP API: routes, strict input, limits,
// identity, problem documents, metrics, and the contract that they all keep.
//
// The contract, openapi.yaml, is the source. Types, parameters and routes, with the roles that each route asks for, are
// generated from it into server.gen.go, and tests compare every answer with it. Requests about shuffles, and their
// answers, are types of package dealer, which decides with package ledger; this package reads and writes their bytes.
//
// A request passes these steps, in this order: the route, the size of the body, the ledger, the rate of anonymous
// reads, the fair queue of ledgers, the token or certificate, the token's rate, the record of a regulator's or an
// administrator's access, the role, the token's tables, for a reader the fair queue of readers, the parameters, the
// body. A request that fails at a step is answered with a problem document (RFC 9457) and changes nothing, except that
// a recorded access stays recorded.
package httpapi

//go:generate go tool oapi-codegen -config oapi-codegen.yaml openapi.yaml
//go:generate env UPDATE_GOLDEN=1 go test -count=1 -run ^TestErrorsPage$ .

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/config"
	"shuffled/internal/dealer"
	"shuffled/internal/follow"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/near"
)

// Config is what an API is made with.
type Config struct {
	Limits config.Limits
	// Version is the build's, for metrics.
	Version string
	// Collectors are added to the API's own metrics.
	Collectors []prometheus.Collector
	// Log gets one line for each request, and the cause of each failure of this side. Required.
	Log *slog.Logger
	// OperatorHosts are names, besides localhost and IP addresses, under which operators reach their listener.
	OperatorHosts []string
	// Health returns the state of the daemon's host; nil: it is well.
	Health func() Health
	// Now is the wall clock, for tokens and rates; nil is time.Now.
	Now func() time.Time
}

// Health is the state of the daemon's host and of its files.
type Health struct {
	Reason   string   // why the daemon must not be asked any more; "" if it may be
	Warnings []string // what an operator should do soon
}

// Server answers requests for the ledgers that are added to it. Safe for concurrent use. It starts no goroutine.
type Server struct {
	cfg     Config
	ledgers registry
	metrics *metrics
	mux     *http.ServeMux
	follows
	readers

	inFlight     atomic.Int64          // requests being answered, those that wait included
	working      *fairQueue[queueKey]  // of requests that work on ledgers
	witnessed    *fairQueue[ledger.ID] // of requests that wait for witnesses; without lines, as all below
	connections  *fairQueue[netip.Prefix]
	bodies       atomic.Int64 // bytes left for bodies, except for evidence to verify
	evidence     atomic.Int64 // bytes left for evidence
	verifying    *semaphore.Weighted
	uploads      *fairQueue[netip.Prefix] // of evidence: uploadsPerVerification times as many
	tokenRates   *rates[tokenKey]
	unknownRates *rates[netip.Prefix]                 // of credentials that do not hold
	termsBytes   *rates[tokenKey]                     // of new documents of terms, by identity
	rates        map[addressRate]*rates[netip.Prefix] // that callers without a credential pay

	epoch  string // names this process in request ids
	number atomic.Uint64
}

// New returns a server without ledgers. The routes of a ledger answer not_ready until the
// ledger is added, and those of an unknown ledger until Ready is called.
func New(cfg Config) (*Server, error) {
	if cfg.Log == nil {
		return nil, errors.New("making the API: no log")
	}
	if cfg.Health == nil {
		cfg.Health = func() Health { return Health{} }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	l := cfg.Limits
	streams, endStreams := context.WithCancel(context.Background())
	s := &Server{
		cfg:       cfg,
		mux:       http.NewServeMux(),
		follows:   follows{newFairQueue[tokenKey](l.Followers, 0), streams, endStreams},
		witnessed: newFairQueue[ledger.ID](l.Witnessed, 0),
		readers: readers{
			strangers: newFairQueue[netip.Prefix]((l.Concurrency+1)/2, 0),
			reading:   newFairQueue[netip.Prefix](l.Readers, l.Waiting),
			readBytes: newRates[netip.Prefix](float64(l.ReadBytes), burstOfBytes*int(l.ReadBytes)),
			allBytes:  newRates[struct{}](float64(l.ReadBytesAll), burstOfBytes*int(l.ReadBytesAll)),
		},
		working:      newFairQueue[queueKey](l.Concurrency, l.Waiting),
		connections:  newFairQueue[netip.Prefix](l.Connections, 0),
		verifying:    semaphore.NewWeighted(int64(l.Verifications)),
		uploads:      newFairQueue[netip.Prefix](uploadsPerVerification*l.Verifications, 0),
		tokenRates:   newRates[tokenKey](l.TokenRate, l.TokenBurst),
		termsBytes:   newRates[tokenKey](termsPerDay/(24*time.Hour).Seconds(), termsPerDay),
		unknownRates: newRates[netip.Prefix](l.UnknownRate, l.UnknownBurst),
		rates: map[addressRate]*rates[netip.Prefix]{readRate: newRates[netip.Prefix](l.ReadRate, l.ReadBurst),
			verifyRate: newRates[netip.Prefix](l.VerifyRate, l.VerifyBurst)},
		// Request ids tell requests apart and are no secret, so they need no randomness.
		epoch: strconv.FormatInt(cfg.Now().UnixNano(), 36),
	}
	s.bodies.Store(roomPerBody * int64(l.MaxBody))
	s.evidence.Store(roomPerEvidence * int64(l.MaxVerifyBody))
	var err error
	if s.metrics, err = newMetrics(s); err != nil {
		return nil, err
	}
	for _, rt := range routes(s) {
		name := rt.method + " " + rt.path
		i := slices.IndexFunc(prices, func(p price) bool { return slices.Contains(p.routes, name) })
		if i < 0 {
			return nil, errors.New("making the API: the route " + name + " has no price")
		}
		s.mux.HandleFunc(rt.method+" "+pattern(rt.path), func(w http.ResponseWriter, r *http.Request) {
			s.serve(w.(*recorder), r, rt, prices[i])
		})
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w.(*recorder), r, noRoute(s.mux, r))
	})
	return s, nil
}

// Await names the ledgers that are to be added. Until a ledger is added, its figure writable is 0.
func (s *Server) Await(ledgers []string) { s.ledgers.set(func(r *registry) { r.awaited = ledgers }) }

// Ready tells that all ledgers were added.
func (s *Server) Ready() { s.ledgers.set(func(r *registry) { r.complete = true }) }

// Waiting has readiness name what the start waits for; "" is nothing.
func (s *Server) Waiting(what string) {
	s.ledgers.set(func(r *registry) { r.waiting = clip(what, 500) })
}

// Leave has readiness answer that the daemon is stopping, while requests are served as
// before: load balancers look elsewhere before anything is refused.
func (s *Server) Leave() { s.ledgers.set(func(r *registry) { r.leaving = true }) }

// Drain answers not_ready from now on, on all routes of ledgers, so that load
// balancers look elsewhere while requests under way are finished. Streams of events end.
func (s *Server) Drain() {
	s.ledgers.set(func(r *registry) { r.draining = true })
	s.endStreams()
}

// Access keeps the requests of regulators and administrators; every ledger.Store is one.
type Access interface {
	PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error
	AccessRecords(ctx context.Context, id ledger.ID, q ledger.AccessQuery) ([]ledger.Access, error)
}

// Recall finds shuffles and tables; *recall.Finder is one.
type Recall interface {
	Find(ctx context.Context, q ledger.RecallQuery) (ledger.RecallPage, error)
	Tables(ctx context.Context, q ledger.TableQuery) (page []rules.TableRef, next string, err error)
}

// Ledger is one ledger as the API serves it. All of it is required.
type Ledger struct {
	Dealer *dealer.Dealer
	Log    *sequencer.Ledger
	Access Access
	Recall Recall
	Events *follow.Feed
}

// served is a Ledger with the state that the API keeps of it.
type served struct {
	Ledger
	id     ledger.ID
	public bool // whether its genesis lets everybody read

	batches   *fairQueue[string] // operations of batches, by identity
	recording *fairQueue[string] // requests on their way to the record, by credential; without lines
}

// registry holds the ledgers by name. Ledgers are added while the daemon starts. Until it is
// complete, a ledger with an unknown name may still be added.
type registry struct {
	mu       sync.RWMutex
	byName   map[string]*served
	awaited  []string // names that the start is to add
	complete bool
	waiting  string // what the start waits for; "" for nothing
	leaving  bool   // readiness answers that the daemon is stopping; requests are served as before
	draining bool
}

// Add serves a ledger, which is loaded.
func (s *Server) Add(l Ledger) error {
	info, r := l.Log.Info(), &s.ledgers
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[info.Name] != nil {
		return fmt.Errorf("serving ledger %s: the name is taken", info.Name)
	}
	if r.byName == nil {
		r.byName = make(map[string]*served)
	}
	r.byName[info.Name] = &served{
		Ledger:  l,
		id:      ledger.IDOf(info.Origin),
		public:  l.Log.Genesis().Access == audit.AccessPublic,
		batches: newFairQueue[string](atOnce, 0),
		// Of the half of all places that a ledger may have, a sixteenth.
		recording: newFairQueue[string](max(2, s.cfg.Limits.Concurrency/32), 0),
	}
	s.metrics.begin(info.Name)
	return nil
}

// find returns the ledger with the name, or a refusal.
func (r *registry) find(name string) (*served, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch l := r.byName[name]; {
	case r.draining || l == nil && !r.complete:
		return nil, &refusal{code: CodeNotReady, detail: r.notReady()}
	case l == nil:
		return nil, &refusal{code: CodeNoSuchLedger, detail: shown(name, "name") + " is no ledger of this daemon." +
			near.Hint(name, slices.Sorted(maps.Keys(r.byName)))}
	default:
		return l, nil
	}
}

// all returns the ledgers by name, the names that are still to be added, and why the daemon as a whole is not ready.
func (r *registry) all() (ledgers []*served, missing []string, notReady string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	missing = slices.DeleteFunc(slices.Clone(r.awaited), func(name string) bool { return r.byName[name] != nil })
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		ledgers = append(ledgers, r.byName[name])
	}
	return ledgers, missing, r.notReady()
}

// notReady is why the daemon as a whole is not ready, "" if it is. r.mu is held.
func (r *registry) notReady() string {
	switch {
	case r.leaving || r.draining:
		return "stopping"
	case !r.complete && r.waiting != "":
		return "waiting for " + r.waiting
	case !r.complete:
		return "loading"
	case len(r.byName) == 0:
		return "no ledger is configured"
	}
	return ""
}

// set changes the state of the start or the stop.
func (r *registry) set(change func(*registry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}
