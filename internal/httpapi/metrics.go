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
	"github.com/prometheus/client_golang/prometheus/promauto"

	"shuffled/internal/ledger"
)

// metrics are figures for Prometheus. Labels are routes, statuses, reasons and names of
// ledgers and witnesses: nothing that a caller can choose, and nothing secret.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refused  *prometheus.CounterVec

	connections prometheus.Counter // refused
}

// Why a request was refused before anything was done for it.
const (
	refusedQueue     = "queue"         // too many wait for the ledger
	refusedToken     = "token_rate"    //
	refusedUnknown   = "unknown_token" // too many of them from one address
	refusedAddress   = "address_rate"  //
	refusedWitness   = "witnesses"     // too many wait for them
	refusedBytes     = "bytes"         // an address, or all of them, had more than their share
	refusedReaders   = "readers"       // too many read who do not deal
	refusedTerms     = "terms_bytes"   // an identity stored too many documents
	refusedFollowers = "followers"     // too many follow events
	refusedRecord    = "access_record" // a regulator's or an administrator's, that could not be recorded
)

// begin has the refusals of a ledger counted from 0: nobody sees a rise to the first value of a series.
func (m *metrics) begin(ledger string) {
	for _, reason := range []string{refusedQueue, refusedToken, refusedUnknown, refusedAddress, refusedWitness,
		refusedBytes, refusedReaders, refusedTerms, refusedFollowers, refusedRecord} {
		m.refused.WithLabelValues(ledger, reason)
	}
}

func (m *metrics) refuse(l *served, reason string) {
	m.refused.WithLabelValues(l.Log.Info().Name, reason).Inc()
}

func newMetrics(s *Server) (*metrics, error) {
	registry := prometheus.NewRegistry()
	of := promauto.With(registry)
	of.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "shuffled_build_info",
		Help:        "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": s.cfg.Version, "go": runtime.Version()},
	}, func() float64 { return 1 })
	of.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "shuffled_http_requests_in_flight",
		Help: "Requests being answered.",
	}, func() float64 { return float64(s.inFlight.Load()) })
	of.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "shuffled_http_connections",
		Help: "Open connections to the API.",
	}, func() float64 { return float64(s.connections.inside(s.cfg.Limits.Connections)) })
	for _, c := range append([]prometheus.Collector{ledgerFigures{&s.ledgers, s.working, s.cfg.Now},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})},
		s.cfg.Collectors...) {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	return &metrics{
		registry: registry,
		requests: of.NewCounterVec(prometheus.CounterOpts{
			Name: "shuffled_http_requests_total",
			Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: of.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "shuffled_http_request_seconds",
			Help:    "Time from a request's header to the end of its answer.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}, []string{"route"}),
		refused: of.NewCounterVec(prometheus.CounterOpts{
			Name: "shuffled_http_refused_total",
			Help: "Requests turned away before anything was done for them, by ledger and reason.",
		}, []string{"ledger", "reason"}),
		connections: of.NewCounter(prometheus.CounterOpts{
			Name: "shuffled_http_refused_connections_total",
			Help: "Connections closed because too many were open.",
		}),
	}, nil
}

func (m *metrics) observe(route string, status int, elapsed time.Duration) {
	route = cmp.Or(route, "none") // of an unknown address
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(elapsed.Seconds())
}

// ledgerFigures reads the ledgers when the metrics are read.
type ledgerFigures struct {
	ledgers *registry
	working *fairQueue[queueKey]
	now     func() time.Time
}

// ledgerView is a ledger when its figures are read.
type ledgerView struct {
	*served
	live    ledger.Live
	waiting int             // requests that wait for their turn
	now     int64           // UTC milliseconds
	backlog *ledger.Backlog // nil while the ledger does not answer
}

// ledgerFigure is a figure of each ledger.
type ledgerFigure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(ledgerView, addValue)
}

// addValue adds a value of a figure, with its labels after the ledger's name.
type addValue func(value float64, labels ...string)

func figure(name, help string, kind prometheus.ValueType, labels []string,
	read func(ledgerView, addValue)) ledgerFigure {
	return ledgerFigure{prometheus.NewDesc(name, help, append([]string{"ledger"}, labels...), nil), kind, read}
}

// gauge is a figure with one value.
func gauge[N int | int64 | uint64 | float64](name, help string, read func(ledgerView) N) ledgerFigure {
	return figure(name, help, prometheus.GaugeValue, nil, func(v ledgerView, add addValue) { add(float64(read(v))) })
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var writable = gauge("shuffled_ledger_writable",
	"1 while entries can be written; 0 too until the start has the ledger open.",
	func(v ledgerView) float64 { return oneIf(v.Log.Ready() == nil) })

var figures = []ledgerFigure{
	writable,
	gauge("shuffled_ledger_entries", "Entries of the ledger.", func(v ledgerView) uint64 { return v.live.Size }),
	gauge("shuffled_ledger_newest_entry_timestamp_seconds", "Time of the newest entry, in seconds since 1970.",
		func(v ledgerView) float64 { return float64(v.live.Time) / 1000 }),
	gauge("shuffled_ledger_open_shuffles", "Shuffles that are not closed.",
		func(v ledgerView) int { return v.live.Open }),
	gauge("shuffled_ledger_entropy_latched", "1 while the entropy latch is set.",
		func(v ledgerView) float64 { return oneIf(v.live.Latched) }),
	gauge("shuffled_ledger_kill_switches", "Kill switches that are set.",
		func(v ledgerView) int { return v.live.Switches }),
	gauge("shuffled_ledger_queue", "Requests that wait for the sequencer.",
		func(v ledgerView) int { return v.Log.QueueLen() }),
	gauge("shuffled_ledger_waiting", "Requests that wait for their turn.", func(v ledgerView) int { return v.waiting }),
	gauge("shuffled_ledger_cosigned_entries", "Entries that a cosigned checkpoint covers; 0 without witnesses.",
		func(v ledgerView) uint64 { return v.live.Cosigned }),
	gauge("shuffled_ledger_followers", "Streams of events that follow the ledger.",
		func(v ledgerView) int { return v.Events.Followers() }),
	gauge("shuffled_ledger_unread_entries", "Entries that are not read yet for the followers of the ledger; 0 without followers.",
		func(v ledgerView) uint64 { return v.Events.Unread() }),
	gauge("shuffled_ledger_most_overtaken",
		"The most times that other daemons were first with one request of this daemon.",
		func(v ledgerView) float64 { return float64(v.live.Appends.Most) }),
	figure("shuffled_ledger_appends_total", "Batches that this daemon tried to append, by outcome; "+
		"lost: another daemon was first, and the batch was prepared again.", prometheus.CounterValue, []string{"outcome"},
		func(v ledgerView, add addValue) {
			a := v.live.Appends
			for outcome, n := range map[string]uint64{"landed": a.Landed, "lost": a.Lost, "duplicate": a.Duplicate,
				"failed": a.Failed, "unknown": a.Unknown} {
				add(float64(n), outcome)
			}
		}),
	figure("shuffled_witness_ok", "1 while the witness cosigns the checkpoints that it is asked for.", prometheus.GaugeValue,
		[]string{"witness"}, func(v ledgerView, add addValue) {
			for _, w := range v.Log.Witnesses() {
				add(oneIf(w.Err == nil), w.Name)
			}
		}),
	figure("shuffled_ledger_overdue_shuffles", "Open shuffles whose close-by has passed.", prometheus.GaugeValue, nil,
		func(v ledgerView, add addValue) {
			if v.backlog != nil {
				add(float64(v.backlog.Overdue))
			}
		}),
	figure("shuffled_ledger_oldest_open_seconds", "Age of the oldest open shuffle, 0 for none. "+
		"This age and the number of overdue shuffles are absent while the ledger does not answer.", prometheus.GaugeValue, nil,
		func(v ledgerView, add addValue) {
			if b := v.backlog; b != nil && b.Oldest == 0 {
				add(0)
			} else if b != nil {
				add(max(0, float64(v.now-b.Oldest)/1000))
			}
		}),
}

// Describe names the figures.
func (ledgerFigures) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range figures {
		ch <- f.desc
	}
}

// backlogTimeout is how long the backlogs of all ledgers together may take.
const backlogTimeout = 2 * time.Second

// Collect reads the figures.
func (f ledgerFigures) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	ledgers, missing, _ := f.ledgers.all()
	for _, name := range missing {
		ch <- prometheus.MustNewConstMetric(writable.desc, prometheus.GaugeValue, 0, name)
	}
	for _, l := range ledgers {
		v := ledgerView{served: l, live: l.Log.Live(), now: f.now().UnixMilli(),
			waiting: f.working.waiting(queueKey{l.id, false}) + f.working.waiting(queueKey{l.id, true})}
		if b, err := l.Log.Backlog(ctx, v.now); err == nil {
			v.backlog = &b
		}
		for _, f := range figures {
			f.read(v, func(value float64, labels ...string) {
				labels = append([]string{l.Log.Info().Name}, labels...)
				ch <- prometheus.MustNewConstMetric(f.desc, f.kind, value, labels...)
			})
		}
	}
}
