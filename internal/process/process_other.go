//go:build !linux

package process

import (
	"errors"
	"os"
)

func kernelRelease() string { return "" }

func vdsoGetrandom() VDSO { return VDSOUnknown }

// NoDumps does nothing: it is only done on Linux.
func NoDumps() error { return nil }

// Lock locks nothing, and says so.
func Lock() Locked { return Locked{Note: "only done on Linux"} }

// OpenFiles returns how many files and connections this process may have open.
func OpenFiles() (uint64, error) { return 0, errors.ErrUnsupported }

// UsedFiles returns how many files and connections this process has open.
func UsedFiles() (uint64, error) { return 0, errors.ErrUnsupported }

// ClockSynchronised reports whether a time service keeps the clock.
func ClockSynchronised() (bool, error) { return false, errors.ErrUnsupported }

// ResidentBytes returns how much memory of the machine this process has.
func ResidentBytes() (uint64, error) { return 0, errors.ErrUnsupported }

// FreeSpace returns how many bytes may be written below a directory.
func FreeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }

// HasSwap reports whether the host may write memory to a disk.
func HasSwap() bool { return true }

func datasync(f *os.File) error { return f.Sync() }
