//go:build !linux

package dbtest

// inMemory: there is no directory in memory that every such system has.
func inMemory() string { return "" }
