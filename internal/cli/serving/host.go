package serving

import (
	"fmt"

	"shuffled/internal/config"
	"shuffled/internal/process"
)

// littleSpace is how many bytes are free when the high-water mark and the caches may soon have no room.
const littleSpace = 1 << 30

// A Concern is something of the host that needs attention, and what to do about it.
type Concern struct{ What, Cure string }

func (c Concern) String() string { return c.What + ": " + c.Cure }

// leastMemory is what a daemon needs, in bytes: with half of it, 24 batches of 70 largest shoes at once had the kernel
// end it, and with all of it some of them got 503.
const leastMemory = 128 << 20

// HostConcerns looks at what a daemon needs of its host: descriptors, disk, memory, clock. What cannot be found out is
// no concern. memory is how many bytes the process may take, 0 if unknown. If the disk does not answer, the caller
// waits.
func HostConcerns(cfg *config.Config, memory uint64) (all []Concern) {
	add := func(cure, what string, args ...any) { all = append(all, Concern{fmt.Sprintf(what, args...), cure}) }
	if limit, err := process.OpenFiles(); err == nil {
		used, err := process.UsedFiles()
		switch {
		case limit < uint64(cfg.Limits.Connections)+256: // and the database and the witnesses
			add("set LimitNOFILE in the unit, or lower limits.connections",
				"%d files may be open, and limits.connections is %d, with the database and the witnesses alongside",
				limit, cfg.Limits.Connections)
		case err == nil && used > limit/10*9:
			add("raise LimitNOFILE in the unit", "more than 9/10 of the files that may be open are open")
		}
	}
	if free, err := process.FreeSpace(cfg.Data); err == nil && free < littleSpace {
		add("make room", "less than %d MiB are free below the data directory", littleSpace>>20)
	}
	if memory != 0 && memory < leastMemory {
		add("give the daemon more memory", "%d MiB of memory are available, and a daemon needs %d: "+
			"many large batches at once may have the kernel end it", memory>>20, leastMemory>>20)
	}
	if resident, err := process.ResidentBytes(); err == nil && memory != 0 && resident > memory/20*19 {
		add("give the daemon more memory, or lower limits", "more than 95 %% of the available memory are in use")
	}
	if kept, err := process.ClockSynchronised(); err == nil && !kept {
		add("start a time service",
			"the kernel reports that no time service keeps the clock, and entries carry the clock's time")
	}
	return all
}
