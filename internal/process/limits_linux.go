package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenFiles returns how many files and connections this process may have open.
func OpenFiles() (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("reading RLIMIT_NOFILE: %w", err)
	}
	return limit.Max, nil // Go raises the soft limit to it
}

// UsedFiles returns how many files and connections this process has open. Before Linux 6.2, only root may know it of a
// process that is not dumpable.
func UsedFiles() (uint64, error) {
	info, err := os.Stat("/proc/self/fd")
	if err != nil {
		return 0, fmt.Errorf("counting open files: %w", err)
	}
	if info.Size() == 0 {
		return 0, fmt.Errorf("counting open files: %w", errors.ErrUnsupported)
	}
	return uint64(info.Size()), nil
}

// ClockSynchronised reports whether the kernel was told that a time service keeps the clock. A filter of system calls
// may forbid the question.
func ClockSynchronised() (bool, error) {
	var t unix.Timex // modes 0: changes nothing
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return false, fmt.Errorf("reading the state of the clock: %w", err)
	}
	return state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, nil
}

// ResidentBytes returns how much memory of the machine this process has.
func ResidentBytes() (uint64, error) {
	_, resident, err := usedBytes()
	return resident, err
}

// usedBytes returns how much address space this process has mapped, and how much memory it has.
func usedBytes() (mapped, resident uint64, err error) {
	text, err := os.ReadFile("/proc/self/statm") // in pages, the first two numbers (proc_pid_statm(5))
	if err == nil {
		_, err = fmt.Sscan(string(text), &mapped, &resident)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("reading the memory in use: %w", err)
	}
	page := uint64(os.Getpagesize())
	return mapped * page, resident * page, nil
}

// FreeSpace returns how many bytes may be written in the file system of a directory.
func FreeSpace(dir string) (uint64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, fmt.Errorf("reading the free space of %s: %w", dir, err)
	}
	return fs.Bavail * uint64(fs.Bsize), nil
}

// HasSwap reports whether the host may write memory to a disk.
func HasSwap() bool {
	list, err := os.ReadFile("/proc/swaps") // a line of titles, then one for each device
	return err != nil || bytes.Count(list, []byte("\n")) > 1
}

// datasync makes the bytes of a file durable, and what is needed to find them: not its times.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
