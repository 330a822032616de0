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

// limitMemory sets the memory limit of Go's garbage collector, and logs it. The configured limit comes first,
// then GOMEMLIMIT, then 9/10 of the available memory. The limit is soft: a state that needs more memory takes
// it, and the collector then works more often. limitMemory returns the available memory in bytes, 0 if unknown.
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

// availableMemory returns what the cgroup allows or what the machine has, whichever is less, in bytes.
func availableMemory() (available uint64, from string, err error) {
	available, err = memlimit.FromSystem()
	from = "machine"
	// FromCgroup returns an error if there is no limit, or if the limit cannot be read.
	if allowed, none := memlimit.FromCgroup(); none == nil && (err != nil || allowed < available) {
		available, from, err = allowed, "cgroup", nil
	}
	return available, from, err
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
	every(ctx, time.Second, func() {
		metrics.Read(sample)
		next := gcPercent(sample[0].Value.Uint64())
		if d := next - percent; d*10 > percent || -d*10 > percent { // each change stops the world for a moment
			percent = next
			debug.SetGCPercent(percent)
		}
	})
}

// gcPercent returns the percent for a heap of live bytes.
func gcPercent(live uint64) int {
	return int(min(gcMost, max(gcLeast, garbage*100/max(live, 1))))
}
