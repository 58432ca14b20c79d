//go:build unix

package devdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Remove deletes a data directory with its content. If a server or a database uses the directory, it returns an [ErrInUse]. It also returns an error
// if the directory is no data directory, but not if the directory does not exist. Tests remove their own directories with it, and the directories
// that killed tests have left.
func Remove(dir string) (err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(abs); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(abs, serverLockName)); err != nil {
		return fmt.Errorf("%s is not a data directory of Carve: %w", abs, err)
	}
	h, err := lockDirectory(abs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if h.engine, err = h.openLock(engineLockName); err != nil {
		return err
	}
	if free, err := tryLock(h.engine); err != nil || !free {
		return errors.Join(err, &InUseError{Dir: abs})
	}
	if owner, found, err := h.ownerOf(clusterName); err == nil && found {
		h.account = owner
		h.forgetSocketDir()
	}
	names, err := fs.ReadDir(h.root.FS(), ".")
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		// The lock files stay until the directory itself is removed.
		if !strings.HasSuffix(name.Name(), ".lock") {
			errs = append(errs, h.root.RemoveAll(name.Name()))
		}
	}
	return errors.Join(append(errs, os.RemoveAll(abs))...)
}
