//go:build unix && !linux

package devdb

import (
	"errors"
	"os"
	"syscall"
)

// tieToParent does nothing, because this system has no parent death signal. A database whose server was killed keeps running and holds engine.lock,
// and the next start returns an error.
func tieToParent(*syscall.SysProcAttr, syscall.Signal) {}

// passDir returns the directory's path. So a child that runs as another user needs access to all directories above it.
func passDir(dir *os.File, files []*os.File) (path string, all []*os.File) {
	return dir.Name(), files
}

func signalOrphan(*os.File, syscall.Signal) (pid int, err error) {
	return 0, errors.New("this system does not report the process: stop it by hand (postgres/postmaster.pid names it)")
}

// worksIn cannot check the working directory on this system. PostgreSQL then decides by the process id alone.
func worksIn(int, os.FileInfo) (here, known bool) { return false, false }

// anyoneIn cannot check working directories on this system.
func anyoneIn(os.FileInfo, int) (pid int, known bool) { return 0, false }
