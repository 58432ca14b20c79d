package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof" // puts itself into http.DefaultServeMux, which is served nowhere; a test asks the main listener for it
	"time"

	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/guard"
)

const (
	adminWriteTimeout = 2 * time.Minute // a CPU profile may be asked to take as long
	adminClients      = 256             // probes and collectors; nobody else belongs there
)

// admin is the second listener: for probes, collectors of metrics and whoever looks into the process. The API is not there.
type admin struct {
	listener net.Listener
	server   *http.Server
	clients  *guard.Clients
}

// listenAdmin opens the admin listener, if there is to be one.
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

// adminTLS reports whether the admin listener speaks TLS: beyond loopback, when the server has a certificate.
func (c Config) adminTLS() bool { return c.tls() && !loopback(c.AdminListen) }

// adminHandler serves what nobody needs credentials for, to those who can reach it. Probes are answered as on the main listener, by the same code.
//
// pprof answers callers on this machine alone, whatever the address: a profile costs processor time and shows what the process is doing.
// Not there at all is its cmdline, which would show what somebody wrote on the command line.
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
	mux.Handle("GET /debug/pprof/", fromHere(pprof.Index)) // with the profiles that have a name: heap, goroutine, allocs, ...
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

// fromHere answers callers on this machine, which includes those that kubectl port-forward brings; to others there is nothing at the path.
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

// closeAdmin comes after the requests have ended: until then probes hear that the server is going. A profile that is being taken is not waited for.
func (a *App) closeAdmin() error {
	if a.admin == nil {
		return nil
	}
	return errors.Join(a.admin.server.Close(), closed(a.admin.listener))
}

// closed closes a listener that may have been closed by its server.
func closed(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// AdminAddr is where the admin listener listens; "" without one.
func (a *App) AdminAddr() string {
	if a.admin == nil {
		return ""
	}
	return a.admin.listener.Addr().String()
}
