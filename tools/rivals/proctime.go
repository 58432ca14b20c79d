package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/*/stat: USER_HZ, which is 100 on every Linux that Go runs on (proc(5), sysconf(_SC_CLK_TCK)).
const tick = 10 * time.Millisecond

// familyTime is the processor time of a process's parent and of all its children, those that have ended included. For a PostgreSQL
// backend that is the whole server.
func familyTime(member int) (time.Duration, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(member) + "/stat")
	if err != nil {
		return 0, err
	}
	child, err := parseStat(raw)
	if err != nil {
		return 0, err
	}
	pid := child.parent
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		p, err := parseStat(raw)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		switch pid {
		case p.pid:
			ticks += p.own + p.ended
		case p.parent:
			ticks += p.own
		}
	}
	return time.Duration(ticks) * tick, nil
}

// processStat is what /proc/<pid>/stat says of time, in ticks: the process's own, and that of its children that have ended.
type processStat struct {
	pid, parent int
	own, ended  int64
}

func parseStat(raw []byte) (s processStat, err error) {
	// pid (name) state ppid ...: the name may hold anything, and ends at the last bracket.
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return s, fmt.Errorf("not a process's stat: %q", raw)
	}
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) < 15 {
		return s, fmt.Errorf("too few fields: %q", raw)
	}
	if s.pid, err = strconv.Atoi(strings.TrimSpace(string(raw[:open]))); err != nil {
		return s, err
	}
	if s.parent, err = strconv.Atoi(fields[1]); err != nil {
		return s, err
	}
	for i, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return s, err
		}
		if i < 2 {
			s.own += n
		} else {
			s.ended += n
		}
	}
	return s, nil
}
