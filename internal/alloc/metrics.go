package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Metrics is told what the use cases do. It must not block, and is safe for concurrent use.
type Metrics interface {
	// ClaimDecided: a claim was bound (refusal ""), or refused. class is project/name of the class that it was resolved to; "" when
	// none took part, or none was found.
	ClaimDecided(ctx context.Context, class string, refusal ipam.Code)
	// GroupRan: one transaction of a pool was committed with so many members.
	GroupRan(ctx context.Context, members int)
}

// unmeasured is Metrics that nobody reads.
type unmeasured struct{}

func (unmeasured) ClaimDecided(context.Context, string, ipam.Code) {}
func (unmeasured) GroupRan(context.Context, int)                   {}

// decided tells what became of a claim. What only repeats an earlier answer decides nothing, and neither does a dry run.
func (s *Service) decided(ctx context.Context, class ipam.ClassRef, r Request, repeated bool, err error) {
	if r.DryRun || (repeated && err == nil) {
		return
	}
	name := ""
	if !class.IsZero() {
		name = class.Ref.String()
	}
	s.metrics.ClaimDecided(ctx, name, ipam.CodeOf(err))
}

// decidedAll is decided for a batch: one that is refused is one refusal, of no class, however many claims it holds.
func (s *Service) decidedAll(ctx context.Context, bound []ipam.Claim, r Request, repeated bool, err error) {
	if err != nil {
		s.decided(ctx, ipam.ClassRef{}, r, repeated, err)
		return
	}
	for _, c := range bound {
		s.decided(ctx, c.Class, r, repeated, nil)
	}
}

// groupRan tells of a transaction of a pool that was committed. A dry run was not, whatever it found.
func (s *Service) groupRan(ctx context.Context, members []*member) {
	if !members[0].request.DryRun { // which runs alone
		s.metrics.GroupRan(ctx, len(members))
	}
}
