// Package app is the composition root. It builds the whole service from a Config. No other package imports both the HTTP adapter and the SQL adapter.
// The command server and the end-to-end tests start the service with it.
package app
