package main

import (
	"errors"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// tick is the unit of /proc/*/stat: USER_HZ, which is 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// spent is the processor time that the three have used so far. On a machine that others use too, what is served for each second of it can be
// compared where what is served for each second of the clock cannot.
type spent struct{ server, database, generator time.Duration }

func (s spent) since(was spent) spent {
	return spent{s.server - was.server, s.database - was.database, s.generator - was.generator}
}

// spent reads the processor time. The database is whatever the server's process has started.
func (s *server) spent() (spent, error) {
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return spent{}, err
	}
	all, err := processes()
	if err != nil {
		return spent{}, err
	}
	if _, there := all[s.pid]; !there {
		return spent{}, errors.New("the server's process has ended")
	}
	now := spent{server: all[s.pid].own, generator: time.Duration(self.Utime.Nano() + self.Stime.Nano())}
	for pid, p := range all {
		for at := p.parent; at > 1; at = all[at].parent {
			if at == s.pid {
				now.database += all[pid].own + all[pid].ended
				break
			}
		}
	}
	return now, nil
}

// process is what /proc says of one: its parent, its own time, and that of its children that have ended.
type process struct {
	parent     int
	own, ended time.Duration
}

func processes() (map[int]process, error) {
	list, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	all := make(map[int]process, len(list))
	for _, p := range list {
		s, err := p.Stat()
		if err != nil {
			continue // it has ended
		}
		all[s.PID] = process{
			parent: s.PPID,
			own:    time.Duration(s.UTime+s.STime) * tick, //nolint:gosec // G115: ticks since the process began
			ended:  time.Duration(s.CUTime+s.CSTime) * tick,
		}
	}
	return all, nil
}
