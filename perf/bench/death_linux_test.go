package bench

import (
	"os/exec"
	"runtime"
	"syscall"
)

// tie lets a process that is about to be started die with this one, however that
// ends. The kernel means the thread, so the goroutine, the test's, keeps its own
// for good.
func tie(cmd *exec.Cmd) {
	runtime.LockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
