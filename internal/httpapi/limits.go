package httpapi

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Limits bound what callers can make the daemon do. A zero field is the value named here. A rate of zero is no limit.
type Limits struct {
	Body        int64 // bytes of a request body; 1 MiB
	Verify      int64 // bytes of evidence to verify; 32 MiB
	Connections int   // open at a time, from one address half of them; 8,192
	Concurrent  int   // requests that work on ledgers at a time, of one ledger half of them, strangers apart; 2,048
	Waiting     int   // requests that wait for their turn, per ledger, strangers apart; 4,096
	Witnessed   int   // requests that wait for witnesses at a time, of one ledger half of them; 4,096
	Followers   int   // streams of events at a time; 256
	// streams of events of one token at a time; 16
	TokenFollowers int
	Verifying      int // verifications at a time; 4
	// reads of shuffles and the log at a time by callers that do not deal, of one address half of them; 4
	Readers int

	TokenRate    float64 // requests per second and token
	TokenBurst   int     // of these at once; at least 1
	UnknownRate  float64 // credentials that do not hold, or that no entry known here made, per second and address
	UnknownBurst int     // of these at once; at least 1
	ReadRate     float64 // anonymous reads of shuffles and receipts per second and address
	ReadBurst    int     // of these at once; at least 1
	ReadBytes    int64   // bytes of such reads per second and address
	ReadBytesAll int64   // the same of all addresses together
	VerifyRate   float64 // verifications per second and address
	VerifyBurst  int     // of these at once; at least 1

	QueueDeadline time.Duration // from a request's header until its turn has come, else it is refused; as Request
	Request       time.Duration // from a request's header to its answer; 10 s
	Header        time.Duration // to read a request's header; 5 s
	Read          time.Duration // to read a whole request; 30 s
	Write         time.Duration // to answer; 60 s
	Idle          time.Duration // of a kept connection; 120 s
}

func (l *Limits) setDefaults() {
	l.Body = cmp.Or(l.Body, 1<<20)
	l.Verify = cmp.Or(l.Verify, 32<<20)
	l.Connections = cmp.Or(l.Connections, 8192)
	l.Concurrent = cmp.Or(l.Concurrent, 2048)
	l.Waiting = cmp.Or(l.Waiting, 4096)
	l.Witnessed = cmp.Or(l.Witnessed, 4096)
	l.Followers = cmp.Or(l.Followers, 256)
	l.TokenFollowers = cmp.Or(l.TokenFollowers, 16)
	l.Verifying = cmp.Or(l.Verifying, 4)
	l.Readers = cmp.Or(l.Readers, 4)
	l.TokenBurst = cmp.Or(l.TokenBurst, 1)
	l.UnknownBurst = cmp.Or(l.UnknownBurst, 1)
	l.ReadBurst = cmp.Or(l.ReadBurst, 1)
	l.VerifyBurst = cmp.Or(l.VerifyBurst, 1)
	l.Request = cmp.Or(l.Request, 10*time.Second)
	l.QueueDeadline = cmp.Or(l.QueueDeadline, l.Request)
	l.Header = cmp.Or(l.Header, 5*time.Second)
	l.Read = cmp.Or(l.Read, 30*time.Second)
	l.Write = cmp.Or(l.Write, 60*time.Second)
	l.Idle = cmp.Or(l.Idle, 120*time.Second)
}

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
func NewHTTPServer(h http.Handler, l Limits, log *slog.Logger) *http.Server {
	l.setDefaults()
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: l.Header,
		ReadTimeout:       l.Read,
		WriteTimeout:      l.Write,
		IdleTimeout:       l.Idle,
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

// maxRemembered is how many keys an LRU cache of this package keeps.
const maxRemembered = 20_000

// newCache returns a cache of maxRemembered keys.
func newCache[K comparable, V any]() *lru.Cache[K, V] {
	c, err := lru.New[K, V](maxRemembered)
	if err != nil {
		panic(err) // not reached: the size is above 0
	}
	return c
}

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
	return &rates[K]{limit: rate.Limit(perSecond), burst: burst, buckets: newCache[K, *rate.Limiter]()}
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
