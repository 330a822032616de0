package process

import (
	"bytes"
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

// FreeSpace returns how many bytes may be written below a directory.
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
