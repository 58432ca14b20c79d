// Package procstat reads the kernel's data about processes: memory, processor time and the limit of open files. It needs Linux.
package procstat

import (
	"errors"
	"fmt"
	"os"

	"github.com/prometheus/procfs"
)

// Memory returns the resident memory of a process in bytes: the current size, and the maximum since the start or since Forget. Child processes do not
// count.
func Memory(pid int) (now, peak int64, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, err
	}
	s, err := p.NewStatus()
	if err == nil && s.VmRSS == 0 {
		err = errors.New("the process does not say how much memory it has")
	}
	return int64(s.VmRSS), int64(s.VmHWM), err //nolint:gosec // G115: no machine has as much
}

// Forget sets the maximum of a process's memory to the current size.
func Forget(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600)
}
