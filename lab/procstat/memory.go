// Package procstat reads what the kernel says of processes: their memory, their processor time, and how many files they may open. It
// needs Linux.
package procstat

import (
	"errors"
	"fmt"
	"os"

	"github.com/prometheus/procfs"
)

// Memory is the resident memory of a process in bytes: now, and the most that it was since the process began, or since Forget. What the process has
// started is not in it.
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

// Forget makes the most memory that a process had what it has now.
func Forget(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600)
}
