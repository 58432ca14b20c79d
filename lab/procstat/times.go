package procstat

import (
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// tick is the unit of /proc/*/stat: USER_HZ, which is 100 on every Linux that Go runs on (proc(5), sysconf(_SC_CLK_TCK)).
const tick = 10 * time.Millisecond

// Times is the processor time that processes have used so far.
type Times map[int]times

// times is what is said of one process: its own time, and that of its children that have ended.
type times struct {
	parent     int
	own, ended time.Duration
}

// ReadTimes reads those of all processes.
func ReadTimes() (Times, error) {
	list, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	all := make(Times, len(list))
	for _, p := range list {
		s, err := p.Stat()
		if err != nil {
			continue // it has ended
		}
		all[s.PID] = times{
			parent: s.PPID,
			own:    time.Duration(s.UTime+s.STime) * tick, //nolint:gosec // G115: ticks since the process began
			ended:  time.Duration(s.CUTime+s.CSTime) * tick,
		}
	}
	return all, nil
}

// Parent is who started a process; false when there is no such process.
func (t Times) Parent(pid int) (parent int, there bool) {
	p, there := t[pid]
	return p.parent, there
}

// Own is the time of a process without what it has started; false when there is no such process.
func (t Times) Own(pid int) (own time.Duration, there bool) {
	p, there := t[pid]
	return p.own, there
}

// Tree is the time of a process and of all that it has started, and they, those that have ended included.
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

// Self is the time of this process, exactly.
func Self() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
