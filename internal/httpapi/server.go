package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"shuffled/internal/ledger"
)

// Config is what an API is made with.
type Config struct {
	Limits Limits
	// Version is the build's, for metrics.
	Version string
	// Collectors are shown among the metrics, alongside the API's own.
	Collectors []prometheus.Collector
	// Log gets one line per request, and the cause of every failure. Required.
	Log *slog.Logger
	// Health says how the daemon's host is; nil: well.
	Health func() Health
	// Now is the wall clock, for tokens and rates; nil is time.Now.
	Now func() time.Time
}

// Health is how the daemon's host and its files are.
type Health struct {
	Reason   string   // why the daemon must not be asked any more; "" if it may be
	Warnings []string // what an operator should do soon
}

// Server answers requests for the ledgers that are added to it. Safe for
// concurrent use. It starts no goroutine.
type Server struct {
	cfg        Config
	ledgers    registry
	identities *identities
	metrics    *metrics
	mux        *http.ServeMux
	waits

	inFlight    atomic.Int64         // requests being answered, those that wait included
	working     *fairQueue[queueKey] // of requests that work on ledgers
	connections *fairSemaphore[netip.Prefix]
	bodies      *byteQuota // of all requests but those to verify
	evidence    *byteQuota
	verifying   *semaphore.Weighted
	uploads     *fairSemaphore[netip.Prefix] // of evidence: uploadsPerVerification times as many
	tokenRates  *rates[tokenKey]
	readRates   *rates[netip.Prefix]     // of anonymous reads that cost
	reading     *fairQueue[netip.Prefix] // of readers that work
	readBytes   *rates[netip.Prefix]     // that strangers are given
	allBytes    *rates[struct{}]         // that all of them are given
	verifyRates *rates[netip.Prefix]

	epoch  string // names this process in request ids
	number atomic.Uint64
}

// New returns a server without ledgers. Routes of a ledger answer not_ready
// until it was added, and any unknown name does until Ready was called.
func New(cfg Config) (*Server, error) {
	if cfg.Log == nil {
		return nil, errors.New("making the API: no log")
	}
	cfg.Limits.setDefaults()
	if cfg.Health == nil {
		cfg.Health = func() Health { return Health{} }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{
		cfg:         cfg,
		identities:  newIdentities(cfg.Now, newRates[netip.Prefix](cfg.Limits.UnknownRate, cfg.Limits.UnknownBurst)),
		mux:         http.NewServeMux(),
		working:     newFairQueue[queueKey](cfg.Limits.Concurrent, cfg.Limits.Waiting),
		connections: newFairSemaphore[netip.Prefix](cfg.Limits.Connections),
		bodies:      newByteQuota(roomPerBody * cfg.Limits.Body),
		evidence:    newByteQuota(roomPerEvidence * cfg.Limits.Verify),
		verifying:   semaphore.NewWeighted(int64(cfg.Limits.Verifying)),
		uploads:     newFairSemaphore[netip.Prefix](uploadsPerVerification * cfg.Limits.Verifying),
		tokenRates:  newRates[tokenKey](cfg.Limits.TokenRate, cfg.Limits.TokenBurst),
		readRates:   newRates[netip.Prefix](cfg.Limits.ReadRate, cfg.Limits.ReadBurst),
		reading:     newFairQueue[netip.Prefix](cfg.Limits.Readers, cfg.Limits.Waiting),
		readBytes:   newRates[netip.Prefix](float64(cfg.Limits.ReadBytes), int(burstOfBytes*cfg.Limits.ReadBytes)),
		allBytes:    newRates[struct{}](float64(cfg.Limits.ReadBytesAll), int(burstOfBytes*cfg.Limits.ReadBytesAll)),
		verifyRates: newRates[netip.Prefix](cfg.Limits.VerifyRate, cfg.Limits.VerifyBurst),
		epoch:       requestEpoch(cfg.Now()),
	}
	s.waits = newWaits(cfg.Limits)
	var err error
	if s.metrics, err = newMetrics(s); err != nil {
		return nil, err
	}
	for _, rt := range routes(s) {
		s.mux.HandleFunc(rt.method+" "+pattern(rt.path), func(w http.ResponseWriter, r *http.Request) {
			s.serve(w.(*recorder), r, rt)
		})
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w.(*recorder), r, noRoute(s.mux, r))
	})
	return s, nil
}

// Add serves a ledger, which is loaded.
func (s *Server) Add(l Ledger) error { return s.ledgers.add(l) }

// Await names the ledgers that are to be added: their figures say until then that nothing can be written.
func (s *Server) Await(ledgers []string) { s.ledgers.await(ledgers) }

// Ready says that all ledgers were added.
func (s *Server) Ready() { s.ledgers.finish() }

// Waiting has readiness say what the start waits for, "" for nothing.
func (s *Server) Waiting(what string) { s.ledgers.wait(what) }

// Leave has readiness say that the daemon is stopping, while requests are served as
// before: load balancers look elsewhere before anything is refused.
func (s *Server) Leave() { s.ledgers.leave() }

// Drain answers not_ready from now on, on all routes of ledgers, so that load
// balancers look elsewhere while requests under way are finished. Streams of events end.
func (s *Server) Drain() {
	s.ledgers.drain()
	s.endStreams()
}

// route is an operation of the contract.
type route struct {
	method string
	path   string   // as in the contract
	roles  []string // that may call it; none: all who may read
	scope  string   // x-scope of the contract; "" of what is of no ledger
	call   func(*call) error
}

// open reports whether anyone may read what the route answers, of a ledger.
func (r route) open() bool {
	return r.method == http.MethodGet && len(r.roles) == 0 && strings.Contains(r.path, "{ledger}")
}

// costs reports whether the route computes its answer from the store for anyone who
// asks. The log's tiles are kept, here and by mirrors: they are counted in bytes.
func (r route) costs() bool {
	return r.open() &&
		(strings.Contains(r.path, "/shuffles/{id}") || strings.Contains(r.path, "/entries/{index}"))
}

// pattern turns a path of the contract into one of net/http: a tile's path has
// slashes, and the root is only itself.
func pattern(path string) string {
	if path == "/" {
		return "/{$}"
	}
	return strings.Replace(path, "/{tile}", "/{tile...}", 1)
}

// call is one request on its way through an operation.
type call struct {
	w      *recorder
	r      *http.Request
	route  route
	ledger *served // nil where the path names none
	caller caller
	works  bool // it has a place among those that work on ledgers

	whole    context.Context // of the request, without the time that an answer may take
	computed func(bytes int) // of a reader, until its answer is ready to be sent: told its size
}

// ServeHTTP answers a request to the public listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := s.record(w, r)
	defer s.finish(rec, r)
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	if !plainPath(r) {
		s.fail(rec, r, refuse(CodeNoSuchRoute))
		return
	}
	s.mux.ServeHTTP(rec, r)
}

// plainPath reports whether the path has its one spelling: clean and without
// escapes. Every other one has no address, where net/http would redirect it.
func plainPath(r *http.Request) bool {
	p := r.URL.Path
	return r.URL.RawPath == "" && !strings.Contains(r.URL.EscapedPath(), "%") && p == path.Clean(p) && p[0] == '/'
}

// noRoute says that the address, or its method, is not one of ours.
func noRoute(mux *http.ServeMux, r *http.Request) error {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(other); pattern != "/" {
			allow = append(allow, method)
		}
	}
	if len(allow) == 0 {
		return refuse(CodeNoSuchRoute)
	}
	return &refusal{code: CodeMethodNotAllowed, allow: strings.Join(allow, ", "),
		detail: "this address takes " + strings.Join(allow, ", ") + ", not " + shown(r.Method, "method")}
}

func (s *Server) serve(rec *recorder, r *http.Request, rt route) {
	rec.route = r.Pattern
	if rt.open() && r.Header.Get("Authorization") == "" {
		// A page that is not the house's may read evidence, too (Fetch standard, CORS protocol). Nothing
		// else is shared: a request with a token is asked for first, and no route answers that.
		rec.Header().Set("Access-Control-Allow-Origin", "*")
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Limits.Request)
	defer cancel()
	until := rec.start.Add(s.cfg.Limits.QueueDeadline)
	if r.Method != http.MethodPost {
		ctx = ledger.WithFirstPatience(ctx, until)
	} else {
		ctx = ledger.WithPatience(ctx, until)
	}
	c := &call{w: rec, r: r.WithContext(ctx), route: rt, whole: r.Context()}
	if err := s.answer(c); err != nil {
		s.fail(rec, r, err)
	}
}

// answer answers the call, or returns an error and has answered nothing.
func (s *Server) answer(c *call) error {
	limit, room := s.cfg.Limits.Body, s.bodies
	if c.route.path == "/v1/verify" {
		limit, room = s.cfg.Limits.Verify, s.evidence
	}
	if c.r.ContentLength > limit {
		return refuse(CodeBodyTooLarge)
	}
	// net/http closes the connection of a body that is too long, if it can see
	// its own writer.
	c.r.Body = http.MaxBytesReader(c.w.ResponseWriter, c.r.Body, limit)
	if c.r.ContentLength < 0 || c.r.ContentLength > smallBody {
		body := &countedBody{ReadCloser: c.r.Body, quota: room}
		defer body.release()
		c.r.Body = body
	}
	if !strings.Contains(c.route.path, "/{ledger}/") {
		return c.route.call(c)
	}
	var err error
	if c.ledger, err = s.ledgers.find(c.r.PathValue("ledger")); err != nil {
		return err
	}
	// An anonymous crowd takes no place from those who are known.
	if c.route.costs() && !presents(c.r) && !s.readRates.allow(remote(c.r), s.cfg.Now()) {
		s.metrics.refuse(c.ledger, refusedAddress)
		return refuse(CodeRateLimited)
	}
	if err := s.enter(c, c.w.start); err != nil {
		return err
	}
	defer s.leave(c)
	if err := s.admit(c); err != nil {
		return err
	}
	if c.reader() {
		return s.read(c)
	}
	return c.route.call(c)
}
