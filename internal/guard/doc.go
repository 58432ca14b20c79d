// Package guard protects an HTTP server's clients from slow and hostile ones: it limits open connections and the time that a body may take. It works
// on the transport; inner layers identify callers and limit their requests.
package guard
