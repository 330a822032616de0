package needle

import (
	"io"
	"os"
	"testing"
)

// TestOwnChild: the memory of a process that this one has not started is not read.
func TestOwnChild(t *testing.T) {
	for _, pid := range []int{1, os.Getppid(), os.Getpid()} {
		if err := regions(pid, func(string, io.Reader) error { return nil }); err == nil {
			t.Errorf("process %d was read", pid)
		}
	}
}
