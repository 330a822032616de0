package main

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shuffled/internal/cli/serving"
	"shuffled/internal/config"
	"shuffled/internal/httpapi"
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
	every(ctx, serving.LookEvery, m.look)
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
