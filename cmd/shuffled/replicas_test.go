package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"shuffled/internal/testdb"
)

var (
	replicasAppends = flag.Int64("replicas.appends", 3000, "how many entries several daemons append to one ledger")
	replicasDaemons = flag.Int("replicas.daemons", 0, "how many daemons; 0: 2, then 4")
	replicasPauses  = flag.Int("replicas.pauses", 15, "how often daemons are stopped for a moment")
)

// TestReplicas has several daemons append to one ledger under full load, also for the same tables and keys: no gap, no
// fork, nothing twice, and all of them have their share.
func TestReplicas(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs daemons under load")
	}
	counts := []int{2, 4}
	if *replicasDaemons > 0 {
		counts = []int{*replicasDaemons}
	}
	for _, n := range counts {
		t.Run(fmt.Sprintf("postgres-%d", n), func(t *testing.T) { replicasTest(t, repeat(testdb.DSN(t), n)) })
	}
	t.Run("sqlite-2", func(t *testing.T) {
		replicasTest(t, repeat("sqlite:"+filepath.Join(t.TempDir(), "shuffled.db"), 2))
	})
}

func replicasTest(t *testing.T, databases []string) {
	n := len(databases)
	r := newReplicas(t, databases...)
	c := &crowd{replicas: r, name: "c", clients: slices.Repeat([]int{64 / n}, n), attempts: 3}
	c.run(*replicasAppends)
	c.ok()
	work, lost, landed, most := make([]int, n), 0.0, 0.0, 0.0
	for _, a := range c.journal {
		work[a.daemon]++
	}
	for i, d := range r.daemons {
		lost, landed = lost+d.appends("lost"), landed+d.appends("landed")
		most = max(most, d.figures("shuffled_ledger_most_overtaken")[`shuffled_ledger_most_overtaken{ledger="main"}`])
		if 20*work[i] < len(c.journal) {
			t.Errorf("daemon %d answered %d of %d", i, work[i], len(c.journal))
		}
		d.stop()
	}
	o := r.check(c.journal, true)
	t.Logf("%d daemons: %d entries, %d acknowledged, by each %v, %d requests made again; %.0f batches landed, %.0f were overtaken, no request more than %.0f times",
		n, len(o.leaves), len(c.journal), work, c.again.Load(), landed, lost, most)
}
