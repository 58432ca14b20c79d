package session

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// modesCount is false because Windows uses access lists. The directory of the user's profile is private there.
const modesCount = false

// lockDir waits for the exclusive lock of a directory. It locks a file in the directory. The operating system releases the lock when the process
// ends.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, contextsMode)
	if err != nil {
		return nil, err
	}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped)); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
