package app

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/carve-ipam/carve/internal/guard"
)

// bounds are a connection's timeouts. Requests are small. Config.RequestTimeout separately limits their work.
type bounds struct {
	header time.Duration // for the TLS handshake, and for a request's headers
	read   time.Duration // for a whole request
	idle   time.Duration // checkRange two requests
	slack  time.Duration // for a response, beyond the request's deadline
	grace  time.Duration // for a body, before the minimum rate slowestBody applies
}

var defaultBounds = bounds{header: 5 * time.Second, read: 30 * time.Second, idle: 2 * time.Minute, slack: 15 * time.Second, grace: 5 * time.Second}

const (
	maxHeader   = 32 << 10
	slowestBody = 32 << 10 // bytes per second
	smallBody   = 32 << 10 // fits a claim, and a batch of a hundred
	largeBody   = 1 << 20  // the API's maximum
	largeAtOnce = 32
)

// Limits on one HTTP/2 connection. All its streams together may buffer one body of the largest size.
var http2 = http.HTTP2Config{
	MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 256 << 10,
	SendPingTimeout: time.Minute, PingTimeout: 15 * time.Second, WriteByteTimeout: 30 * time.Second,
}

// newServer returns the API's HTTP server. Its limits protect it from slow and hostile clients. docs/security.md explains each limit.
func (a *App) newServer(c Config, handler http.Handler) *endpoint {
	b := c.bounds
	if b == (bounds{}) {
		b = defaultBounds
	}
	clients := guard.NewClients(a.maxClients(c), a.outOfClients(listenerAPI))
	bodies := guard.Bodies{
		Pace:  guard.Pace{Grace: b.grace, Rate: slowestBody, Longest: min(b.read, c.RequestTimeout)},
		Small: smallBody, Large: largeBody, LargeAtOnce: largeAtOnce,
	}
	return &endpoint{name: listenerAPI, clients: clients, server: &http.Server{
		Handler: bodies.Handler(handler), ConnState: clients.State, ConnContext: clients.Context,
		ReadHeaderTimeout: b.header, ReadTimeout: b.read, IdleTimeout: b.idle, WriteTimeout: c.RequestTimeout + b.slack,
		MaxHeaderBytes: maxHeader, HTTP2: &http2, ErrorLog: slog.NewLogLogger(connectionLog(a.Log.Handler()), slog.LevelWarn),
	}}
}
