package backup

import "errors"

// Errors that a caller can distinguish with errors.Is.
var (
	// ErrUsage reports that the options do not fit together or do not fit the database.
	ErrUsage = errors.New("not possible")
	// ErrNotEmpty reports that the database has data, and the caller has not allowed the restore to replace it.
	ErrNotEmpty = errors.New("the database is not empty")
	// ErrInUse reports that a server uses the database.
	ErrInUse = errors.New("a server is running on the database")
	// ErrRegions reports that the backup and the database do not have the same regions in the same order.
	ErrRegions = errors.New("the regions differ")
	// ErrDamaged reports that a backup differs from its manifest.
	ErrDamaged = errors.New("the backup is damaged")
)
