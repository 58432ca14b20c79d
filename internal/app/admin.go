package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof" // registers itself in http.DefaultServeMux, which no listener serves; a test checks the main listener
	"time"

	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/guard"
)

const (
	adminWriteTimeout = 2 * time.Minute // longer than a usual CPU profile
	adminClients      = 256             // limit on connections: only probes and metrics collectors need the listener
)

// admin is the second listener, for probes, metrics collectors and profiling. It does not serve the API.
type admin struct {
	listener net.Listener
	server   *http.Server
	clients  *guard.Clients
}

// listenAdmin opens the admin listener if it is configured.
func (a *App) listenAdmin(ctx context.Context, c Config, f files) error {
	if c.AdminListen == "" {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.AdminListen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s (--admin-listen): %w", c.AdminListen, err)
	}
	clients := guard.NewClients(adminClients, a.outOfClients(listenerAdmin))
	listen := clients.PlainListener
	if c.adminTLS() {
		listen = clients.Listener
	}
	a.admin = &admin{
		listener: listen(l),
		clients:  clients,
		server: &http.Server{
			Handler: a.adminHandler(c), ReadHeaderTimeout: bounded.header, ReadTimeout: bounded.read, IdleTimeout: bounded.idle, WriteTimeout: adminWriteTimeout,
			MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(ofConnections(a.Log.Handler()), slog.LevelWarn), ConnState: clients.State,
		},
	}
	if c.adminTLS() {
		f.clientCAs = nil // kubelets have no certificate
		a.admin.server.TLSConfig = f.tls(c)
	}
	return nil
}

// adminTLS reports whether the admin listener uses TLS. It does if the server has a certificate and the listener is not on loopback.
func (c Config) adminTLS() bool { return c.tls() && !loopback(c.AdminListen) }

// adminHandler serves paths that need no credentials, to all clients that can reach the listener. The main listener's handler serves the probes.
//
// pprof serves only callers on this machine, at any listen address. A profile costs CPU time and reveals the work of the process. The handler
// excludes pprof's cmdline, because the command line may contain secrets.
func (a *App) adminHandler(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/healthz", a.server.Handler)
	mux.Handle("/readyz", a.server.Handler)
	switch c.Metrics {
	case metricsOff:
	case metricsLoopback:
		mux.Handle("GET /metrics", fromHere(a.metrics.Handler().ServeHTTP))
	default:
		mux.Handle("GET /metrics", a.metrics.Handler())
	}
	mux.Handle("GET /debug/pprof/", fromHere(pprof.Index)) // includes the named profiles: heap, goroutine, allocs, ...
	mux.Handle("GET /debug/pprof/profile", fromHere(pprof.Profile))
	mux.Handle("GET /debug/pprof/trace", fromHere(pprof.Trace))
	mux.Handle("GET /debug/pprof/cmdline", http.NotFoundHandler())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// fromHere serves callers on this machine, which includes kubectl port-forward. Other callers get 404.
func fromHere(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !auth.FromHere(r) {
			http.NotFound(w, r)
			return
		}
		next(w, r)
	})
}

func (a *App) serveAdmin() {
	if a.admin == nil {
		return
	}
	run := a.admin.server.Serve
	if a.config.adminTLS() {
		run = func(l net.Listener) error { return a.admin.server.ServeTLS(l, "", "") }
	}
	if err := run(a.admin.listener); !errors.Is(err, http.ErrServerClosed) {
		a.failed <- fmt.Errorf("the admin listener stopped: %w", err)
	}
}

// closeAdmin closes the admin listener. It runs after the last request of the API. Until then, probes can see that the server is shutting down.
// closeAdmin does not wait for a running profile.
func (a *App) closeAdmin() error {
	if a.admin == nil {
		return nil
	}
	return errors.Join(a.admin.server.Close(), closed(a.admin.listener))
}

// closed closes a listener. It ignores the error if the HTTP server has already closed the listener.
func closed(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// AdminAddr returns the address of the admin listener, or "" if there is none.
func (a *App) AdminAddr() string {
	if a.admin == nil {
		return ""
	}
	return a.admin.listener.Addr().String()
}
