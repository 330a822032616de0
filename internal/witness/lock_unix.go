//go:build unix

package witness

import (
	"os"
	"syscall"
)

// lock takes an exclusive lock that ends with the file or the process.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
