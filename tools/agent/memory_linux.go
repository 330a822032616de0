package main

import (
	"fmt"
	"syscall"
)

// Constants of prctl(2) and mlockall(2).
const (
	prSetDumpable = 4
	mclOnFault    = 4
)

// closeMemory forbids core dumps, and debuggers of the same user. If RLIMIT_MEMLOCK has no limit,
// it also keeps the memory out of swap. locked says whether it does, and if not, what to do.
func closeMemory() (locked string, err error) {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return "", fmt.Errorf("forbidding core dumps: %w", err)
	}
	if _, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0); err != 0 {
		return "", fmt.Errorf("making this process undumpable: %w", err)
	}
	const rlimitMemlock, infinite = 8, ^uint64(0)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(rlimitMemlock, &limit); err != nil {
		return "", fmt.Errorf("reading RLIMIT_MEMLOCK: %w", err)
	}
	// With locked memory, an allocation above the limit would fail and end the process.
	if limit.Cur != infinite {
		return "not locked: set LimitMEMLOCK=infinity, or let the host have no swap", nil
	}
	if err := syscall.Mlockall(syscall.MCL_CURRENT | syscall.MCL_FUTURE | mclOnFault); err != nil {
		return fmt.Sprintf("not locked (mlockall: %s): let the host have no swap", err), nil
	}
	return "locked", nil
}
