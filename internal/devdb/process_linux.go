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

// tieToParent asks the kernel to send the child a signal when the thread that starts the child ends.
func tieToParent(attr *syscall.SysProcAttr, sig syscall.Signal) {
	if parentDeathSignal {
		attr.Pdeathsig = sig
	}
}

// passDir makes a directory accessible to a child that runs as another user. That user may lack access to a parent directory, such as /root or a
// test's temporary directory. So the child inherits the open directory and uses the descriptor's path.
func passDir(dir *os.File, files []*os.File) (path string, all []*os.File) {
	return "/proc/self/fd/" + strconv.Itoa(inheritedLockFD+len(files)), append(files, dir)
}

// signalOrphan signals the database process that has inherited the engine lock from a dead server, and returns its id, or 0 if none is left.
//
// It recognizes a process by its descriptor inheritedLockFD, because only spawn opens the lock file there. A database's child processes have this
// descriptor too. The database itself is the process whose parent does not have it.
func signalOrphan(lock *os.File, sig syscall.Signal) (pid int, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/fd/" + strconv.Itoa(inheritedLockFD))
	if err != nil {
		return 0, err
	}
	holders := map[int]bool{}
	for _, file := range files {
		pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
		if pid != os.Getpid() && holdsLock(pid, lock) {
			holders[pid] = true
		}
	}
	for pid := range holders {
		if holders[parentOf(pid)] {
			continue
		}
		// FindProcess pins the process, and holdsLock then checks the process again. So if the id is reused in between, the new process gets no
		// signal.
		proc, err := os.FindProcess(pid)
		if err != nil || !holdsLock(pid, lock) {
			continue
		}
		if err := proc.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return pid, err
		}
		return pid, nil
	}
	return 0, nil
}

func holdsLock(pid int, lock *os.File) bool {
	theirs, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(inheritedLockFD))
	if err != nil {
		return false
	}
	ours, err := lock.Stat()
	return err == nil && os.SameFile(theirs, ours)
}

// parentOf reads the fourth field in /proc/PID/stat. The second field is in brackets and may contain any text, so parentOf starts after the last
// bracket.
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

// worksIn reports whether a process has a directory as its working directory. PostgreSQL's working directory is its cluster. known is false if the
// caller may not read it.
func worksIn(pid int, dir os.FileInfo) (here, known bool) {
	at, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/cwd")
	if errors.Is(err, fs.ErrNotExist) {
		return false, true // the process has ended, because a live process has a working directory
	}
	return err == nil && os.SameFile(at, dir), err == nil
}

// anyoneIn finds a process that belongs to a user and has a directory as its working directory. It returns 0 if there is none. known is false if any
// process of the user cannot be checked.
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
