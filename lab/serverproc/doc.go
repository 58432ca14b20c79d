// Package serverproc runs a server of Carve as a process of its own, for tools that measure or attack it and for tests: it starts one, finds
// out where it listens, keeps what it says, and ends it in order or by kill -9. Spawn does the part of it that any program needs.
package serverproc
