//go:build unix

package devdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// socketName is PostgreSQL's name for the socket of port 5432. It is only a name: PostgreSQL does not listen on a port.
const socketName = ".s.PGSQL.5432"

// socketPathLimit is the maximum length of a socket path in bytes. Linux allows 107, other systems 103; some clients need a few bytes themselves.
const socketPathLimit = 99

// outsidePrefix is the prefix of socket directories outside a data directory.
const outsidePrefix = "carve-"

// makeSocketDir creates a new directory for the socket that only the database's user can enter: run/ in the data directory, or, if that path is
// unsuitable, a directory with a short path, which run.path records.
//
// It first removes the socket directory of an earlier run. This process holds engine.lock, so no database uses it. PostgreSQL would refuse to start
// if a socket lock file remained there whose process id now belongs to another process.
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

// forgetSocketDir removes the directory in run.path if it belongs to Carve: the file may be old, and another program may use the name now.
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

// shortDirs returns the parents for a socket directory, best first: the system's directory for this user's sockets, then the directories for
// temporary files.
func shortDirs() []string {
	var dirs []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		// Under sudo the variable may refer to another user's directory.
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() {
				dirs = append(dirs, dir)
			}
		}
	}
	return append(dirs, os.TempDir(), "/tmp")
}

// socketDirFits reports whether clients and the server can use a socket in dir. Both accept lists of directories separated by commas, with different
// rules for quoting, so the path must not need any.
func socketDirFits(dir string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	return filepath.IsAbs(dir) && len(filepath.Join(dir, socketName)) <= socketPathLimit &&
		strings.IndexFunc(dir, func(r rune) bool { return !plain(r) }) < 0
}
