package devdb

import (
	"errors"
	"fmt"
)

// What a caller of [Start] may want to tell apart, with errors.Is.
var (
	// ErrInUse: another server uses the data directory; see [InUseError].
	ErrInUse = errors.New("data directory is in use")
	// ErrMissing: no suitable database program was found; the text says what to install.
	ErrMissing = errors.New("database program not found")
	// ErrVersion: the data was written by a major version that is not installed.
	ErrVersion = errors.New("data directory belongs to another database version")
	// ErrForeign: a PostgreSQL that Carve did not start runs on the data.
	ErrForeign = errors.New("another PostgreSQL runs on this data directory")
	// ErrNotRunning says that no server has an embedded database up in a directory.
	ErrNotRunning = errors.New("no server is running on this data directory")
)

// InUseError is returned by [Start] and [Remove] for a data directory that a
// living server holds.
type InUseError struct {
	Dir string
	// PID is the holder's process id, or 0 when it has not written it yet.
	PID int
	// DSN is where the holder's database listens, or empty while it is starting. With it
	// another program of the same user can look at data that is being served.
	DSN string
}

func (e *InUseError) Error() string {
	holder := "another process"
	if e.PID > 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("data directory %s is in use by %s: only one server can use a directory; stop that server, or use another directory",
		e.Dir, holder)
}

// Is makes errors.Is(err, ErrInUse) true.
func (e *InUseError) Is(target error) bool { return target == ErrInUse }
