package procstat

import (
	"fmt"
	"syscall"
)

// EnoughFiles checks the limit of open files. It returns an error if the limit is too low for a number of connections and a number of other files.
// The text fewer is part of the error. It explains how to use fewer connections.
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
