package app

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/carve-ipam/carve/internal/guard"
)

// bounds are those of a connection. Requests are small, and have a deadline of their own, Config.RequestTimeout.
type bounds struct {
	header time.Duration // for the head of a request, and for the handshake of TLS before it
	read   time.Duration // for all of a request
	idle   time.Duration // between two requests
	slack  time.Duration // for an answer, on top of the request's deadline
	grace  time.Duration // for a body, before it must come at slowestBody
}

var bounded = bounds{header: 5 * time.Second, read: 30 * time.Second, idle: 2 * time.Minute, slack: 15 * time.Second, grace: 5 * time.Second}

const (
	maxHeader   = 32 << 10
	slowestBody = 32 << 10 // bytes a second
	smallBody   = 32 << 10 // holds a claim, and a batch of a hundred
	largeBody   = 1 << 20  // the largest that the API takes
	largeAtOnce = 32
)

// What one connection of HTTP/2 may ask for at once. Its buffers hold a body of the largest size, and no more for all streams together.
var http2 = http.HTTP2Config{
	MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 256 << 10,
	SendPingTimeout: time.Minute, PingTimeout: 15 * time.Second, WriteByteTimeout: 30 * time.Second,
}

// newServer is what serves the API to clients that may be slow, or hostile. docs/security.md says what each bound is for.
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
