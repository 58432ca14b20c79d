package app

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/carve-ipam/carve/internal/guard"
)

// endpoint is an HTTP server with its listener and its limit on connections.
type endpoint struct {
	name     string // in metrics
	server   *http.Server
	clients  *guard.Clients
	listener net.Listener // nil before open
}

// open listens at an address. Call serve next, because clients can already connect and wait.
func (d *endpoint) open(ctx context.Context, address string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	if d.server.TLSConfig != nil {
		d.listener = d.clients.Listener(l)
	} else {
		d.listener = d.clients.PlainListener(l)
	}
	return nil
}

// serve serves requests until the server is closed, by HTTPS if the server has a TLS configuration. Then it returns nil.
func (d *endpoint) serve() (err error) {
	if d.server.TLSConfig != nil {
		err = d.server.ServeTLS(d.listener, "", "")
	} else {
		err = d.server.Serve(d.listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// close closes the server and the listener without waiting for requests.
func (d *endpoint) close() error {
	err := d.server.Close()
	if d.listener == nil {
		return err
	}
	if late := d.listener.Close(); !errors.Is(late, net.ErrClosed) { // the server closes a listener that it serves
		err = errors.Join(err, late)
	}
	return err
}

// address returns the listener's address, or "" before open.
func (d *endpoint) address() string {
	if d == nil || d.listener == nil {
		return ""
	}
	return d.listener.Addr().String()
}
