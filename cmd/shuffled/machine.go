package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/cli/serving"
	"shuffled/internal/config"
	"shuffled/internal/httpapi"
	"shuffled/internal/ledger"
	"shuffled/internal/process"
)

// machine watches what a daemon needs of its host: certificates, descriptors, memory, disk and clock. It has
// figures of them, and readiness shows what needs attention.
type machine struct {
	*serving.Certificates
	cfg    *config.Config
	memory uint64 // bytes that this process may take; 0 if unknown
	log    *slog.Logger
	seen   atomic.Pointer[sight]
}

// sight is the result of one look. What could not be found out is absent.
type sight struct {
	figures map[figure]float64
	health  httpapi.Health
}

var (
	filesOpen   = gauge("shuffled_host_open_files", "Files and connections that this process has open.")
	filesLimit  = gauge("shuffled_host_open_files_limit", "Files and connections that this process may have open.")
	memoryUsed  = gauge("shuffled_host_memory_bytes", "Memory of the machine that this process has.")
	memoryLimit = gauge("shuffled_host_memory_limit_bytes", "Memory that the cgroup allows, or that the machine has.")
	diskFree    = gauge("shuffled_host_data_free_bytes", "Bytes that may be written below the data directory.")
	clockKept   = gauge("shuffled_host_clock_synchronised",
		"1 while the kernel knows that a time service keeps the clock.")

	tlsEnds = gauge("shuffled_tls_not_after_timestamp_seconds",
		"Earliest end of a certificate of the listener's chain, or of the authorities of clients.", "of")
	tlsRefused = counter("shuffled_tls_refused_total",
		"How often the TLS files that were read were not valid, so that the earlier files stayed in use.")
)

// newMachine looks at the host for the first time, and logs what needs attention. memory is how many bytes the
// process may take, 0 if unknown.
func newMachine(cfg *config.Config, c *serving.Certificates, memory uint64, log *slog.Logger) *machine {
	m := &machine{Certificates: c, cfg: cfg, memory: memory, log: log}
	m.look()
	return m
}

// Watch looks at the host every serving.LookEvery, and watches the certificates, until ctx ends.
func (m *machine) Watch(ctx context.Context) {
	go m.Certificates.Watch(ctx) // ends with ctx
	for ledger.Sleep(ctx, serving.LookEvery, nil) {
		m.look()
	}
}

// Health is the result of the last look, and what is wrong with the certificates now.
func (m *machine) Health() httpapi.Health {
	seen := m.seen.Load().health
	what, leave := m.Concern(time.Now())
	switch {
	case what == "":
		return seen
	case leave:
		seen.Reason = what
	}
	seen.Warnings = append(slices.Clone(seen.Warnings), what)
	return seen
}

// look finds out how the host is. If the disk does not answer, only the caller waits.
func (m *machine) look() {
	s := &sight{figures: map[figure]float64{}}
	for f, find := range map[figure]func() (uint64, error){filesLimit: process.OpenFiles, filesOpen: process.UsedFiles,
		memoryUsed: process.ResidentBytes,
		diskFree:   func() (uint64, error) { return process.FreeSpace(m.cfg.Data) }} {
		if n, err := find(); err == nil {
			s.figures[f] = float64(n)
		}
	}
	if m.memory != 0 {
		s.figures[memoryLimit] = float64(m.memory)
	}
	if kept, err := process.ClockSynchronised(); err == nil {
		s.figures[clockKept] = asNumber(kept)
	}
	for _, c := range serving.HostConcerns(m.cfg, m.memory) {
		s.health.Warnings = append(s.health.Warnings, c.String())
	}
	before := m.seen.Swap(s)
	for _, w := range s.health.Warnings {
		if before == nil || !slices.Contains(before.health.Warnings, w) {
			m.log.Warn("the host needs attention", "because", w)
		}
	}
}

// collect sends the figures of the last look.
func (m *machine) collect(to chan<- prometheus.Metric) {
	for f, v := range m.seen.Load().figures {
		f.show(to, v)
	}
	for of, end := range m.Ends() {
		tlsEnds.show(to, float64(end.Unix()), of)
	}
	tlsRefused.show(to, float64(m.Refused()))
}

// limitMemory sets the memory limit of Go's garbage collector, and logs it. The configured limit comes first,
// then GOMEMLIMIT, then 9/10 of the available memory. The limit is soft: a state that needs more memory takes
// it, and the collector then works more often. limitMemory returns the available memory in bytes, 0 if unknown.
func limitMemory(cfg *config.Config, log *slog.Logger) (available uint64) {
	limit, from := cfg.MemoryLimit, "memory_limit"
	available, source, err := serving.AvailableMemory()
	switch {
	case limit != 0:
		debug.SetMemoryLimit(int64(limit))
	case os.Getenv("GOMEMLIMIT") != "":
		limit, from = config.Size(debug.SetMemoryLimit(-1)), "GOMEMLIMIT"
	default:
		if err != nil {
			log.Warn("the memory of this machine is unknown, and no memory limit is set: set memory_limit",
				"error", err)
			return 0
		}
		from = source
		limit = config.Size(available / 10 * 9 >> 20 << 20)
		debug.SetMemoryLimit(int64(limit))
	}
	log.Info("memory limit", "limit", limit.String(), "from", from)
	return available
}

// The collector trades memory for time. The daemon usually holds little memory, and under load it discards
// much: collecting at gcMost percent saves a sixth of the daemon's time (docs/PERFORMANCE.md). With a million
// open shuffles the same percent would be a gigabyte of garbage. So the percent depends on what is held: there
// are garbage bytes between two collections, but no less than gcLeast percent.
const (
	gcMost  = 300
	gcLeast = 20
	garbage = 96 << 20
)

// paceCollector adapts the percent once a second until ctx ends. It does nothing if GOGC is set.
func paceCollector(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := gcMost
	debug.SetGCPercent(percent)
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for ledger.Sleep(ctx, time.Second, nil) {
		metrics.Read(sample)
		next := gcPercent(sample[0].Value.Uint64())
		if d := next - percent; d*10 > percent || -d*10 > percent { // each change stops the world for a moment
			percent = next
			debug.SetGCPercent(percent)
		}
	}
}

// gcPercent returns the percent for a heap of live bytes.
func gcPercent(live uint64) int { return int(min(gcMost, max(gcLeast, garbage*100/max(live, 1)))) }
