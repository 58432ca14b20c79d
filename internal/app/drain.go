package app

import (
	"context"
	"net/http"
	"time"
)

// drain lets those who send requests here learn that they should stop, for Config.DrainDelay. Whoever balances load, as a Kubernetes
// Service, goes on sending for as long as it takes to ask /readyz again and to tell everybody: until then there must be an answer.
func (a *App) drain(ctx context.Context) {
	a.draining.Store(true)
	if a.listener == nil || a.config.DrainDelay == 0 {
		return
	}
	a.Log.InfoContext(ctx, "asked to stop: still serving, and not ready any more", "for", a.config.DrainDelay)
	delay := time.NewTimer(a.config.DrainDelay)
	defer delay.Stop()
	select {
	case <-ctx.Done():
	case <-delay.C:
	}
}

// parting ends connections with their next answer while the server is being stopped. A connection that is kept alive never asks a
// balancer again where to go: without this its requests would come here until it is cut, and one of them may be under way then.
func (a *App) parting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
