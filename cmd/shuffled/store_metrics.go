package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/store"
)

var (
	poolLimit = gauge("shuffled_store_pool_limit",
		"Connections to the database that there may be, by what they are for.", "pool", "database")
	poolOpen  = gauge("shuffled_store_pool_open", "Connections to the database that there are.", "pool", "database")
	poolUsed  = gauge("shuffled_store_pool_used", "Connections to the database that are at work.", "pool", "database")
	poolWaits = counter("shuffled_store_pool_waits_total",
		"How often somebody waited for a connection.", "pool", "database")
	poolWait = counter("shuffled_store_pool_wait_seconds_total",
		"For how long, all together.", "pool", "database")

	standbysWanted = gauge("shuffled_store_synchronous_replication",
		"1 while the server has names of synchronous standbys.", "database")
	standbysSynced = gauge("shuffled_store_synchronous_standbys",
		"Synchronous standbys that are connected. Absent if the role may not see them (pg_read_all_stats).",
		"database")
)

// standbyTimeout is how long a reader of metrics waits for the server's answer about standbys.
const standbyTimeout = time.Second

// collectStore sends what one store says of itself. The daemon's own store has the name "", which is no label.
func collectStore(to chan<- prometheus.Metric, name string, opened store.Database) {
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
