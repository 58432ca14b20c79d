package app

import (
	"context"
	"net/http"
	"time"
)

// drain marks the server as not ready and waits for Config.DrainDelay, so that load balancers stop sending requests to it. A load balancer, such as a
// Kubernetes Service, sends requests until it has polled /readyz and updated its targets. The server must respond until then.
func (a *App) drain(ctx context.Context) {
	a.draining.Store(true)
	if a.stop == nil || a.config.DrainDelay == 0 { // nil: the start failed, so the server has not served yet
		return
	}
	a.Log.InfoContext(ctx, "stop requested: still serving, but no longer ready", "for", a.config.DrainDelay)
	delay := time.NewTimer(a.config.DrainDelay)
	defer delay.Stop()
	select {
	case <-ctx.Done():
	case <-delay.C:
	}
}

// closeWhenDraining closes each connection after its next response during shutdown. A client with a kept-alive connection does not ask the balancer
// again. Without closeWhenDraining, it would send requests to this server until the server cuts the connection, possibly during a request.
func (a *App) closeWhenDraining(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
