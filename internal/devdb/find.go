//go:build unix

package devdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Find answers the DSN of the embedded database that a running server keeps in a
// data directory, for programs that look at it from outside. It starts nothing.
func Find(dataDir string) (dsn string, err error) {
	abs, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(abs, serverLockName)); err != nil {
		return "", fmt.Errorf("%s: %w", abs, ErrNotRunning)
	}
	h, err := lockHome(abs)
	var used *InUseError
	switch {
	case err == nil:
		return "", errors.Join(fmt.Errorf("%s: %w", abs, ErrNotRunning), h.close())
	case errors.As(err, &used) && used.DSN != "":
		return used.DSN, nil
	case errors.As(err, &used):
		return "", fmt.Errorf("%s: the server is still starting: %w", abs, err)
	default:
		return "", err
	}
}
