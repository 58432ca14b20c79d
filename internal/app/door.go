package app

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/carve-ipam/carve/internal/guard"
)

// door is an HTTP server with its listener and the limit on its connections.
type door struct {
	name     string // in metrics
	server   *http.Server
	clients  *guard.Clients
	listener net.Listener // nil before open
}

// open listens at an address. serve must follow: until then, clients connect and wait.
func (d *door) open(ctx context.Context, address string) error {
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
func (d *door) serve() (err error) {
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
func (d *door) close() error {
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
func (d *door) address() string {
	if d == nil || d.listener == nil {
		return ""
	}
	return d.listener.Addr().String()
}
