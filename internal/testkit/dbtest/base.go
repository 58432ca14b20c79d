package dbtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/carve-ipam/carve/internal/devdb"
)

// base is the directory for the PostgreSQL clusters of this user's test processes. If TMPDIR is set, the directory is below it. Otherwise it is in
// memory, or below /tmp if there is not enough memory.
//
// A process holds a shared lock on base while it makes a directory, because the new directory has no lock yet. A process that removes the directories
// of killed processes holds an exclusive lock on base.
type base struct {
	dir  string
	lock *os.File
}

func openBase() (*base, error) {
	parent := inMemory()
	if parent == "" || os.Getenv("TMPDIR") != "" {
		parent = os.TempDir()
	}
	dir := filepath.Join(parent, fmt.Sprintf("carve-dbtest-%d", os.Geteuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || !fi.IsDir() || int(st.Uid) != os.Geteuid() || fi.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is not a directory of this user's own: move it away", dir)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &base{dir: dir, lock: lock}, nil
}

// sweep removes the clusters of dead test processes, unless another process holds the lock.
func (b *base) sweep() {
	if b.flock(syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return
	}
	defer b.unlock()
	dirs, err := filepath.Glob(filepath.Join(b.dir, "run-*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		// A directory that cannot be removed is in use, or the next process tries again.
		if err := devdb.Remove(dir); errors.Is(err, fs.ErrNotExist) {
			_ = os.RemoveAll(dir) // the process that made the directory was killed before it used it
		}
	}
}

// newDir makes a directory and calls callback, which must lock the directory itself.
func (b *base) newDir(callback func(dir string) error) error {
	if err := b.flock(syscall.LOCK_SH); err != nil {
		return err
	}
	defer b.unlock()
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return err
	}
	if err := callback(dir); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return nil
}

func (b *base) flock(how int) error {
	for {
		if err := syscall.Flock(int(b.lock.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func (b *base) unlock() { _ = b.flock(syscall.LOCK_UN) }

func (b *base) close() { b.lock.Close() }
