package main

import (
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestMemory: the process cannot be dumped, so other processes of its user cannot read its memory.
// Under a limit its memory is not locked, and the program says what to set.
func TestMemory(t *testing.T) {
	if os.Getenv("SHUFFLED_TEST_MEMORY") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMemory$", "-test.v")
		cmd.Env = append(os.Environ(), "SHUFFLED_TEST_MEMORY=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	const rlimitMemlock = 8
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(rlimitMemlock, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = min(limit.Max, 1<<30)
	if err := syscall.Setrlimit(rlimitMemlock, &limit); err != nil {
		t.Fatal(err)
	}
	if locked, err := closeMemory(); err != nil || !strings.HasPrefix(locked, "not locked: set LimitMEMLOCK") {
		t.Errorf("under a limit of %d bytes: %q, %v", limit.Cur, locked, err)
	}
	if err := run(t.Context(), slog.New(slog.DiscardHandler), nil); err == nil {
		t.Fatal("no arguments are enough")
	}
	const prGetDumpable = 3
	if n, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, prGetDumpable, 0, 0); n != 0 || err != 0 {
		t.Errorf("PR_GET_DUMPABLE is %d, %v", n, err)
	}
}
