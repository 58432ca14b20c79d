//go:build !linux

package serverproc

import "syscall"

// dieWithParent does nothing, because this system has no such signal. If this process is killed, its children continue to run.
func dieWithParent(*syscall.SysProcAttr) {}
