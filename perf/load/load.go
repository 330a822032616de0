package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// Config says what to load, how, and for how long.
type Config struct {
	// URL is the daemon's address, http or https.
	URL string
	// TLS is for https; nil is the system's authorities.
	TLS *tls.Config
	// Ledger is the ledger's name in addresses, Token a dealer's.
	Ledger, Token string
	// Keys are the ledger's keys, under which answers are verified.
	Keys []note.Verifier

	// Connections is the number of connections, each with its own table, and therefore the number of
	// concurrent requests.
	Connections int
	// Rate is the number of requests, or hands, that are due per second in all; 0: as many as are answered.
	Rate float64
	// Warmup comes before Duration and is not measured.
	Warmup, Duration time.Duration
	Mix              Mix
	// Batch is the number of commits, or whole hands, of one request: above 1 they are the operations of a batch.
	Batch int
	// Deck is a published one of at least 20 cards.
	Deck string
	// Tables is the beginning of the names of the tables, which must be new.
	Tables string
	// Spread is the number of tables that each connection uses in turn, a commit at each: 1, also if it is
	// 0, or more if the mix has only commits.
	Spread int
	// Keep is the largest number of bytes of answers that are kept for verification; one commit of each
	// connection, with its deals, is always kept. If not all fit, whole commits are left out evenly.
	Keep int64
	// Timeout bounds each request.
	Timeout time.Duration

	// Progress is called each second, from one goroutine; it may be nil.
	Progress func(Progress)
	// Verifying is called while answers are verified, from one goroutine; it may be nil.
	Verifying func(done, total int)

	until func(context.Context, time.Time) bool       // nil: wait
	dial  func(ctx context.Context) (net.Conn, error) // nil: to URL
}

// Bounds of a Config.
const (
	MaxConnections = 10_000
	MaxBatch       = 128
	MaxRate        = 1_000_000
)

// A FieldError names the wrong member of a Config.
type FieldError struct{ Field, Rule string }

func (e *FieldError) Error() string { return e.Field + " " + e.Rule }

// Check returns a *FieldError about the first wrong member. It does not check the Keys, which may be set later.
func (c *Config) Check() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil:
		return &FieldError{"url", "must be an http or https address without query or fragment"}
	case c.Connections < 1 || c.Connections > MaxConnections:
		return &FieldError{"connections", fmt.Sprintf("must be from 1 to %d", MaxConnections)}
	case !(c.Rate >= 0 && c.Rate <= MaxRate):
		return &FieldError{"rate", fmt.Sprintf("must be from 0 (as fast as answers come) to %d per second", MaxRate)}
	case c.Duration < time.Second || c.Duration > 24*time.Hour:
		return &FieldError{"duration", "must be from 1s to 24h"}
	case c.Warmup < 0 || c.Warmup > time.Hour:
		return &FieldError{"warm-up", "must be from 0s to 1h"}
	case c.Batch < 1 || c.Batch > MaxBatch:
		return &FieldError{"batch", fmt.Sprintf("must be from 1 to %d", MaxBatch)}
	case c.Batch > 1 && !c.onlyCommits() && c.Mix != Mix{Hand: c.Mix[Hand]}:
		return &FieldError{"batch", "can be above 1 only with a mix of commits or a mix of hands"}
	case c.Mix == Mix{}:
		return &FieldError{"mix", "must have at least one kind"}
	case c.Spread < 0 || c.Spread > 1 && !c.onlyCommits():
		return &FieldError{"spread", "must be 0 or more, and can be above 1 only with a mix of commits"}
	case c.Keep < 1:
		return &FieldError{"keep", "must be above 0"}
	case c.Timeout <= 0:
		return &FieldError{"timeout", "must be above 0s"}
	}
	if err := audit.CheckName(c.Ledger); err != nil {
		return &FieldError{"ledger", err.Error()}
	}
	if err := audit.CheckName(c.table(c.Connections, c.Spread)); err != nil {
		return &FieldError{"tables", err.Error()}
	}
	if err := audit.CheckName(c.Deck); err != nil {
		return &FieldError{"deck", err.Error()}
	}
	return nil
}

// table is the name of a worker's table in some turn.
func (c *Config) table(worker, turn int) string {
	if c.Spread > 1 {
		return fmt.Sprintf("%s-%d.%d", c.Tables, worker, turn%c.Spread)
	}
	return fmt.Sprintf("%s-%d", c.Tables, worker)
}

func (c *Config) onlyCommits() bool { return c.Mix == (Mix{Commit: c.Mix[Commit]}) }

// Progress is what happened within a second of a run.
type Progress struct {
	At       time.Duration // since the load began, warm-up included
	Warming  bool
	Rate     float64       // acknowledged requests per second
	P50, P99 time.Duration // of all requests that were answered in this second
	Refused  uint64        // so far
	Errors   uint64        // so far
}

// run is a running load.
type run struct {
	cfg               Config
	began, start, end time.Time // start to end is measured
	workers           []*worker
	due               chan time.Time // with a rate: when a request is due, from pace to the workers

	figures
}

// figures are shared by the workers, which only add.
type figures struct {
	latency      [kinds]histogram // of what was due within the measured time
	any          histogram        // of all requests, for Progress
	late         histogram        // how long after it was due a measured request was sent
	within       atomic.Uint64    // requests acknowledged within the measured time
	shuffles     atomic.Uint64    // commits among them, counted in shuffles
	requests     atomic.Uint64    // sent, repeated ones too
	acknowledged atomic.Uint64    // answers of 200, warm-up included
	unsent       atomic.Uint64    // were due, and no connection was free before the end
	givenUp      atomic.Uint64    // without a final answer
	errors       atomic.Uint64    // of connections
	refusals     atomic.Uint64

	mu         sync.Mutex
	codes      map[string]uint64 // refusals by code
	firstError string
}

func (f *figures) failed(err error) {
	f.errors.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.firstError == "" {
		f.firstError = audit.Printable(err.Error())
	}
}

func (f *figures) refused(code string) {
	f.refusals.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.codes[code]++
}

// Run loads the daemon until the time is over or ctx ends, waits for the missing answers, and verifies. It
// returns a *FieldError about the configuration, a *Refusal that every other request would get too, or the
// measurements, including faults, and whether they are usable.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if len(cfg.Keys) == 0 {
		return nil, &FieldError{"key", "must be given, because acknowledged answers are verified under it"}
	}
	if cfg.until == nil {
		cfg.until = wait
	}
	r, err := newRun(cfg)
	if err != nil {
		return nil, err
	}
	cpu := cpuTime()
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	cpu = cpuTime() - cpu
	report := r.report(cpu)
	r.verify(report)
	return report, nil
}

func newRun(cfg Config) (*run, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	address, secure := u.Host, (*tls.Config)(nil)
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	if u.Scheme == "https" {
		secure = &tls.Config{MinVersion: tls.VersionTLS12}
		if cfg.TLS != nil {
			secure = cfg.TLS.Clone()
		}
		secure.ServerName, secure.NextProtos = u.Hostname(), []string{"http/1.1"}
	}
	if cfg.dial == nil {
		cfg.dial = (&dialer{net.Dialer{Timeout: cfg.Timeout}, address}).dial
	}
	now := time.Now()
	r := &run{cfg: cfg, began: now, start: now.Add(cfg.Warmup), end: now.Add(cfg.Warmup + cfg.Duration)}
	r.codes = make(map[string]uint64)
	common := " HTTP/1.1\r\nHost: " + u.Host + "\r\nContent-Type: "
	if cfg.Token != "" {
		common = " HTTP/1.1\r\nHost: " + u.Host + "\r\nAuthorization: Bearer " + cfg.Token + "\r\nContent-Type: "
	}
	for i := range cfg.Connections {
		w := &worker{
			run: r, wire: wire{dial: r.cfg.dial, tls: secure, timeout: cfg.Timeout},
			prefix: strings.TrimRight(u.Path, "/"), common: common,
			number: i + 1, table: cfg.table(i+1, 0), round: round{mix: cfg.Mix},
			kept: kept{budget: max(cfg.Keep/int64(cfg.Connections), 1), judge: cfg.Mix[Verify] > 0},
		}
		for range i { // so that not all begin with the same kind
			w.round.next()
		}
		r.workers = append(r.workers, w)
	}
	return r, nil
}

// load runs the workers until the end, or until asked ends. With a rate pace tells them when to send.
func (r *run) load(asked context.Context) error {
	ctx, stop := context.WithCancelCause(asked)
	defer stop(nil)
	var helpers sync.WaitGroup
	over := make(chan struct{})
	if r.cfg.Rate > 0 {
		r.due = make(chan time.Time)
		helpers.Go(func() { r.pace(ctx) })
	}
	if r.cfg.Progress != nil {
		helpers.Go(func() { r.watch(over) })
	}
	var workers sync.WaitGroup
	for _, w := range r.workers {
		workers.Go(func() {
			if err := w.work(ctx); err != nil {
				stop(err)
			}
			w.close()
		})
	}
	workers.Wait()
	close(over)
	stop(nil)
	helpers.Wait()
	var fatal *Refusal
	if errors.As(context.Cause(ctx), &fatal) {
		return fatal
	}
	if now := time.Now(); asked.Err() != nil && now.Before(r.end) {
		r.end = now
	}
	return nil
}

// pace says when requests are due: evenly, from the beginning to the end. If a worker takes one late, it
// sends it late, and the latency includes the delay.
func (r *run) pace(ctx context.Context) {
	defer close(r.due)
	for n := uint64(0); ; n++ {
		at := r.began.Add(time.Duration(float64(n) / r.cfg.Rate * float64(time.Second)))
		if !at.Before(r.end) || !r.cfg.until(ctx, at) {
			return
		}
		select {
		case r.due <- at:
		case <-ctx.Done():
			return
		}
		if !time.Now().Before(r.end) { // what is still due was never sent
			total := math.Ceil((r.cfg.Warmup + r.cfg.Duration).Seconds() * r.cfg.Rate)
			r.unsent.Add(uint64(max(0, total-float64(n)-1)))
			return
		}
	}
}

// watch calls Progress each second until over is closed.
func (r *run) watch(over <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	began, before, last := r.began, new(counts), time.Now()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		now, all := time.Now(), new(counts)
		all.read(&r.any)
		second := all.since(before)
		r.cfg.Progress(Progress{
			At: now.Sub(began), Warming: now.Before(r.start), Rate: float64(second.n) / now.Sub(last).Seconds(),
			P50: second.quantile(0.5), P99: second.quantile(0.99), Refused: r.refusals.Load(), Errors: r.errors.Load(),
		})
		before, last = all, now
	}
}
