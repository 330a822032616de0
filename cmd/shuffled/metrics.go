package main

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/entropy"
)

// generator shows the figures of the generator, from when it is started.
type generator struct {
	source atomic.Pointer[entropy.Source]
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
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "shuffled", Subsystem: "entropy", Name: name, Help: help},
			func() float64 { return float64(read(g.stats())) })
	}
	return []prometheus.Collector{
		counter("tapes_total", "Tapes drawn and tested.", func(s entropy.Stats) uint64 { return s.Tapes }),
		counter("bytes_total", "Bytes of those tapes.", func(s entropy.Stats) uint64 { return s.Bytes }),
		counter("failures_total", "Failed health tests and reads.", func(s entropy.Stats) uint64 { return s.Failures }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "shuffled", Subsystem: "entropy", Name: "latched",
			Help: "1 while this daemon's generator is latched."}, g.latched),
	}
}
