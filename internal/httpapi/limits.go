package httpapi

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
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
