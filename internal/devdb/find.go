//go:build unix

package devdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Find returns the DSN for the embedded database that a running server has in a data directory, for other programs that read it. It starts nothing.
func Find(dataDir string) (dsn string, err error) {
	abs, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(abs, serverLockName)); err != nil {
		return "", fmt.Errorf("%s: %w", abs, ErrNotRunning)
	}
	h, err := lockDirectory(abs)
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
