//go:build unix

package app

import "syscall"

// openFiles returns the limit on this process's open files. Go raises the soft limit to the hard limit when a process starts.
func openFiles() (n int, known bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > largestClients {
		return 0, false
	}
	return int(limit.Cur), true
}
