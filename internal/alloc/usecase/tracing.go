package usecase

import (
	"context"
	"time"
)

// Tracer adds decisions and shared work to the traces of requests. It must not block, and must be safe for concurrent use.
type Tracer interface {
	// ClaimDecided records the outcome for a claim or a batch. outcome is bound, repeated, or a refusal's code. class and pool are project/name, or
	// empty if unknown. If prefixLength is unknown, it is -1.
	ClaimDecided(ctx context.Context, class, pool string, prefixLength int, outcome string)
	// GroupBegan records the start of a pool's transaction that serves several requests. waited is the time for which each request has waited. The
	// transaction runs in the returned context. GroupEnded gets the same context.
	GroupBegan(ctx context.Context, pool string, members []context.Context, waited []time.Duration) context.Context
	GroupEnded(ctx context.Context)
}
