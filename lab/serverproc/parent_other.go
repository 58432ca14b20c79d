//go:build !linux

package serverproc

import "syscall"

// dieWithParent: there is no such thing here; a killed process leaves its children.
func dieWithParent(*syscall.SysProcAttr) {}
