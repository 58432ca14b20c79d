//go:build unix

package session

import (
	"errors"
	"os"
	"syscall"
)

// modesCount is true because a file's mode determines the users that may read it.
const modesCount = true

// lockDir waits for the exclusive lock of a directory. The operating system releases the lock when the process ends.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, err
		}
	}
}
