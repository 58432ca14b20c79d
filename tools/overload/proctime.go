package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
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
	server := s.cmd.Process.Pid
	now := spent{server: all[server].own, generator: time.Duration(self.Utime.Nano() + self.Stime.Nano())}
	if now.server == 0 {
		return now, errors.New("the server's process does not say how much time it used")
	}
	for pid, p := range all {
		for at := p.parent; at > 1; at = all[at].parent {
			if at == server {
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
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	all := make(map[int]process, len(paths))
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		name := bytes.LastIndexByte(raw, ')') // which may hold spaces and brackets
		fields := strings.Fields(string(raw[name+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || len(fields) < 15 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		all[pid] = process{parent: parent, own: ticks(fields[11], fields[12]), ended: ticks(fields[13], fields[14])}
	}
	return all, nil
}

func ticks(of ...string) (sum time.Duration) {
	for _, text := range of {
		n, _ := strconv.ParseInt(text, 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
}
