//go:build unix

package process

import (
	"os"
	"syscall"
)

// LockFile keeps a file to one open of it, without waiting. The lock ends with the file or
// the process. Where files cannot be locked it returns errors.ErrUnsupported.
func LockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// UnlockFile gives the lock up at once. Closing alone does not while a child process that
// is only just being started still has the file.
func UnlockFile(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
