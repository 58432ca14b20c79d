package usecase

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Metrics records the results of use cases. It must not block, and must be safe for concurrent use.
type Metrics interface {
	// ClaimDecided records a claim that was bound or refused. refusal is empty for a bound claim. class is the resolved class as project/name, or
	// empty if the claim uses or finds no class.
	ClaimDecided(ctx context.Context, class string, refusal ipam.Code)
	// GroupRan records that a pool's transaction was committed. members is the number of requests in the transaction.
	GroupRan(ctx context.Context, members int)
	// LoanMoved records the end of an attempt to move a block between regions. move is "lend" or "recall". outcome is "moved", "nothing", "fenced" or
	// "failed".
	LoanMoved(ctx context.Context, move, outcome string)
	// ConsumersEnded records the number of consumers that ended for a reason.
	ConsumersEnded(ctx context.Context, reason ipam.EndReason, n int)
	// RealmHeld records that many consumers in a realm expired at once. Carve ends none of them until a client confirms the expiry.
	RealmHeld(ctx context.Context)
	// WebhookTried records an attempt to send to a webhook. outcome is "delivered" or the reason for the failure.
	WebhookTried(ctx context.Context, outcome string)
	// WebhookGaveUp records that Carve gave up a delivery to a webhook.
	WebhookGaveUp(ctx context.Context)
}

// noMetrics implements Metrics and records nothing.
type noMetrics struct{}

func (noMetrics) ClaimDecided(context.Context, string, ipam.Code)     {}
func (noMetrics) GroupRan(context.Context, int)                       {}
func (noMetrics) LoanMoved(context.Context, string, string)           {}
func (noMetrics) ConsumersEnded(context.Context, ipam.EndReason, int) {}
func (noMetrics) RealmHeld(context.Context)                           {}
func (noMetrics) WebhookTried(context.Context, string)                {}
func (noMetrics) WebhookGaveUp(context.Context)                       {}
