package claims

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// These are the outcomes for a claim that was not refused, for traces.
const (
	outcomeBound    = "bound"
	outcomeRepeated = "repeated" // bound before, by the same request
)

// reporter reports claim outcomes to metrics and traces.
type reporter struct{ *usecase.Core }

// recordClaim reports a claim's outcome. class is the class to which the claim was resolved.
func (s reporter) recordClaim(ctx context.Context, asked ipam.ClaimSpec, result usecase.Result[ipam.Claim], class ipam.ClassRef, r usecase.Request, err error) {
	repeated := result.Replayed || result.Existed
	s.recordDecision(ctx, class, r, repeated, err)
	s.trace(ctx, asked, result.Value, class, repeated, err)
}

// recordBatch reports a batch's outcome. A refused batch counts as one refusal without a class, for any number of claims. A batch's spans contain no
// class and no pool, because its claims may have different ones.
func (s reporter) recordBatch(ctx context.Context, result usecase.Result[[]ipam.Claim], r usecase.Request, err error) {
	if err != nil {
		s.recordDecision(ctx, ipam.ClassRef{}, r, result.Replayed, err)
	} else {
		for i := range result.Value {
			s.recordDecision(ctx, result.Value[i].Class, r, result.Replayed, nil)
		}
	}
	s.trace(ctx, ipam.ClaimSpec{}, ipam.Claim{}, ipam.ClassRef{}, result.Replayed, err)
}

// recordDecision counts a decision. A repeat of an earlier response and a dry run decide nothing, so they are not counted.
func (s reporter) recordDecision(ctx context.Context, class ipam.ClassRef, r usecase.Request, repeated bool, err error) {
	if r.DryRun || (repeated && err == nil) {
		return
	}
	name := ""
	if !class.IsZero() {
		name = class.Ref.String()
	}
	s.Metrics.ClaimDecided(ctx, name, ipam.CodeOf(err))
}

func (s reporter) trace(ctx context.Context, asked ipam.ClaimSpec, bound ipam.Claim, class ipam.ClassRef, repeated bool, err error) {
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
