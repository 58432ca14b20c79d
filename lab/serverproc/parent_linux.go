package serverproc

import "syscall"

// dieWithParent has the kernel kill the child when this process is killed itself.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
