package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// NoDumps keeps the memory of this process out of core dumps, and out of reach of debuggers of its own user, as long as
// the process lives. Call it at the beginning of a process. It sets both the attribute and the limit: a core_pattern
// that is a program ignores the limit (core(5)), and the attribute is lost if it is set again.
func NoDumps() error {
	Platform() // reads the memory of the process while its own user may
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding core dumps of this process (PR_SET_DUMPABLE): %w", err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err == nil && limit == (unix.Rlimit{}) {
		return nil
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("limiting core dumps of this process to 0 bytes (RLIMIT_CORE): %w", err)
	}
	return nil
}

// Lock keeps the memory of this process out of swap, as far as its limit allows without an allocation that could fail
// later. It cannot fail: the answer says what is locked.
//
// It locks all memory, what is mapped now, or none. With MCL_FUTURE each later mmap counts in full against
// RLIMIT_MEMLOCK (mmap(2), EAGAIN), also memory that Go only reserves, and a runtime that gets no memory ends the
// process. So it is used only if the limit is infinite, or if the limit does not hold for this process (CAP_IPC_LOCK).
// Without MCL_FUTURE nothing can fail later, but memory that is mapped later is not locked. MCL_ONFAULT locks pages
// when they are first used, so that reserved memory costs nothing.
func Lock() Locked {
	limit, err := raiseLimit()
	if err != nil {
		return Locked{Note: err.Error()}
	}
	if limit == unix.RLIM_INFINITY {
		return lockAll("RLIMIT_MEMLOCK is unlimited")
	}
	mapped, _, _ := usedBytes() // before mlockall: the kernel compares it with the limit; 0 if it cannot be read
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_ONFAULT); err != nil {
		return Locked{Note: fmt.Sprintf("RLIMIT_MEMLOCK is %d MiB, and %d MiB are mapped, most of it reserved only (mlockall: %s); "+
			"set LimitMEMLOCK=infinity, or let the host have no swap", limit>>20, mapped>>20, err)}
	}
	if mapped > limit {
		return lockAll("RLIMIT_MEMLOCK does not hold for this process")
	}
	return Locked{Now: true, Note: fmt.Sprintf("what is mapped now is locked, and what is mapped later is not: "+
		"RLIMIT_MEMLOCK is %d MiB; set LimitMEMLOCK=infinity, or let the host have no swap", limit>>20)}
}

func lockAll(why string) Locked {
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		return Locked{Note: fmt.Sprintf("%s, but the kernel refuses (mlockall: %s)", why, err)}
	}
	return Locked{All: true, Now: true, Note: why}
}

// raiseLimit raises RLIMIT_MEMLOCK as far as this process may, and returns the limit in bytes.
func raiseLimit() (uint64, error) {
	infinite := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &infinite); err == nil { // takes CAP_SYS_RESOURCE
		return unix.RLIM_INFINITY, nil
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return 0, fmt.Errorf("reading RLIMIT_MEMLOCK: %w", err)
	}
	if limit.Cur < limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &raised); err == nil {
			limit = raised
		}
	}
	return limit.Cur, nil
}
