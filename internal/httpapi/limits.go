package httpapi

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"shuffled/internal/config"
)

// burstOfBytes is how many seconds' worth of bytes a stranger may be given at once.
const burstOfBytes = 2

// maxHeader is the size of a request's header in bytes, which net/http rounds up by 4 KiB; a larger one is 431.
const maxHeader = 12 << 10

// maxStreams is how many requests one connection of HTTP/2 may have under way. An answer that the caller's flow control
// holds back, even a short refusal, keeps about 18 KiB until the time to write is over: 0.6 GiB for the share of
// connections that one address has.
const maxStreams = 8

// NewHTTPServer returns a server for the handler under the limits. The caller
// runs it and shuts it down. Messages of net/http go to log as warnings.
func NewHTTPServer(h http.Handler, l config.Limits, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: l.ReadHeaderTimeout.Duration(),
		ReadTimeout:       l.ReadTimeout.Duration(),
		WriteTimeout:      l.WriteTimeout.Duration(),
		IdleTimeout:       l.IdleTimeout.Duration(),
		MaxHeaderBytes:    maxHeader,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: 64 << 10,
			MaxReceiveBufferPerStream: 64 << 10},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// uploadsPerVerification is how many callers may send evidence for each one whose evidence
// is judged, half of them from one address. Evidence is in memory in that time.
const uploadsPerVerification = 16

// How many bodies, and how many files of evidence, of the largest size may be in memory at
// a time. Of smaller ones there may be more.
const (
	roomPerBody     = 32
	roomPerEvidence = 2
)

// maxRemembered is how many keys rates keep.
const maxRemembered = 20_000

// rates holds one token bucket for each key that its cache keeps. A nil rates has no limit.
type rates[K comparable] struct {
	limit   rate.Limit
	burst   int
	buckets *lru.Cache[K, *rate.Limiter]
}

func newRates[K comparable](perSecond float64, burst int) *rates[K] {
	if perSecond <= 0 {
		return nil
	}
	buckets, _ := lru.New[K, *rate.Limiter](maxRemembered) // no error: the size is positive
	return &rates[K]{limit: rate.Limit(perSecond), burst: burst, buckets: buckets}
}

// allow takes one from the key's bucket, if there is one in it.
func (r *rates[K]) allow(key K, now time.Time) bool {
	return r == nil || r.bucket(key).AllowN(now, 1)
}

// after returns in what time the key's bucket holds something; 0 or less: it does now.
func (r *rates[K]) after(key K, now time.Time) time.Duration {
	if r == nil {
		return 0
	}
	// Up to 1 and not to 0, for a bucket with 0 is empty.
	return time.Duration((1 - r.bucket(key).TokensAt(now)) / float64(r.limit) * float64(time.Second))
}

// spend takes n from the key's bucket, even if it holds less: it is then empty until the rate has made up for it.
func (r *rates[K]) spend(key K, n int, now time.Time) {
	if r == nil {
		return
	}
	bucket := r.bucket(key)
	for n > 0 { // no more than the burst can be reserved at a time
		some := min(n, r.burst)
		bucket.ReserveN(now, some)
		n -= some
	}
}

// bucket returns the key's bucket. Two requests with a new key get the same one.
func (r *rates[K]) bucket(key K) *rate.Limiter {
	if bucket, ok := r.buckets.Get(key); ok {
		return bucket
	}
	bucket := rate.NewLimiter(r.limit, r.burst)
	if first, ok, _ := r.buckets.PeekOrAdd(key, bucket); ok {
		return first
	}
	return bucket
}

// remote returns the address that a request is counted under: an IPv4 address
// or an IPv6 network of 64 bits, which one subscriber has all of.
func remote(r *http.Request) netip.Prefix { return prefix(r.RemoteAddr) }

// prefix is remote of an address and port.
func prefix(addrPort string) netip.Prefix {
	port, err := netip.ParseAddrPort(addrPort)
	if err != nil {
		return netip.Prefix{} // all unknown callers together
	}
	addr := port.Addr().Unmap()
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	prefix, _ := addr.WithZone("").Prefix(bits)
	return prefix
}

// Limit returns a listener that accepts as many connections at a time as the limits allow,
// and of one address its share. Connections above that are closed without an answer: a
// client that takes more than its share would not wait for one.
func (s *Server) Limit(l net.Listener) net.Listener {
	return &limited{Listener: l, open: s.connections, refused: s.metrics.connections.Inc}
}

// limited is a listener with a limit. netutil.LimitListener does not do: it knows no
// addresses, so one address could take every connection, and the others would wait.
type limited struct {
	net.Listener
	open    *fairQueue[netip.Prefix]
	refused func()
}

// Accept waits for the next connection within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := prefix(conn.RemoteAddr().String())
		if l.open.try(from, 1) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { l.open.leave(from) })}, nil
		}
		l.refused()
		conn.Close()
	}
}

// counted is a connection that gives its place back when it is closed.
type counted struct {
	net.Conn
	leave func()
}

// Close closes the connection.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// route is an operation of the contract.
type route struct {
	method string
	path   string   // as in the contract
	roles  []string // that may call it; none: all who may read
	scope  string   // x-scope of the contract; "" if the operation is of no ledger
	call   func(*call) error
}

// ofLedger reports whether the path names a ledger.
func (r route) ofLedger() bool { return strings.Contains(r.path, "/{ledger}/") }

// ofShuffle reports whether the path names a shuffle.
func (r route) ofShuffle() bool { return strings.Contains(r.path, "/shuffles/{id}") }

// open reports whether the route is a read of a ledger that asks for no role.
func (r route) open() bool { return r.method == http.MethodGet && len(r.roles) == 0 && r.ofLedger() }

// pattern turns a path of the contract into one of net/http: a tile's path has slashes, and the root is only itself.
func pattern(path string) string {
	if path == "/" {
		return "/{$}"
	}
	return strings.Replace(path, "/{tile}", "/{tile...}", 1)
}

// plainPath reports whether the path has its one spelling: clean and without
// escapes. Any other spelling has no address, whereas net/http would redirect it.
func plainPath(r *http.Request) bool {
	p := r.URL.Path
	return r.URL.RawPath == "" && !strings.Contains(r.URL.EscapedPath(), "%") && p == path.Clean(p) && p[0] == '/'
}

// noRoute is the refusal of an address, or of a method, that mux does not have.
func noRoute(mux *http.ServeMux, r *http.Request) error {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut} {
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

// place is where a request is until its answer is computed.
type place uint8

const (
	noPlace   place = iota // the answer is of no ledger
	workPlace              // one of a ledger; strangers have a share of their own
	readPlace              // and, of all who do not deal, one of readers, who have connections to the store apart
	logPlace               // and one of readers, of all
)

// addressRate is the rate that a request without a credential counts against, of its address.
type addressRate uint8

const (
	noRate     addressRate = iota
	readRate               // a long answer counts as several
	verifyRate             // with a credential, too: no ledger checks it
)

// price is what a request takes. Two things more are alike for all routes: with a credential a request takes one of its
// token's rate, and a stranger in a reader's place the bytes of the answer, of the address and of all strangers.
type price struct {
	place  place
	rate   addressRate
	large  bool     // the body may be as large as evidence, and counts against a quota apart
	routes []string // of the contract
}

// prices are the prices of all routes of the contract: none is served without. Five routes take more by themselves,
// when they know how much: events a stream, a deal one of the places to wait for witnesses, a batch for each operation
// a place and one of the rate, terms the bytes of a new document, of its identity, and verify a place to send evidence
// and one to have it judged.
var prices = []price{
	{noPlace, noRate, false, []string{"GET /", "GET /errors", "GET /openapi.yaml"}},
	{noPlace, verifyRate, true, []string{"POST /v1/verify"}},
	{workPlace, noRate, false, []string{"GET /v1/{ledger}/keys", "GET /v1/{ledger}/decks",
		"GET /log/{ledger}/checkpoint", "POST /v1/{ledger}/shuffles", "POST /v1/{ledger}/shuffles/{id}/mix",
		"POST /v1/{ledger}/shuffles/{id}/deal", "POST /v1/{ledger}/shuffles/{id}/reveal",
		"POST /v1/{ledger}/shuffles/{id}/close", "POST /v1/{ledger}/shuffles/{id}/takeover",
		"POST /v1/{ledger}/shuffles/{id}/statements",
		"POST /v1/{ledger}/batch", "POST /v1/{ledger}/draws", "POST /v1/{ledger}/switches", "POST /v1/{ledger}/tables",
		"POST /v1/{ledger}/credentials", "POST /v1/{ledger}/acts", "PUT /v1/{ledger}/terms"}},
	{readPlace, readRate, false, []string{"GET /v1/{ledger}/shuffles/{id}", "GET /v1/{ledger}/shuffles/{id}/transcript",
		"GET /v1/{ledger}/entries/{index}/receipt", "GET /v1/{ledger}/terms/{hash}", "GET /v1/{ledger}/shuffles",
		"GET /v1/{ledger}/tables", "GET /v1/{ledger}/switches", "GET /v1/{ledger}/credentials", "GET /v1/{ledger}/acts",
		"GET /v1/{ledger}/access", "GET /v1/{ledger}/events"}},
	{logPlace, noRate, false, []string{"GET /log/{ledger}/tile/{tile}", "GET /log/{ledger}/tile/entries/{tile}"}},
}
