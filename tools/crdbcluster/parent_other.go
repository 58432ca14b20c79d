//go:build !linux

package main

import "syscall"

// dieWithParent: there is no such thing here; a killed program leaves its nodes.
func dieWithParent(*syscall.SysProcAttr) {}
