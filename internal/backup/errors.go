package backup

import "errors"

// Errors that a caller can distinguish with errors.Is.
var (
	// ErrUsage reports options that do not fit together.
	ErrUsage = errors.New("not possible")
	// ErrNotEmpty reports a database with data that the caller has not allowed to replace.
	ErrNotEmpty = errors.New("the database is not empty")
	// ErrInUse reports a database that a server uses.
	ErrInUse = errors.New("a server is running on the database")
	// ErrRegions reports that backup and database do not have the same regions in the same order.
	ErrRegions = errors.New("the regions differ")
	// ErrDamaged reports a backup that differs from its manifest.
	ErrDamaged = errors.New("the backup is damaged")
)
