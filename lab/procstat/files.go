package procstat

import (
	"fmt"
	"syscall"
)

// EnoughFiles returns an error if the limit of open files is too low for a number of connections to a server and other files. fewer describes how to
// use fewer.
func EnoughFiles(connections, others int, fewer string) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if need := uint64(connections + others); limit.Cur < need { //nolint:gosec // not negative
		return fmt.Errorf("%d connections need %d open files here and in the server, and the limit is %d: raise it (ulimit -n), or %s", connections, need, limit.Cur, fewer)
	}
	return nil
}
