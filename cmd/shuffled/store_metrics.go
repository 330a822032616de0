package main

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/store"
)

// storeFigures collects what the store says of itself, and how long it took for batches.
type storeFigures struct {
	house   atomic.Pointer[house] // its stores, from when each is open
	seconds prometheus.Histogram
	entries prometheus.Histogram
}

func newStoreFigures() *storeFigures {
	return &storeFigures{
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "shuffled_store_append_seconds",
			Help:    "Time that the store took for a batch which became durable at the first attempt.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}),
		entries: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "shuffled_store_batch_entries", Help: "Entries of such a batch.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
	}
}

// appended notes a batch.
func (f *storeFigures) appended(took time.Duration, entries int) {
	f.seconds.Observe(took.Seconds())
	f.entries.Observe(float64(entries))
}

func poolFigure(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"pool", "database"}, nil)
}

var (
	poolLimit = poolFigure("shuffled_store_pool_limit", "Connections to the database that there may be, by what they are for.")
	poolOpen  = poolFigure("shuffled_store_pool_open", "Connections to the database that there are.")
	poolUsed  = poolFigure("shuffled_store_pool_used", "Connections to the database that are at work.")
	poolWaits = poolFigure("shuffled_store_pool_waits_total", "How often somebody waited for a connection.")
	poolWait  = poolFigure("shuffled_store_pool_wait_seconds_total", "For how long, all together.")

	standbysWanted = prometheus.NewDesc("shuffled_store_synchronous_replication",
		"1 while the server has names of synchronous standbys.", []string{"database"}, nil)
	standbysSynced = prometheus.NewDesc("shuffled_store_synchronous_standbys",
		"Synchronous standbys that are connected. Absent if the role may not see them (pg_read_all_stats).",
		[]string{"database"}, nil)
)

// standbyTimeout is how long a reader of metrics waits for the server's word on standbys.
const standbyTimeout = time.Second

// Describe names the figures.
func (f *storeFigures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{poolLimit, poolOpen, poolUsed, poolWaits, poolWait, standbysWanted,
		standbysSynced} {
		to <- d
	}
	f.seconds.Describe(to)
	f.entries.Describe(to)
}

// Collect tells them.
func (f *storeFigures) Collect(to chan<- prometheus.Metric) {
	f.seconds.Collect(to)
	f.entries.Collect(to)
	h := f.house.Load()
	if h == nil {
		return
	}
	h.mu.Lock()
	stores := maps.Clone(h.stores)
	h.mu.Unlock()
	for name, s := range stores {
		collectStore(to, name, s)
	}
}

// collectStore tells what one store says of itself. The daemon's own has the name "", which is no label.
func collectStore(to chan<- prometheus.Metric, name string, opened store.Database) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append(labels, name)...)
	}
	if s, ok := opened.(interface{ Pools() []store.Pool }); ok {
		for _, p := range s.Pools() {
			gauge(poolLimit, float64(p.Limit), p.Name)
			gauge(poolOpen, float64(p.Open), p.Name)
			gauge(poolUsed, float64(p.Used), p.Name)
			to <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(p.Waits), p.Name, name)
			to <- prometheus.MustNewConstMetric(poolWait, prometheus.CounterValue, p.Wait.Seconds(), p.Name, name)
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
	wanted := 0.0
	if r.Wanted {
		wanted = 1
	}
	gauge(standbysWanted, wanted)
	if r.Known {
		gauge(standbysSynced, float64(r.Synced))
	}
}
