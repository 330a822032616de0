package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"shuffled/internal/config"
)

// limitMemory tells the collector what the process may take, and says so. The
// configured limit comes first, then GOMEMLIMIT, then 9/10 of what the cgroup
// allows, or of what the machine has. It is a soft limit: a state that needs more
// takes more, and the collector then works more often. It returns what the cgroup allows,
// or the machine has, in bytes; 0 if that is unknown.
func limitMemory(cfg *config.Config, log *slog.Logger) (available uint64) {
	limit, from := cfg.MemoryLimit, "memory_limit"
	available, source, err := availableMemory()
	switch {
	case limit != 0:
		debug.SetMemoryLimit(int64(limit))
	case os.Getenv("GOMEMLIMIT") != "":
		limit, from = config.Size(debug.SetMemoryLimit(-1)), "GOMEMLIMIT"
	default:
		if err != nil {
			log.Warn("the memory of this machine is unknown: no memory limit is set, memory_limit would set one",
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

// availableMemory returns what the cgroup allows, or the machine has if that is less.
func availableMemory() (available uint64, from string, err error) {
	available, err = memlimit.FromSystem()
	from = "machine"
	// An error is no limit, or none that can be read.
	if allowed, none := memlimit.FromCgroup(); none == nil && (err != nil || allowed < available) {
		available, from, err = allowed, "cgroup", nil
	}
	return available, from, err
}

// The collector trades memory for time. What the daemon holds is small most often,
// and what it throws away under load is much: collecting at gcMost percent saves a
// sixth of its time (docs/PERFORMANCE.md). With a million open shuffles the same
// percent would be a gigabyte of garbage, so the percent follows what is held:
// garbage bytes come between two collections, but no less than gcLeast percent.
const (
	gcMost  = 300
	gcLeast = 20
	garbage = 96 << 20
)

// paceCollector keeps the percent until ctx ends, unless GOGC is set.
func paceCollector(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := gcMost
	debug.SetGCPercent(percent)
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	every(ctx, time.Second, func() {
		metrics.Read(sample)
		next := gcPercent(sample[0].Value.Uint64())
		if d := next - percent; d*10 > percent || -d*10 > percent { // each change stops the world for a moment
			percent = next
			debug.SetGCPercent(percent)
		}
	})
}

// gcPercent is the percent for so many bytes that are held.
func gcPercent(live uint64) int {
	return int(min(gcMost, max(gcLeast, garbage*100/max(live, 1))))
}
