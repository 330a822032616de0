package serving

import (
	"log/slog"

	"shuffled/internal/process"
)

// StartProcess logs what the process runs on, and keeps its memory out of swap as far
// as the limit allows: a daemon's memory holds keys and tapes.
func StartProcess(log *slog.Logger) {
	p := process.Platform()
	log.Info("platform", "kernel", p.Kernel, "vdso_getrandom", string(p.VDSO), "fips", p.FIPS)
	locked := process.Lock()
	switch {
	case locked.All:
		log.Info("memory is locked: none of it goes to swap", "because", locked.Note)
	case locked.Now:
		log.Warn("memory is locked in part", "because", locked.Note)
	default:
		log.Warn("memory is not locked, so that keys and tapes may reach swap", "because", locked.Note)
	}
}
