package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"shuffled/internal/testdb"
)

var (
	replicasMeasure = flag.Duration("replicas.measure", 0,
		"measure several daemons on one ledger, each case for so long")
	replicasCounts = flag.String("replicas.counts", "1,2,4,8", "of how many daemons")
	replicasUneven = flag.Bool("replicas.uneven", false, "give the first daemon nine tenths of the connections")
	replicasConns  = flag.Int("replicas.connections", 256, "connections of all daemons together")
)

// TestReplicasMeasure prints what several daemons on one ledger do under full
// load. It asserts nothing.
func TestReplicasMeasure(t *testing.T) {
	if *replicasMeasure == 0 {
		t.Skip("measures only with -replicas.measure 5s")
	}
	for _, count := range strings.Split(*replicasCounts, ",") {
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(count, func(t *testing.T) { measureReplicas(t, n) })
	}
}

func measureReplicas(t *testing.T, n int) {
	cluster := testdb.Start(t, testdb.Setting("shared_buffers", "128MB"))
	r := newReplicas(t, repeat(cluster.Database(t), n)...)
	clients := shares(n, *replicasConns, *replicasUneven)
	warm := &crowd{replicas: r, name: "warm", clients: clients, attempts: 1, commits: true}
	time.AfterFunc(time.Second, func() { warm.stop.Store(true) })
	warm.run(0)
	warm.ok()
	before, daemons, server := r.counts(), r.cpu(), serverCPU(t, cluster)
	l := &crowd{replicas: r, name: "load", clients: clients, attempts: 1, commits: true}
	start := time.Now()
	time.AfterFunc(*replicasMeasure, func() { l.stop.Store(true) })
	l.run(0)
	l.ok()
	elapsed := time.Since(start)
	after := r.counts()
	commits := float64(l.entries.Load())
	var landed, lost float64
	least, most := 1.0, 0.0
	work := make([]float64, n)
	for _, a := range l.journal {
		work[a.daemon]++
	}
	for i := range n {
		landed += after[i].landed - before[i].landed
		lost += after[i].lost - before[i].lost
		least, most = min(least, work[i]/commits), max(most, work[i]/commits)
	}
	t.Logf("%d daemons: %6.0f commits/s, %5.1f commits a batch, %6.0f batches/s, %4.1f %% lost, work %4.1f … %4.1f %%, CPU per commit: daemons %3.0f µs, server %3.0f µs",
		n, commits/elapsed.Seconds(), commits/landed, landed/elapsed.Seconds(), 100*lost/(landed+lost), 100*least,
		100*most,
		1e6*(r.cpu()-daemons)/commits, 1e6*(serverCPU(t, cluster)-server)/commits)
}

// shares spreads connections over daemons.
func shares(n, all int, uneven bool) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = all / n
		if uneven && n > 1 {
			list[i] = max(1, all/10/(n-1))
		}
	}
	if uneven && n > 1 {
		list[0] = all - (n-1)*list[1]
	}
	return list
}

// count is what became of the batches of one daemon.
type count struct{ landed, lost float64 }

func (r *replicas) counts() []count {
	list := make([]count, len(r.daemons))
	for i, d := range r.daemons {
		list[i] = count{d.appends("landed"), d.appends("lost")}
	}
	return list
}

// cpu returns the processor time of all daemons, in seconds.
func (r *replicas) cpu() (s float64) {
	for _, d := range r.daemons {
		s += processCPU(d.cmd.Process.Pid)
	}
	return s
}

// serverCPU returns the processor time of the cluster's processes, in seconds.
func serverCPU(t *testing.T, c *testdb.Cluster) (s float64) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.DataDir(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	main, _, _ := bytes.Cut(b, []byte("\n"))
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if f := statFields(path); len(f) > 1 && f[1] == string(main) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			s += processCPU(pid)
		}
	}
	return s
}

// processCPU reads user and system time, in ticks of 10 ms (proc(5)).
func processCPU(pid int) float64 {
	f := statFields(fmt.Sprintf("/proc/%d/stat", pid))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

// statFields returns the fields of a stat file from the third on.
func statFields(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
}
