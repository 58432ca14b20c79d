package devdb

import (
	"errors"
	"fmt"
)

// Errors from [Start] that a caller can distinguish with errors.Is.
var (
	// ErrInUse reports that another server uses the data directory; see [InUseError].
	ErrInUse = errors.New("data directory is in use")
	// ErrMissing reports that no suitable database program was found. The message names the program to install.
	ErrMissing = errors.New("database program not found")
	// ErrVersion reports that a major version that is not installed wrote the data.
	ErrVersion = errors.New("data directory belongs to another database version")
	// ErrForeign reports that a PostgreSQL that Carve did not start runs on the data.
	ErrForeign = errors.New("another PostgreSQL runs on this data directory")
	// ErrNotRunning reports that no server runs an embedded database in a directory.
	ErrNotRunning = errors.New("no server is running on this data directory")
)

// InUseError is returned by [Start] and [Remove] for a data directory that a running server has locked.
type InUseError struct {
	Dir string
	// PID is the server's process id, or 0 if it has not written the id yet.
	PID int
	// DSN is the URL for the server's database, or empty while it is starting. The same user's other programs can read the data with it.
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
