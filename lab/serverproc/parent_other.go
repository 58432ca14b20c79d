//go:build !linux

package serverproc

import "syscall"

// dieWithParent does nothing: this system has no such signal, and a killed process leaves its children.
func dieWithParent(*syscall.SysProcAttr) {}
