// Package serverproc runs a Carve server as a separate process, for tests and for tools that measure or attack the server. It starts the server,
// finds its address and stores its output. It stops the server cleanly or with kill -9. Spawn runs other programs.
package serverproc
