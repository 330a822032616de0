package load

import (
	"syscall"
	"time"
)

// nap sleeps for less than a timer's tick.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&t, nil)
}
