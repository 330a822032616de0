package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are figures for Prometheus. Labels are routes, statuses and names of
// ledgers: nothing that a caller can choose, and nothing secret.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refused  *prometheus.CounterVec

	connections prometheus.Counter // refused
}

// Why requests were turned away before anything was done for them.
const (
	refusedQueue     = "queue"         // too many wait for the ledger
	refusedToken     = "token_rate"    //
	refusedUnknown   = "unknown_token" // too many of them from one address
	refusedAddress   = "address_rate"  //
	refusedWitness   = "witnesses"     // too many wait for them
	refusedBytes     = "bytes"         // an address, or all of them, had more than their share
	refusedReaders   = "readers"       // too many read who do not deal
	refusedFollowers = "followers"     // too many follow events
	refusedRecord    = "access_record" // a regulator's, that could not be recorded
)

func (m *metrics) refuse(l *served, reason string) {
	m.refused.WithLabelValues(l.Log.Info().Name, reason).Inc()
}

func newMetrics(s *Server) (*metrics, error) {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shuffled_http_requests_total",
			Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "shuffled_http_request_seconds",
			Help:    "Time from a request's header to the end of its answer.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}, []string{"route"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "shuffled_http_refused_total",
			Help: "Requests turned away before anything was done for them, by ledger and reason.",
		}, []string{"ledger", "reason"}),
		connections: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "shuffled_http_refused_connections_total",
			Help: "Connections closed because too many were open.",
		}),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "shuffled_build_info",
		Help:        "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": s.cfg.Version, "go": runtime.Version()},
	}, func() float64 { return 1 })
	inFlight := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "shuffled_http_requests_in_flight",
		Help: "Requests being answered.",
	}, func() float64 { return float64(s.inFlight.Load()) })
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "shuffled_http_connections",
		Help: "Open connections to the API.",
	}, func() float64 { return float64(s.connections.inside(s.cfg.Limits.Connections)) })

	all := []prometheus.Collector{
		m.requests, m.seconds, m.refused, m.connections, build, inFlight, open,
		ledgerFigures{&s.ledgers, s.working, s.cfg.Now},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}
	for _, c := range append(all, s.cfg.Collectors...) {
		if err := m.registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	return m, nil
}

// unknownRoute is the label of requests to addresses that there are not.
const unknownRoute = "none"

func (m *metrics) observe(route string, status int, elapsed time.Duration) {
	route = cmp.Or(route, unknownRoute)
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(elapsed.Seconds())
}

// ledgerFigures reads the ledgers when somebody looks.
type ledgerFigures struct {
	ledgers *registry
	working *fairQueue[queueKey]
	now     func() time.Time
}

// ledgerFigure is one figure of a ledger.
type ledgerFigure struct {
	desc *prometheus.Desc
	read func(*served) float64
}

func figure(name, help string, read func(*served) float64) ledgerFigure {
	return ledgerFigure{prometheus.NewDesc("shuffled_ledger_"+name, help, []string{"ledger"}, nil), read}
}

func boolFigure(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var figures = []ledgerFigure{
	figure("entries", "Entries of the ledger.", func(l *served) float64 { return float64(l.Log.Live().Size) }),
	figure("newest_entry_timestamp_seconds", "Time of the newest entry, in seconds since 1970.",
		func(l *served) float64 { return float64(l.Log.Live().Time) / 1000 }),
	figure("open_shuffles", "Shuffles that are not closed.",
		func(l *served) float64 { return float64(l.Log.Live().Open) }),
	figure("entropy_latched", "1 while the entropy latch is set.",
		func(l *served) float64 { return boolFigure(l.Log.Live().Latched) }),
	figure("kill_switches", "Kill switches that are set.",
		func(l *served) float64 { return float64(l.Log.Live().Switches) }),
	figure("queue", "Requests that wait for the sequencer.",
		func(l *served) float64 { return float64(l.Log.QueueLen()) }),
	figure("cosigned_entries", "Entries that a cosigned checkpoint covers; 0 without witnesses.",
		func(l *served) float64 { return float64(l.Log.Live().Cosigned) }),
	figure("followers", "Streams of events and webhooks that follow the ledger.",
		func(l *served) float64 { return float64(l.Events.Followers()) }),
	figure("unread_entries", "Entries that are not read yet for those who follow; 0 if nobody does.",
		func(l *served) float64 { return float64(l.Events.Unread()) }),
	writable,
}

var writable = figure("writable", "1 while entries can be written; 0 too until the start has the ledger open.",
	func(l *served) float64 { return boolFigure(l.Log.Ready() == nil) })

var (
	waitingTurn = prometheus.NewDesc("shuffled_ledger_waiting", "Requests that wait for their turn.",
		[]string{"ledger"}, nil)
	overdue = prometheus.NewDesc("shuffled_ledger_overdue_shuffles", "Open shuffles whose close-by has passed.",
		[]string{"ledger"}, nil)
	oldestOpen = prometheus.NewDesc("shuffled_ledger_oldest_open_seconds",
		"Age of the oldest open shuffle, 0 for none. It and the overdue ones are absent while the ledger does not answer.", []string{"ledger"}, nil)
)

var witnessOK = prometheus.NewDesc("shuffled_witness_ok", "1 while the witness cosigns what it is asked for.",
	[]string{"ledger", "witness"}, nil)

var appendsTotal = prometheus.NewDesc("shuffled_ledger_appends_total",
	"Batches that this daemon tried to append, by outcome; lost: another daemon was first, and they were prepared again.",
	[]string{"ledger", "outcome"}, nil)

var mostOvertaken = prometheus.NewDesc("shuffled_ledger_most_overtaken",
	"How often other daemons were first with one request of this daemon, at most.", []string{"ledger"}, nil)

// collectAppends shows what became of the ledger's batches.
func collectAppends(ch chan<- prometheus.Metric, l *served) {
	a := l.Log.Live().Appends
	for outcome, n := range map[string]uint64{"landed": a.Landed, "lost": a.Lost, "duplicate": a.Duplicate,
		"failed": a.Failed, "unknown": a.Unknown} {
		ch <- prometheus.MustNewConstMetric(appendsTotal, prometheus.CounterValue, float64(n), l.Log.Info().Name,
			outcome)
	}
	ch <- prometheus.MustNewConstMetric(mostOvertaken, prometheus.GaugeValue, float64(a.Most), l.Log.Info().Name)
}

// Describe names the figures.
func (ledgerFigures) Describe(ch chan<- *prometheus.Desc) {
	ch <- witnessOK
	ch <- appendsTotal
	ch <- mostOvertaken
	ch <- waitingTurn
	ch <- overdue
	ch <- oldestOpen
	for _, f := range figures {
		ch <- f.desc
	}
}

// backlogTimeout is how long a reader of metrics waits for what ledgers must be
// asked for, all of them together.
const backlogTimeout = 2 * time.Second

// Collect reads them.
func (f ledgerFigures) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	ledgers, missing, _ := f.ledgers.all()
	for _, name := range missing {
		ch <- prometheus.MustNewConstMetric(writable.desc, prometheus.GaugeValue, 0, name)
	}
	for _, l := range ledgers {
		gauge := func(desc *prometheus.Desc, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v,
				append([]string{l.Log.Info().Name}, labels...)...)
		}
		for _, f := range figures {
			gauge(f.desc, f.read(l))
		}
		collectAppends(ch, l)
		gauge(waitingTurn, float64(f.working.waiting(queueKey{l.id, false})+f.working.waiting(queueKey{l.id, true})))
		for _, w := range l.Log.Witnesses() {
			gauge(witnessOK, boolFigure(w.Err == nil), w.Name)
		}
		now := f.now().UnixMilli()
		b, err := l.Log.Backlog(ctx, now)
		if err != nil {
			continue
		}
		gauge(overdue, float64(b.Overdue))
		age := 0.0
		if b.Oldest != 0 {
			age = max(0, float64(now-b.Oldest)/1000)
		}
		gauge(oldestOpen, age)
	}
}
