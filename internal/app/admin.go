package app

import (
	"context"
	"fmt"
	"log/slog"
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

// listenAdmin opens the admin listener if it is configured. This listener is for probes, metrics collectors and profiling. It does not serve the API.
func (a *App) listenAdmin(ctx context.Context, c Config, f files) error {
	if c.AdminListen == "" {
		return nil
	}
	clients := guard.NewClients(adminClients, a.outOfClients(listenerAdmin))
	a.admin = &endpoint{name: listenerAdmin, clients: clients, server: &http.Server{
		Handler: a.adminHandler(c), ReadHeaderTimeout: defaultBounds.header, ReadTimeout: defaultBounds.read, IdleTimeout: defaultBounds.idle, WriteTimeout: adminWriteTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(connectionLog(a.Log.Handler()), slog.LevelWarn), ConnState: clients.State,
	}}
	if c.adminTLS() {
		f.clientCAs = nil // kubelets have no certificate
		a.admin.server.TLSConfig = f.tls(c)
	}
	if err := a.admin.open(ctx, c.AdminListen); err != nil {
		return fmt.Errorf("cannot listen on %s (--admin-listen): %w", c.AdminListen, err)
	}
	return nil
}

// adminTLS reports whether the admin listener uses TLS. It does if the server has a certificate and the listener is not on loopback.
func (c Config) adminTLS() bool { return c.tls() && !loopback(c.AdminListen) }

// adminHandler serves paths that need no credentials, to all clients that can reach the listener. The main listener's handler serves the probes.
//
// pprof serves only callers on this machine, at any listen address. A profile costs CPU time and reveals the process's work. The handler excludes
// pprof's cmdline, because the command line may contain secrets.
func (a *App) adminHandler(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/healthz", a.main.server.Handler)
	mux.Handle("/readyz", a.main.server.Handler)
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
		if !auth.FromThisMachine(r) {
			http.NotFound(w, r)
			return
		}
		next(w, r)
	})
}

// AdminAddr returns the admin listener's address, or "" if there is none.
func (a *App) AdminAddr() string { return a.admin.address() }
