package devdb

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tieToParent asks the kernel to send the child a signal when the thread that forks it ends.
func tieToParent(attr *syscall.SysProcAttr, sig syscall.Signal) {
	if parentDeathSignal {
		attr.Pdeathsig = sig
	}
}

// passDir makes a directory reachable for a child that runs as another user
// and may not be allowed to walk there, such as a checkout below /root or the
// temporary directory of a test: the child inherits the open directory and names it
// by its descriptor, which needs no permission on the directories above it.
func passDir(dir *os.File, files []*os.File) (path string, all []*os.File) {
	return "/proc/self/fd/" + strconv.Itoa(inheritedLockFD+len(files)), append(files, dir)
}

// signalOrphan signals the database process that holds an engine lock it
// inherited from a server that is gone, and returns its id; 0 when there is none any more.
//
// The process proves itself by having the lock file open where only spawn puts it. Of the
// several that do (a database and what it forked) the one whose parent is not
// among them is meant.
func signalOrphan(lock *os.File, sig syscall.Signal) (pid int, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/fd/" + strconv.Itoa(inheritedLockFD))
	if err != nil {
		return 0, err
	}
	holders := map[int]bool{}
	for _, file := range files {
		pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
		if pid != os.Getpid() && holds(pid, lock) {
			holders[pid] = true
		}
	}
	for pid := range holders {
		if holders[parentOf(pid)] {
			continue
		}
		// FindProcess pins the process, then it is asked again: no other can
		// get the signal, even if the id is given to another in between.
		proc, err := os.FindProcess(pid)
		if err != nil || !holds(pid, lock) {
			continue
		}
		if err := proc.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return pid, err
		}
		return pid, nil
	}
	return 0, nil
}

func holds(pid int, lock *os.File) bool {
	theirs, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(inheritedLockFD))
	if err != nil {
		return false
	}
	ours, err := lock.Stat()
	return err == nil && os.SameFile(theirs, ours)
}

// parentOf reads the fourth field of /proc/PID/stat; the second, in brackets, may hold anything.
func parentOf(pid int) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// worksIn tells whether a process runs in a directory, which for a PostgreSQL is
// its cluster. known is false when it cannot be told.
func worksIn(pid int, dir os.FileInfo) (here, known bool) {
	at, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/cwd")
	if errors.Is(err, fs.ErrNotExist) {
		return false, true // it has ended: a living process works somewhere
	}
	return err == nil && os.SameFile(at, dir), err == nil
}

// anyoneIn finds a process of a user's that works in a directory; 0 when there is none. known is false when it cannot be told of all.
func anyoneIn(dir os.FileInfo, user int) (pid int, known bool) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, false
	}
	for _, p := range processes {
		fi, err := os.Stat(p)
		if err != nil {
			continue // it has ended
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) != user {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(p))
		if here, known := worksIn(pid, dir); here || !known {
			return pid, known
		}
	}
	return 0, true
}
