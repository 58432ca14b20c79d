package usecase

import (
	"context"
	"time"
)

// Tracer adds decisions and shared work to requests' traces. It must not block, and is safe for concurrent use.
type Tracer interface {
	// ClaimDecided records the outcome for a claim or a batch: bound, repeated, or a refusal's code. class and pool are project/name, or "" if
	// unknown; prefixLength is then -1.
	ClaimDecided(ctx context.Context, class, pool string, prefixLength int, outcome string)
	// GroupBegan records the start of a pool's transaction that serves several requests, with the time that each has waited. The transaction runs in
	// the returned context, and GroupEnded gets the same context.
	GroupBegan(ctx context.Context, pool string, members []context.Context, waited []time.Duration) context.Context
	GroupEnded(ctx context.Context)
}
