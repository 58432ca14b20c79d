package alloc

import (
	"context"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Metrics is told what the use cases do. It must not block, and is safe for concurrent use.
type Metrics interface {
	// ClaimDecided: a claim was bound (refusal ""), or refused. class is project/name of the class that it was resolved to; "" when
	// none took part, or none was found.
	ClaimDecided(ctx context.Context, class string, refusal ipam.Code)
	// GroupRan: one transaction of a pool was committed with so many members.
	GroupRan(ctx context.Context, members int)
	// LoanMoved: a move of a block between regions was tried, and is over: move is "lend" or "recall"; outcome is "moved", "nothing", "fenced" or "failed".
	LoanMoved(ctx context.Context, move, outcome string)
}

// unmeasured is Metrics that nobody reads.
type unmeasured struct{}

func (unmeasured) ClaimDecided(context.Context, string, ipam.Code) {}
func (unmeasured) GroupRan(context.Context, int)                   {}
func (unmeasured) LoanMoved(context.Context, string, string)       {}

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

// loanMoved tells what came of a move of a block between regions. An outcome that is not known is a failure: if it took effect after all, the next look
// at the stocks finds it so.
func (s *Service) loanMoved(ctx context.Context, op string, moved bool, err error) {
	outcome := "nothing"
	switch {
	case isFence(err):
		outcome = "fenced"
	case err != nil:
		outcome = "failed"
	case moved:
		outcome = "moved"
	}
	s.metrics.LoanMoved(ctx, strings.TrimPrefix(op, "region_"), outcome)
}

// groupRan tells of a transaction of a pool that was committed. A dry run was not, whatever it found.
func (s *Service) groupRan(ctx context.Context, members []*member) {
	if !members[0].request.DryRun { // which runs alone
		s.metrics.GroupRan(ctx, len(members))
	}
}
