package procstat

import (
	"fmt"
	"syscall"
)

// EnoughFiles refuses to begin what the limit of open files would end: so many connections to a server, and others files besides. fewer says how to
// ask for fewer.
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
