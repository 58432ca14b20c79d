package claims

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// What became of a claim that was not refused.
const (
	outcomeBound    = "bound"
	outcomeRepeated = "repeated" // it was bound before, by this very request
)

// followClaim tells what became of a claim.
func (s *Claims) followClaim(ctx context.Context, asked ipam.ClaimSpec, bound ipam.Claim, class ipam.ClassRef, repeated bool, err error) {
	if s.Tracer == nil {
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
	s.Tracer.ClaimDecided(ctx, usecase.NameOf(class.Ref), usecase.NameOf(pool), length, outcome)
}

// followBatch tells what became of a batch. Its claims may have different classes and pools, which are on none of its spans.
func (s *Claims) followBatch(ctx context.Context, repeated bool, err error) {
	s.followClaim(ctx, ipam.ClaimSpec{}, ipam.Claim{}, ipam.ClassRef{}, repeated, err)
}

// followGroup is what a group's transaction runs in; ended is called when it has.
func (s *Claims) followGroup(ctx context.Context, pool ipam.Pool, members []*member) (_ context.Context, ended func()) {
	if s.Tracer == nil {
		return ctx, func() {}
	}
	contexts, waited := make([]context.Context, len(members)), make([]time.Duration, len(members))
	for i, m := range members {
		if m.waited < 0 {
			m.waited = s.Ticks().Sub(m.joined)
		}
		contexts[i], waited[i] = m.ctx, m.waited //nolint:fatcontext // they are collected, none is in another
	}
	ctx = s.Tracer.GroupBegan(ctx, pool.Ref().String(), contexts, waited)
	return ctx, func() { s.Tracer.GroupEnded(ctx) }
}

// joins notes when a member began to wait.
func (s *Claims) joins(m *member) {
	if s.Tracer != nil {
		m.joined, m.waited = s.Ticks(), -1
	}
}
