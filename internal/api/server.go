package api

import "github.com/carve-ipam/carve/internal/api/gen"

// server implements the contract's operations, with one method for each. A method converts the request, calls one use case and converts the result.
// It returns every error and writes none.
type server struct {
	projectHandlers
	spaceHandlers
	poolHandlers
	classHandlers
	scopeHandlers
	claimHandlers
	allocationHandlers
	memberHandlers
	keyHandlers
	poolGrantHandlers
	spaceGrantHandlers
	quotaHandlers
	consumerHandlers
	trailHandlers
	changeHandlers
	webhookHandlers
	alertHandlers
	callerHandlers
}

var _ gen.ServerInterface = (*server)(nil)

func newServer(cfg Config) *server {
	use := cfg.Service
	return &server{
		projectHandlers: projectHandlers{use}, spaceHandlers: spaceHandlers{use},
		poolHandlers: poolHandlers{use, cfg.Clock, use}, classHandlers: classHandlers{use, use},
		scopeHandlers: scopeHandlers{use, cfg.Clock}, claimHandlers: claimHandlers{use, use}, allocationHandlers: allocationHandlers{use, use},
		memberHandlers: memberHandlers{use}, keyHandlers: keyHandlers{use, cfg.Clock},
		poolGrantHandlers: poolGrantHandlers{use}, spaceGrantHandlers: spaceGrantHandlers{use}, quotaHandlers: quotaHandlers{use, use},
		consumerHandlers: consumerHandlers{use, use}, changeHandlers: changeHandlers{use, cfg.Authenticator, cfg.Clock},
		webhookHandlers: webhookHandlers{use}, alertHandlers: alertHandlers{use, use},
		trailHandlers: trailHandlers{use}, callerHandlers: callerHandlers{use, cfg.Version, cfg.Ready},
	}
}
