package process

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

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

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// vdsoGetrandom looks for the symbol in the image that the kernel maps into every
// process (vdso(7)). Its name differs by architecture.
func vdsoGetrandom() VDSO {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return VDSOUnknown
	}
	defer maps.Close()
	from, to, ok := findVDSO(maps)
	if !ok {
		return VDSOUnknown
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return VDSOUnknown
	}
	defer memory.Close()
	return hasGetrandom(io.NewSectionReader(memory, from, to-from))
}

// findVDSO returns the range of the vDSO in a list of maps (proc_pid_maps(5)).
func findVDSO(maps io.Reader) (from, to int64, ok bool) {
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 6 || fields[5] != "[vdso]" {
			continue
		}
		low, high, _ := strings.Cut(fields[0], "-")
		from, err := strconv.ParseInt(low, 16, 64)
		if err != nil {
			return 0, 0, false
		}
		to, err := strconv.ParseInt(high, 16, 64)
		return from, to, err == nil && from < to
	}
	return 0, 0, false
}

// hasGetrandom looks for the symbol in an image.
func hasGetrandom(image io.ReaderAt) VDSO {
	f, err := elf.NewFile(image)
	if err != nil {
		return VDSOUnknown
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return VDSOUnknown
	}
	for _, s := range symbols {
		if s.Name == "__vdso_getrandom" || s.Name == "__kernel_getrandom" {
			return VDSOYes
		}
	}
	return VDSONo
}

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
