package claims

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// decided tells what became of a claim. What only repeats an earlier answer decides nothing, and neither does a dry run.
func (s *Claims) decided(ctx context.Context, class ipam.ClassRef, r usecase.Request, repeated bool, err error) {
	if r.DryRun || (repeated && err == nil) {
		return
	}
	name := ""
	if !class.IsZero() {
		name = class.Ref.String()
	}
	s.Metrics.ClaimDecided(ctx, name, ipam.CodeOf(err))
}

// decidedAll is decided for a batch: one that is refused is one refusal, of no class, however many claims it holds.
func (s *Claims) decidedAll(ctx context.Context, bound []ipam.Claim, r usecase.Request, repeated bool, err error) {
	if err != nil {
		s.decided(ctx, ipam.ClassRef{}, r, repeated, err)
		return
	}
	for _, c := range bound {
		s.decided(ctx, c.Class, r, repeated, nil)
	}
}

// groupRan tells of a transaction of a pool that was committed. A dry run was not, whatever it found.
func (s *Claims) groupRan(ctx context.Context, members []*member) {
	if !members[0].request.DryRun { // which runs alone
		s.Metrics.GroupRan(ctx, len(members))
	}
}
