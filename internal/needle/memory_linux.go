package needle

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// regions stops a process, and calls each with every region of its memory that it may write, or that is mapped
// without a file. A region that is only read from a file, such as the program, has no secret of a shuffle. Only
// a child of this process is read. For the memory of a daemon the caller must be root.
func regions(pid int, each func(name string, r io.Reader) error) error {
	if err := isChild(pid); err != nil {
		return err
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return fmt.Errorf("reading the memory of a process: %w", err)
	}
	defer mem.Close()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stopping process %d: %w", pid, err)
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return fmt.Errorf("reading the memory of a process: %w", err)
	}
	for line := range strings.Lines(string(maps)) {
		fields := append(strings.Fields(line), "")
		name := fields[5]
		if fields[1][0] != 'r' || fields[1][1] != 'w' && strings.HasPrefix(name, "/") || strings.HasPrefix(name, "[v") {
			continue
		}
		var from, to int64
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err != nil {
			return fmt.Errorf("reading the memory of a process: %w", err)
		}
		if err := each("memory "+fields[0]+" "+name, io.NewSectionReader(mem, from, to-from)); err != nil {
			return fmt.Errorf("reading memory at %s: %w", strings.TrimSpace(line), err)
		}
	}
	return nil
}

// isChild returns an error unless this process is the parent of pid.
func isChild(pid int) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return fmt.Errorf("reading the parent of a process: %w", err)
	}
	var state string
	var parent int
	// proc_pid_stat(5): the name in parentheses may have spaces and parentheses, so the fields begin after the
	// last one.
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	if _, err := fmt.Sscan(string(rest), &state, &parent); err != nil {
		return fmt.Errorf("reading the parent of process %d: %w", pid, err)
	}
	if parent != os.Getpid() {
		return fmt.Errorf("process %d was started by process %d, and only a process that this one has started is read",
			pid, parent)
	}
	return nil
}
