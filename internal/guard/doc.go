// Package guard protects an HTTP server from slow and hostile clients. It limits the open connections and the time that a body may take. It works on
// connections. Other packages identify callers and limit their requests.
package guard
