//go:build !unix

package app

// openFiles reports that the limit is unknown on this system.
func openFiles() (n int, known bool) { return 0, false }
