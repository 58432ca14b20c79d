package usecase

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
	// LoanMoved: a move of a block between regions was tried, and is over: move is "lend" or "recall"; outcome is "moved", "nothing", "fenced" or "failed".
	LoanMoved(ctx context.Context, move, outcome string)
	// ConsumersEnded: so many consumers ended, for that reason.
	ConsumersEnded(ctx context.Context, because ipam.EndReason, n int)
	// RealmHeld: many consumers of a realm expired at once, and none of them is ended until that is confirmed.
	RealmHeld(ctx context.Context)
	// WebhookTried: something was sent to a webhook, which was "delivered", or failed for a reason.
	WebhookTried(ctx context.Context, outcome string)
	// WebhookGaveUp: a delivery to a webhook was given up.
	WebhookGaveUp(ctx context.Context)
}

// unmeasured is Metrics that nobody reads.
type unmeasured struct{}

func (unmeasured) ClaimDecided(context.Context, string, ipam.Code)     {}
func (unmeasured) GroupRan(context.Context, int)                       {}
func (unmeasured) LoanMoved(context.Context, string, string)           {}
func (unmeasured) ConsumersEnded(context.Context, ipam.EndReason, int) {}
func (unmeasured) RealmHeld(context.Context)                           {}
func (unmeasured) WebhookTried(context.Context, string)                {}
func (unmeasured) WebhookGaveUp(context.Context)                       {}
