package crdb

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// projectShares limits the connections that one project's requests use at the same time. So a project with slow requests leaves connections to other
// projects. A request beyond its project's share waits without a connection.
type projectShares struct {
	changing *locks.FairSemaphore // transactions, which may wait for locks
	reading  *locks.FairSemaphore
	stale    *locks.FairSemaphore // stale reads, which have their own connections
}

// maxWaiting limits one project's waiting requests. Further requests are refused.
const maxWaiting = 256

// newProjectShares divides the connections:
//
//   - All transactions together use at most half of them, because a transaction may wait for locks. One project's transactions use at most a quarter.
//   - Reads may use all connections. One project's reads use at most half of them.
//   - Stale reads have their own connections. One project's stale reads use at most half of these connections.
//
// Claims in one round trip (InOneRoundTrip) wait for no lock, and need no slot in a share.
func newProjectShares(connections, followers int) projectShares {
	return projectShares{
		changing: locks.NewFairSemaphore(part(connections, 2), part(connections, 4), maxWaiting),
		reading:  locks.NewFairSemaphore(connections, part(connections, 2), maxWaiting),
		stale:    locks.NewFairSemaphore(followers, part(followers, 2), maxWaiting),
	}
}

func part(total, divisor int) int { return max(1, total/divisor) }

// enter waits for a slot in the share of the project to which the request is charged.
func enter(ctx context.Context, semaphore *locks.FairSemaphore) (leave func(), err error) {
	return semaphore.Acquire(ctx, tenancy.PayerOf(ctx))
}
