//go:build unix

package bundle

import (
	"fmt"
	"os"
	"syscall"
)

// lock keeps the directory to one export. The lock ends with the process.
func lock(f *os.File, dir string) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("locking %s: another export writes to it: %w", dir, err)
	}
	return nil
}
