package bench

import (
	"os/exec"
	"runtime"
	"syscall"
)

// tie lets a process that will be started die with this one, for any reason. The
// kernel refers to the thread, so the goroutine of the test keeps its thread.
func tie(cmd *exec.Cmd) {
	runtime.LockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
