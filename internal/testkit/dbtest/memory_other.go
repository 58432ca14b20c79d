//go:build !linux

package dbtest

// inMemory returns "", because these systems have no common directory in memory.
func inMemory() string { return "" }
