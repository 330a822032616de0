//go:build unix

package load

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process used so far, 0 if the system does not report it.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
