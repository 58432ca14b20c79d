package backup

import "errors"

// What a caller may want to tell apart, with errors.Is.
var (
	// ErrUsage: what was asked for does not go together.
	ErrUsage = errors.New("not possible")
	// ErrNotEmpty: the database holds something, and nobody said that it may go.
	ErrNotEmpty = errors.New("the database is not empty")
	// ErrInUse: a server works on the database.
	ErrInUse = errors.New("a server is running on the database")
	// ErrRegions: the backup and the database do not have the same regions in the same order.
	ErrRegions = errors.New("the regions differ")
	// ErrDamaged: the backup is not what its manifest says.
	ErrDamaged = errors.New("the backup is damaged")
)
