package main

import (
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestMemory: the process is closed to others of its user: it cannot be dumped.
func TestMemory(t *testing.T) {
	if os.Getenv("SHUFFLED_TEST_MEMORY") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMemory$", "-test.v")
		cmd.Env = append(os.Environ(), "SHUFFLED_TEST_MEMORY=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if err := run(t.Context(), slog.New(slog.DiscardHandler), nil); err == nil {
		t.Fatal("no arguments are enough")
	}
	const prGetDumpable = 3
	if n, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, prGetDumpable, 0, 0); n != 0 || err != 0 {
		t.Errorf("PR_GET_DUMPABLE is %d, %v", n, err)
	}
}
