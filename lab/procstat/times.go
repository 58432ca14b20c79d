package procstat

import (
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// tick is the unit of /proc/*/stat: USER_HZ, which is 100 on every Linux that Go supports (proc(5), sysconf(_SC_CLK_TCK)).
const tick = 10 * time.Millisecond

// Times maps process ids to the processor time that the processes have used.
type Times map[int]times

// times is the processor time of one process, and of its children that have ended.
type times struct {
	parent     int
	own, ended time.Duration
}

// ReadTimes reads the times of all processes.
func ReadTimes() (Times, error) {
	list, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	all := make(Times, len(list))
	for _, p := range list {
		s, err := p.Stat()
		if err != nil {
			continue // the process has ended since AllProcs
		}
		all[s.PID] = times{
			parent: s.PPID,
			own:    time.Duration(s.UTime+s.STime) * tick, //nolint:gosec // G115: ticks since the process began
			ended:  time.Duration(s.CUTime+s.CSTime) * tick,
		}
	}
	return all, nil
}

// Parent returns the parent of a process. It returns false if the process does not exist.
func (t Times) Parent(pid int) (parent int, there bool) {
	p, there := t[pid]
	return p.parent, there
}

// Own returns the time of a process without its children. It returns false if the process does not exist.
func (t Times) Own(pid int) (own time.Duration, there bool) {
	p, there := t[pid]
	return p.own, there
}

// Tree returns the time of a process and all its descendants, including ended ones.
func (t Times) Tree(pid int) time.Duration {
	total := t[pid].own + t[pid].ended
	for id, p := range t {
		if t.descends(id, pid) {
			total += p.own + p.ended
		}
	}
	return total
}

func (t Times) descends(pid, from int) bool {
	for at := t[pid].parent; at > 1; at = t[at].parent {
		if at == from {
			return true
		}
	}
	return false
}

// Self returns the processor time of this process, more exactly than ReadTimes.
func Self() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
