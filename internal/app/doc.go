// Package app is the composition root: it builds the whole service from a Config and is the only package that imports both the HTTP adapter and the
// SQL adapter. Command server, and the end-to-end tests, start it.
package app
