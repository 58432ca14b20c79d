//go:build unix

package devdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// socketName is PostgreSQL's socket name for port 5432. It is only a name, because PostgreSQL does not listen on a port.
const socketName = ".s.PGSQL.5432"

// socketPathLimit is a socket path's maximum length in bytes. Linux allows 107, and other systems allow 103. Some clients need a few bytes of it
// themselves.
const socketPathLimit = 99

// outsidePrefix begins the name of a socket directory that is outside a data directory.
const outsidePrefix = "carve-"

// makeSocketDir creates a new directory for the socket. Only the database's user can enter it. It is run/ in the data directory if that path is
// suitable. Otherwise it is a directory with a short path, and run.path stores that path.
//
// makeSocketDir first removes an earlier run's socket directory. This process holds engine.lock, so no database uses that directory. PostgreSQL would
// refuse to start if the directory contained a socket lock file with a process id that now belongs to another process.
func (h *directory) makeSocketDir() (string, error) {
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

func (h *directory) adoptSocketDir(dir string) error {
	if err := h.root.WriteFile(socketPathName, []byte(dir+"\n"), 0o600); err != nil {
		return err
	}
	if err := h.chown(socketPathName); err != nil {
		return err
	}
	if !h.account.switched {
		return nil
	}
	return os.Lchown(dir, int(h.account.uid), int(h.account.gid))
}

func isOwner(uid int, fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}

// forgetSocketDir removes the directory that run.path names, if it belongs to Carve. It checks this because run.path may be old, and another program
// may use the directory's name now.
func (h *directory) forgetSocketDir() {
	text, err := h.root.ReadFile(socketPathName)
	if err != nil {
		return
	}
	dir := strings.TrimSpace(string(text))
	if fi, err := os.Lstat(dir); err == nil && fi.IsDir() && strings.HasPrefix(filepath.Base(dir), outsidePrefix) && isOwner(h.account.userID(), fi) {
		_ = os.Remove(filepath.Join(dir, socketName))
		_ = os.Remove(filepath.Join(dir, socketName+".lock"))
		_ = os.Remove(dir)
	}
	_ = h.root.Remove(socketPathName)
}

// shortDirs returns the directories in which a socket directory may be created, best first. The first is the system's directory for this user's
// sockets. Then come the directories for temporary files.
func shortDirs() []string {
	var dirs []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		// Under sudo the variable may refer to another user's directory.
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() && isOwner(os.Geteuid(), fi) {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, os.TempDir(), "/tmp")
}

// socketDirFits reports whether clients and the server can use a socket in dir. Both accept several directories, separated by commas, but with
// different rules for quotes. So the path must contain only characters that need no quotes.
func socketDirFits(dir string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	return filepath.IsAbs(dir) && len(filepath.Join(dir, socketName)) <= socketPathLimit &&
		strings.IndexFunc(dir, func(r rune) bool { return !plain(r) }) < 0
}
