package testdb

import "syscall"

// dieWithParent has the kernel end the child, as by an immediate shutdown, when
// the thread that started it ends: see spawn.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
