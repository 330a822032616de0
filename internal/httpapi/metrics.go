package httpapi

import (
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
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "shuffled_build_info",
		Help:        "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": s.cfg.Version, "go": runtime.Version()},
	}, func() float64 { return 1 })
	inFlight := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "shuffled_http_requests_in_flight",
		Help: "Requests being answered.",
	}, func() float64 { return float64(len(s.requests)) })

	all := []prometheus.Collector{
		m.requests, m.seconds, build, inFlight, ledgerFigures{&s.ledgers},
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
	if route == "" {
		route = unknownRoute
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(elapsed.Seconds())
}

// ledgerFigures reads the ledgers when somebody looks.
type ledgerFigures struct{ ledgers *registry }

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
	figure("open_shuffles", "Shuffles that are not closed.", func(l *served) float64 { return float64(l.Log.Live().Open) }),
	figure("entropy_latched", "1 while the entropy latch is set.", func(l *served) float64 { return boolFigure(l.Log.Live().Latched) }),
	figure("queue", "Requests that wait for the sequencer.", func(l *served) float64 { return float64(l.Log.QueueLen()) }),
	figure("cosigned_entries", "Entries that a cosigned checkpoint covers; 0 without witnesses.",
		func(l *served) float64 { return float64(l.Log.Live().Cosigned) }),
	figure("writable", "1 while entries can be written.", func(l *served) float64 { return boolFigure(l.Log.Ready() == nil) }),
}

var witnessOK = prometheus.NewDesc("shuffled_witness_ok", "1 while the witness cosigns what it is asked for.",
	[]string{"ledger", "witness"}, nil)

// Describe names the figures.
func (ledgerFigures) Describe(ch chan<- *prometheus.Desc) {
	ch <- witnessOK
	for _, f := range figures {
		ch <- f.desc
	}
}

// Collect reads them.
func (f ledgerFigures) Collect(ch chan<- prometheus.Metric) {
	ledgers, _ := f.ledgers.all()
	for _, l := range ledgers {
		for _, f := range figures {
			ch <- prometheus.MustNewConstMetric(f.desc, prometheus.GaugeValue, f.read(l), l.Log.Info().Name)
		}
		for _, w := range l.Log.Witnesses() {
			ch <- prometheus.MustNewConstMetric(witnessOK, prometheus.GaugeValue, boolFigure(w.Err == nil), l.Log.Info().Name, w.Name)
		}
	}
}
