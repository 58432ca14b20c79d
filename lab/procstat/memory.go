// Package procstat reads the kernel's data about processes: their memory, their processor time, and their limit of open files. It needs Linux.
package procstat

import (
	"errors"
	"fmt"
	"os"

	"github.com/prometheus/procfs"
)

// Memory returns the resident memory of a process in bytes: now, and the maximum since its start or since Forget. It does not include child
// processes.
func Memory(pid int) (now, most int64, err error) {
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

// Forget resets the maximum of a process's memory to its present memory.
func Forget(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600)
}
