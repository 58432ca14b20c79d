package main

import (
	"time"

	"github.com/prometheus/procfs"
)

// tick is the unit of /proc/*/stat: USER_HZ, which is 100 on every Linux that Go runs on (proc(5), sysconf(_SC_CLK_TCK)).
const tick = 10 * time.Millisecond

// familyTime is the processor time of a process's parent and of all its children, those that have ended included. For a PostgreSQL
// backend that is the whole server.
func familyTime(member int) (time.Duration, error) {
	p, err := procfs.NewProc(member)
	if err != nil {
		return 0, err
	}
	child, err := p.Stat()
	if err != nil {
		return 0, err
	}
	all, err := procfs.AllProcs()
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, p := range all {
		s, err := p.Stat()
		if err != nil {
			continue // it has ended
		}
		switch child.PPID {
		case s.PID:
			total += ownTime(s) + time.Duration(s.CUTime+s.CSTime)*tick
		case s.PPID:
			total += ownTime(s)
		}
	}
	return total, nil
}

// ownTime is the processor time of a process without its children.
func ownTime(s procfs.ProcStat) time.Duration {
	return time.Duration(s.UTime+s.STime) * tick //nolint:gosec // G115: ticks since the process began
}
