//go:build unix

package process

import (
	"os"
	"syscall"
)

// LockFile locks a file, and fails at once if another open file of it is locked. The lock ends when f is closed or the
// process ends. If files cannot be locked, the error matches errors.ErrUnsupported.
func LockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// UnlockFile releases the lock at once. Closing the file alone does not, while a child process that is just being
// started still has it open.
func UnlockFile(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
