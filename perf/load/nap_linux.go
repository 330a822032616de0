package load

import (
	"syscall"
	"time"
)

// nap sleeps for a short time, precisely.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&t, nil)
}
