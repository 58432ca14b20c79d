// Package serverproc runs a Carve server as a separate process, for tests and for tools that measure or attack it. It starts the server, finds its
// address, stores its output, and stops it cleanly or with kill -9. Spawn serves other programs.
package serverproc
