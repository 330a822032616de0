package main

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/entropy"
	"shuffled/internal/monitor"
)

// generator shows the figures of the generator and of what came out of it, from
// when it is started.
type generator struct {
	source  atomic.Pointer[entropy.Source]
	monitor atomic.Pointer[monitor.Monitor]
}

func (g *generator) stats() (s entropy.Stats) {
	if source := g.source.Load(); source != nil {
		s = source.Stats()
	}
	return s
}

func (g *generator) latched() float64 {
	if source := g.source.Load(); source != nil {
		if _, ok := source.Latched(); ok {
			return 1
		}
	}
	return 0
}

func (g *generator) collectors() []prometheus.Collector {
	counter := func(name, help string, read func(entropy.Stats) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "shuffled", Subsystem: "entropy", Name: name,
			Help: help},
			func() float64 { return float64(read(g.stats())) })
	}
	return []prometheus.Collector{
		counter("tapes_total", "Tapes drawn and tested.", func(s entropy.Stats) uint64 { return s.Tapes }),
		counter("bytes_total", "Bytes of those tapes.", func(s entropy.Stats) uint64 { return s.Bytes }),
		counter("failures_total", "Failed health tests and reads.", func(s entropy.Stats) uint64 { return s.Failures }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "shuffled", Subsystem: "entropy", Name: "latched",
			Help: "1 while this daemon's generator is latched."}, g.latched),
		windowFigures{g},
	}
}

// windowFigures collects the totals of the monitor: how much was counted, and how many
// windows were judged, by p-value in classes. What was counted stays in it.
type windowFigures struct{ g *generator }

var (
	outcomesWatched = prometheus.NewDesc("shuffled_monitor_outcomes_total",
		"Orders and drawn values that were counted, by shape.", []string{"shape"}, nil)
	outcomesUnwatched = prometheus.NewDesc("shuffled_monitor_unwatched_total",
		"Orders and drawn values of shapes beyond those that are counted.", nil, nil)
	outcomesWindows = prometheus.NewDesc("shuffled_monitor_windows_total",
		"Windows that were judged, by p-value rounded up to p.", []string{"window", "p"}, nil)
	outcomesFindings = prometheus.NewDesc("shuffled_monitor_findings_total",
		"Windows at or below the level of a warning, or of a halt.", []string{"level"}, nil)
)

// Describe tells the names.
func (w windowFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{outcomesWatched, outcomesUnwatched, outcomesWindows, outcomesFindings} {
		to <- d
	}
}

// Collect tells the figures.
func (w windowFigures) Collect(to chan<- prometheus.Metric) {
	m := w.g.monitor.Load()
	if m == nil {
		return
	}
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	t := m.Totals()
	for _, s := range t.Watched {
		counter(outcomesWatched, s.Outcomes, s.Shape)
	}
	counter(outcomesUnwatched, t.Unwatched)
	for span, classes := range t.Windows {
		for i, n := range classes {
			counter(outcomesWindows, n, monitor.Span(span).String(),
				strconv.FormatFloat(monitor.Classes[i], 'g', -1, 64))
		}
	}
	counter(outcomesFindings, t.Warnings, "warn")
	counter(outcomesFindings, t.Halts, "halt")
}
