package main

import (
	"context"
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/monitor"
	"shuffled/internal/selftest"
	"shuffled/internal/store"
)

// figure is a metric whose value is found out when /metrics is read.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// allFigures are the figures of the daemon. They are appended while the package is initialised, and never after that.
var allFigures []figure

func counter(name, help string, labels ...string) figure {
	return newFigure(prometheus.CounterValue, name, help, labels)
}

func gauge(name, help string, labels ...string) figure {
	return newFigure(prometheus.GaugeValue, name, help, labels)
}

func newFigure(kind prometheus.ValueType, name, help string, labels []string) figure {
	f := figure{prometheus.NewDesc(name, help, labels, nil), kind}
	allFigures = append(allFigures, f)
	return f
}

// show sends the value to the reader.
func (f figure) show(to chan<- prometheus.Metric, v float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(f.desc, f.kind, v, labels...)
}

// asNumber is 1 for true and 0 for false.
func asNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// figures collects what the daemon knows of its host, generator, stores and co-dealers. The API has
// collectors of its own. Safe for concurrent use.
type figures struct {
	machine *machine
	passed  selftest.Passed
	started time.Time             // after the known-answer tests
	house   atomic.Pointer[house] // nil until the generator runs
	seconds prometheus.Histogram  // that the store took for a batch
	entries prometheus.Histogram  // of the same batch
}

func newFigures(m *machine, passed selftest.Passed) *figures {
	return &figures{machine: m, passed: passed, started: time.Now(),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "shuffled_store_append_seconds",
			Help:    "Time that the store took for a batch which became durable at the first attempt.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}),
		entries: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "shuffled_store_batch_entries", Help: "Entries of a batch that became durable at the first attempt.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
	}
}

// appended notes a batch that a store wrote at the first attempt.
func (f *figures) appended(took time.Duration, entries int) {
	f.seconds.Observe(took.Seconds())
	f.entries.Observe(float64(entries))
}

// Describe names the figures.
func (f *figures) Describe(to chan<- *prometheus.Desc) {
	for _, one := range allFigures {
		to <- one.desc
	}
}

// Collect finds out the values, and sends them.
func (f *figures) Collect(to chan<- prometheus.Metric) {
	selfTests.show(to, float64(f.passed.Tests))
	selfTested.show(to, float64(f.started.Unix()))
	f.machine.collect(to)
	h := f.house.Load()
	collectEntropy(to, h)
	if h == nil {
		return
	}
	collectMonitor(to, h.monitor.Totals())
	h.mu.Lock()
	stores := maps.Clone(h.stores)
	h.mu.Unlock()
	for name, s := range stores {
		collectStore(to, name, s)
	}
	for _, l := range h.open() {
		collectCoDealers(to, l)
	}
}

var (
	selfTests  = gauge("shuffled_selftest_tests", "Known-answer tests that passed before this process opened a port.")
	selfTested = gauge("shuffled_selftest_timestamp_seconds", "Time at which the known-answer tests had passed.")

	tapesDrawn   = counter("shuffled_entropy_tapes_total", "Tapes drawn and tested.")
	tapeBytes    = counter("shuffled_entropy_bytes_total", "Bytes of the tapes drawn and tested.")
	tapesFailed  = counter("shuffled_entropy_failures_total", "Failed health tests and reads.")
	tapesStopped = gauge("shuffled_entropy_latched", "1 while this daemon's generator is latched.")
	watched      = counter("shuffled_monitor_outcomes_total",
		"Orders and drawn values that were counted, by shape.", "shape")
	unwatched = counter("shuffled_monitor_unwatched_total",
		"Orders and drawn values of shapes beyond those that are counted.")
	judgedWindows = counter("shuffled_monitor_windows_total",
		"Windows that were judged, by p-value rounded up to p.", "window", "p")
	findings = counter("shuffled_monitor_findings_total",
		"Windows at or below the level of a warning, or of a halt.", "level")
)

// collectEntropy sends the figures of the generator: zeros before there is one.
func collectEntropy(to chan<- prometheus.Metric, h *house) {
	var s entropy.Stats
	latched := false
	if h != nil {
		s = h.entropy.Stats()
		_, latched = h.entropy.Latched()
	}
	tapesDrawn.show(to, float64(s.Tapes))
	tapeBytes.show(to, float64(s.Bytes))
	tapesFailed.show(to, float64(s.Failures))
	tapesStopped.show(to, asNumber(latched))
}

// collectMonitor sends totals only, of all outcomes: which outcome was counted stays in the monitor.
func collectMonitor(to chan<- prometheus.Metric, t monitor.Totals) {
	for _, s := range t.Watched {
		watched.show(to, float64(s.Outcomes), s.Shape)
	}
	unwatched.show(to, float64(t.Unwatched))
	for span, classes := range t.Windows {
		for i, n := range classes {
			judgedWindows.show(to, float64(n), monitor.Span(span).String(),
				strconv.FormatFloat(monitor.Classes[i], 'g', -1, 64))
		}
	}
	findings.show(to, float64(t.Warnings), "warn")
	findings.show(to, float64(t.Halts), "halt")
}

var (
	poolLimit = gauge("shuffled_store_pool_limit",
		"Limit of the connections to the database, by their use.", "pool", "database")
	poolOpen  = gauge("shuffled_store_pool_open", "Open connections to the database.", "pool", "database")
	poolUsed  = gauge("shuffled_store_pool_used", "Connections to the database that are in use.", "pool", "database")
	poolWaits = counter("shuffled_store_pool_waits_total",
		"Times that a caller had to wait for a connection to the database.", "pool", "database")
	poolWait = counter("shuffled_store_pool_wait_seconds_total",
		"Total time of the waits for a connection to the database.", "pool", "database")

	standbysWanted = gauge("shuffled_store_synchronous_replication",
		"1 while the server has names of synchronous standbys.", "database")
	standbysSynced = gauge("shuffled_store_synchronous_standbys",
		"Synchronous standbys that are connected. Absent if the role may not see them (pg_read_all_stats).", "database")
)

// standbyTimeout is how long a reader of metrics waits for the server's answer about standbys.
const standbyTimeout = time.Second

// collectStore sends what one store says of itself. The daemon's own store has the name "", which is no label.
func collectStore(to chan<- prometheus.Metric, name string, opened ledger.Store) {
	if s, ok := opened.(interface{ Pools() []store.Pool }); ok {
		for _, p := range s.Pools() {
			poolLimit.show(to, float64(p.Limit), p.Name, name)
			poolOpen.show(to, float64(p.Open), p.Name, name)
			poolUsed.show(to, float64(p.Used), p.Name, name)
			poolWaits.show(to, float64(p.Waits), p.Name, name)
			poolWait.show(to, p.Wait.Seconds(), p.Name, name)
		}
	}
	s, ok := opened.(interface {
		Standbys(context.Context) (store.Standbys, error)
	})
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), standbyTimeout)
	defer cancel()
	r, err := s.Standbys(ctx)
	if err != nil {
		return
	}
	standbysWanted.show(to, asNumber(r.Wanted), name)
	if r.Known {
		standbysSynced.show(to, float64(r.Synced), name)
	}
}
