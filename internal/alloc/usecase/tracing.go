package usecase

import (
	"context"
	"time"
)

// Tracer is told, of requests that somebody follows, what was decided and what they shared. It must not block, and is safe for concurrent use.
type Tracer interface {
	// ClaimDecided: what became of a claim, or of a batch of them: bound, repeated, or the code of the refusal. class and pool are project/name, ""
	// when not known; prefixLength is -1 then.
	ClaimDecided(ctx context.Context, class, pool string, prefixLength int, outcome string)
	// GroupBegan: a transaction of a pool begins that serves requests, and how long each has waited for it. What is done for it gets the context that
	// is answered, and so does GroupEnded.
	GroupBegan(ctx context.Context, pool string, members []context.Context, waited []time.Duration) context.Context
	GroupEnded(ctx context.Context)
}
