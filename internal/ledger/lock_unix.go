//go:build unix

package ledger

import (
	"fmt"
	"os"
	"syscall"
)

// lock keeps the mark to one process: two daemons on one data directory would
// each believe in the other's mark. The lock ends with the process.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("locking the high-water mark %s: %w: %w", f.Name(), ErrMarkLocked, err)
	}
	return nil
}

// unlock gives the mark up at once. Closing alone does not while a child process
// that is only just being started still has the file.
func unlock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
