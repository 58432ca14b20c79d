package alloc

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
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

// What became of a claim that was not refused.
const (
	outcomeBound    = "bound"
	outcomeRepeated = "repeated" // it was bound before, by this very request
)

// followClaim tells what became of a claim.
func (s *Service) followClaim(ctx context.Context, asked ipam.ClaimSpec, bound ipam.Claim, class ipam.ClassRef, repeated bool, err error) {
	if s.tracer == nil {
		return
	}
	pool, length, outcome := asked.PoolRef, -1, outcomeBound
	if asked.PrefixLength != nil {
		length = *asked.PrefixLength
	} else if exact := asked.Exact(); exact.IsValid() {
		length = exact.Bits()
	}
	switch {
	case err != nil:
		outcome = string(ipam.CodeOf(err))
	case repeated:
		outcome = outcomeRepeated
	}
	if err == nil {
		pool, length = bound.Pool, bound.Block.Bits()
	}
	s.tracer.ClaimDecided(ctx, nameOf(class.Ref), nameOf(pool), length, outcome)
}

// followBatch tells what became of a batch. Its claims may have different classes and pools, which are on none of its spans.
func (s *Service) followBatch(ctx context.Context, repeated bool, err error) {
	s.followClaim(ctx, ipam.ClaimSpec{}, ipam.Claim{}, ipam.ClassRef{}, repeated, err)
}

func nameOf(r ipam.Ref) string {
	if r.Name == "" {
		return ""
	}
	return r.String()
}

// followGroup is what a group's transaction runs in; ended is called when it has.
func (s *Service) followGroup(ctx context.Context, pool ipam.Pool, members []*member) (_ context.Context, ended func()) {
	if s.tracer == nil {
		return ctx, func() {}
	}
	contexts, waited := make([]context.Context, len(members)), make([]time.Duration, len(members))
	for i, m := range members {
		if m.waited < 0 {
			m.waited = s.ticks().Sub(m.joined)
		}
		contexts[i], waited[i] = m.ctx, m.waited //nolint:fatcontext // they are collected, none is in another
	}
	ctx = s.tracer.GroupBegan(ctx, pool.Ref().String(), contexts, waited)
	return ctx, func() { s.tracer.GroupEnded(ctx) }
}

// joins notes when a member began to wait.
func (s *Service) joins(m *member) {
	if s.tracer != nil {
		m.joined, m.waited = s.ticks(), -1
	}
}
