//go:build unix

package app

import "syscall"

// openFiles is how many files this process may have open. Go raises the soft limit to the hard one at the start of the process.
func openFiles() (n int, known bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > largestClients {
		return 0, false
	}
	return int(limit.Cur), true
}
