//go:build unix

package devdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// socketName is what PostgreSQL calls the socket of port 5432. It is only a
// name: nothing listens on a port.
const socketName = ".s.PGSQL.5432"

// socketPathLimit is the most bytes a socket path may have. Linux takes 107,
// other systems 103; some clients keep a few for themselves.
const socketPathLimit = 99

// outsidePrefix begins the name of every socket directory outside a data directory.
const outsidePrefix = "carve-"

// makeSocketDir makes a fresh directory for the socket that only the
// database's user can enter: run/ in the data directory, or a short one elsewhere,
// noted in run.path, where that name would not do.
//
// What an earlier run left is removed first: engine.lock is held, so no one
// uses it, while PostgreSQL would refuse to start beside a socket lock file whose
// process id happens to belong to some other process by now.
func (h *home) makeSocketDir() (string, error) {
	h.forgetSocketDir()
	if err := h.root.RemoveAll(socketDirName); err != nil {
		return "", err
	}
	if dir := filepath.Join(h.dir, socketDirName); socketDirFits(dir) {
		return dir, h.mkdir(socketDirName)
	}
	var last error
	for _, base := range shortDirs() {
		dir, err := os.MkdirTemp(base, outsidePrefix)
		if err != nil {
			last = err
			continue
		}
		if !socketDirFits(dir) {
			_ = os.Remove(dir)
			continue
		}
		return dir, h.adoptSocketDir(dir)
	}
	return "", fmt.Errorf("no directory for the unix socket: the path %s is too long, and none of %s works: %w",
		h.dir, strings.Join(shortDirs(), ", "), last)
}

func (h *home) adoptSocketDir(dir string) error {
	if err := h.root.WriteFile(socketPathName, []byte(dir+"\n"), 0o600); err != nil {
		return err
	}
	if err := h.give(socketPathName); err != nil {
		return err
	}
	if !h.account.switched {
		return nil
	}
	return os.Lchown(dir, int(h.account.uid), int(h.account.gid))
}

// forgetSocketDir removes the directory that run.path names, if it is one of
// ours: the note may be old and the name somebody else's by now.
func (h *home) forgetSocketDir() {
	text, err := h.root.ReadFile(socketPathName)
	if err != nil {
		return
	}
	dir := strings.TrimSpace(string(text))
	if fi, err := os.Lstat(dir); err == nil && fi.IsDir() && strings.HasPrefix(filepath.Base(dir), outsidePrefix) {
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) == h.account.userID() {
			_ = os.Remove(filepath.Join(dir, socketName))
			_ = os.Remove(filepath.Join(dir, socketName+".lock"))
			_ = os.Remove(dir)
		}
	}
	_ = h.root.Remove(socketPathName)
}

// shortDirs are places for a socket directory, best first: the one the system
// keeps for this user's sockets, then those for everybody's temporary files.
func shortDirs() []string {
	var dirs []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		// Under sudo it may still be the directory of another user.
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() {
				dirs = append(dirs, dir)
			}
		}
	}
	return append(dirs, os.TempDir(), "/tmp")
}

// socketDirFits reports whether clients and server can name a socket in dir.
// Both take lists of directories separated by commas, with quoting rules of their own,
// so only names that need none will do.
func socketDirFits(dir string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	return filepath.IsAbs(dir) && len(filepath.Join(dir, socketName)) <= socketPathLimit &&
		strings.IndexFunc(dir, func(r rune) bool { return !plain(r) }) < 0
}
