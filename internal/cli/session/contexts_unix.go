//go:build unix

package session

import (
	"errors"
	"os"
	"syscall"
)

// modesCount reports whether the mode of a file decides who may read it.
const modesCount = true

// lockDir waits for the exclusive lock of a directory. The lock ends with the process.
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
