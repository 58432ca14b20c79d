package app

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/carve-ipam/carve/internal/guard"
)

// bounds are the timeouts of a connection. Requests are small. Config.RequestTimeout is the deadline of their work, separate from these timeouts.
type bounds struct {
	header time.Duration // for the headers of a request, and before them for the TLS handshake
	read   time.Duration // for a whole request
	idle   time.Duration // between two requests
	slack  time.Duration // for a response, beyond the request's deadline
	grace  time.Duration // for a body, before the minimum rate slowestBody applies
}

var bounded = bounds{header: 5 * time.Second, read: 30 * time.Second, idle: 2 * time.Minute, slack: 15 * time.Second, grace: 5 * time.Second}

const (
	maxHeader   = 32 << 10
	slowestBody = 32 << 10 // bytes per second
	smallBody   = 32 << 10 // fits a claim, and a batch of a hundred
	largeBody   = 1 << 20  // the API's maximum
	largeAtOnce = 32
)

// Limits of one HTTP/2 connection. All streams of a connection together may buffer one body of the largest size.
var http2 = http.HTTP2Config{
	MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 256 << 10,
	SendPingTimeout: time.Minute, PingTimeout: 15 * time.Second, WriteByteTimeout: 30 * time.Second,
}

// newServer returns the HTTP server. Its limits expect clients that are slow or hostile. docs/security.md explains each limit.
func (a *App) newServer(c Config, handler http.Handler) *http.Server {
	b := c.bounds
	if b == (bounds{}) {
		b = bounded
	}
	a.clients = guard.NewClients(a.maxClients(c), a.outOfClients(listenerAPI))
	bodies := guard.Bodies{
		Pace:  guard.Pace{Grace: b.grace, Rate: slowestBody, Most: min(b.read, c.RequestTimeout)},
		Small: smallBody, Large: largeBody, LargeAtOnce: largeAtOnce,
	}
	return &http.Server{
		Handler: bodies.Handler(handler), ConnState: a.clients.State, ConnContext: a.clients.Context,
		ReadHeaderTimeout: b.header, ReadTimeout: b.read, IdleTimeout: b.idle, WriteTimeout: c.RequestTimeout + b.slack,
		MaxHeaderBytes: maxHeader, HTTP2: &http2, ErrorLog: slog.NewLogLogger(ofConnections(a.Log.Handler()), slog.LevelWarn),
	}
}
