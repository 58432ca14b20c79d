//go:build unix && !linux

package devdb

import (
	"errors"
	"os"
	"syscall"
)

// tieToParent: there is no parent death signal here. A database whose server was
// killed stays, holds engine.lock, and the next start says so.
func tieToParent(*syscall.SysProcAttr, syscall.Signal) {}

// passDir: a child that runs as another user must be able to walk to the directory itself.
func passDir(dir *os.File, files []*os.File) (path string, all []*os.File) {
	return dir.Name(), files
}

func signalOrphan(*os.File, syscall.Signal) (pid int, err error) {
	return 0, errors.New("this system does not report the process: stop it by hand (postgres/postmaster.pid names it)")
}

// worksIn: not to be told here; PostgreSQL decides by the process id alone.
func worksIn(int, os.FileInfo) (here, known bool) { return false, false }

// anyoneIn: not to be told here.
func anyoneIn(os.FileInfo, int) (pid int, known bool) { return 0, false }
