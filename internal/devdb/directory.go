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

// Names in a data directory; doc.go describes each.
const (
	serverLockName = "server.lock"
	engineLockName = "engine.lock"
	socketDirName  = "run"
	socketPathName = "run.path"
)

// directory is an open data directory whose server lock this process holds.
//
// All access to its content uses an os.Root, so that a symbolic link from the directory's less privileged owner cannot lead a root server outside.
type directory struct {
	dir  string // absolute
	root *os.Root

	server *os.File // server.lock, locked
	engine *os.File // engine.lock; nil once only the database holds it

	account account // user that the database runs as; set by the engine
}

// openDirectory creates the directory if necessary and takes its server lock.
func openDirectory(dir string) (*directory, error) {
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
	return lockDirectory(abs)
}

// lockDirectory takes an existing directory's server lock.
func lockDirectory(abs string) (*directory, error) {
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	h := &directory{dir: abs, root: root}
	if err := h.claimServer(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// close releases the directory. It unlocks server.lock before it closes the file: a child process that starts at this moment still has a copy of
// every descriptor, and the copy would keep the lock.
func (h *directory) close() error {
	h.handOver()
	var errs []error
	if h.server != nil {
		errs = append(errs, unlock(h.server), h.server.Close())
		h.server = nil
	}
	return errors.Join(append(errs, h.root.Close())...)
}

// exists reports whether a name exists. It follows no symbolic link.
func (h *directory) exists(name string) (bool, error) {
	_, err := h.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// mkdir creates a private directory for the database's user.
func (h *directory) mkdir(name string) error {
	if err := h.root.Mkdir(name, 0o700); err != nil {
		return err
	}
	return h.chown(name)
}

// chown makes the database's user the owner of a name, if this is another user than the process's own.
func (h *directory) chown(name string) error {
	if !h.account.switched {
		return nil
	}
	return h.root.Lchown(name, int(h.account.uid), int(h.account.gid))
}

// sync makes the names in the directory durable. PostgreSQL does so for its cluster's content, but not for the cluster's own name.
func (h *directory) sync() error {
	dir, err := h.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// logLimit is the size in bytes above which the next start renames a log.
const logLimit = 16 << 20

// openLog opens a log for appending. It keeps one older log.
func (h *directory) openLog(name string) (*os.File, error) {
	if fi, err := h.root.Lstat(name); err == nil && fi.Size() > logLimit {
		if err := h.root.Rename(name, name+".1"); err != nil {
			return nil, err
		}
	}
	f, err := h.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := h.chown(name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tail returns the text in a log after the offset start, at most the last 2 KiB.
func tail(f *os.File, start int64) string {
	const limit = 2 << 10
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Sprintf("(the log cannot be read: %v)", err)
	}
	start = max(start, end-limit)
	text := make([]byte, max(0, end-start))
	n, _ := f.ReadAt(text, start)
	return string(text[:n])
}
