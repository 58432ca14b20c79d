//go:build unix

package devdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Names inside a data directory; doc.go says what each is for.
const (
	serverLockName = "server.lock"
	engineLockName = "engine.lock"
	socketDirName  = "run"
	socketPathName = "run.path"
)

// home is an open data directory that this process holds the server lock of.
//
// Everything in it is reached through an os.Root: a root server must not be
// led out of the directory by a symbolic link that its less privileged owner planted.
type home struct {
	dir  string // absolute
	root *os.Root

	server *os.File // server.lock, locked
	engine *os.File // engine.lock; nil once the database alone holds it

	account account // whom the database runs as; set by the engine
}

// openHome makes the directory where needed and takes its server lock.
func openHome(dir string) (*home, error) {
	if dir == "" {
		return nil, errors.New("no data directory was given")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, err
	}
	return lockHome(abs)
}

// lockHome takes the server lock of a directory that exists.
func lockHome(abs string) (*home, error) {
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	h := &home{dir: abs, root: root}
	if err := h.claimServer(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// close gives the directory free. The server lock is undone rather than left
// to the closing of the file: a child that is being started at this moment
// still has a copy of every descriptor, and with it the lock.
func (h *home) close() error {
	h.handOver()
	var errs []error
	if h.server != nil {
		errs = append(errs, unlock(h.server), h.server.Close())
		h.server = nil
	}
	return errors.Join(append(errs, h.root.Close())...)
}

// exists reports whether a name is there, following no symbolic link.
func (h *home) exists(name string) (bool, error) {
	_, err := h.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// mkdir makes a private directory that belongs to the database's user.
func (h *home) mkdir(name string) error {
	if err := h.root.Mkdir(name, 0o700); err != nil {
		return err
	}
	return h.give(name)
}

// give hands a name to the database's user where that is not this process's own.
func (h *home) give(name string) error {
	if !h.account.switched {
		return nil
	}
	return h.root.Lchown(name, int(h.account.uid), int(h.account.gid))
}

// sync makes the names in the directory durable. PostgreSQL does so for what
// is inside its cluster, not for the name of the cluster itself.
func (h *home) sync() error {
	dir, err := h.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// logLimit is the size in bytes from which a log is put aside at the next start.
const logLimit = 16 << 20

// openLog opens a log for appending, keeping one older generation.
func (h *home) openLog(name string) (*os.File, error) {
	if fi, err := h.root.Lstat(name); err == nil && fi.Size() > logLimit {
		if err := h.root.Rename(name, name+".1"); err != nil {
			return nil, err
		}
	}
	f, err := h.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := h.give(name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tail reads what a log gained since it was from bytes long, at most the last 2 KiB.
func tail(f *os.File, from int64) string {
	const most = 2 << 10
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Sprintf("(the log cannot be read: %v)", err)
	}
	from = max(from, end-most)
	text := make([]byte, max(0, end-from))
	n, _ := f.ReadAt(text, from)
	return string(text[:n])
}
