package crdb

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// projectShares bounds the connections that one project's requests use at once. So a project that waits for locks or reads much leaves connections to the
// others. A request beyond its project's share waits without a connection.
type projectShares struct {
	changing *locks.FairSemaphore // transactions, which may wait for locks
	reading  *locks.FairSemaphore
	behind   *locks.FairSemaphore // stale reads, which have their own connections
}

// patience bounds one project's waiting requests. The next one is refused.
const patience = 256

// newProjectShares divides the connections. Transactions may wait for locks: all together use half the connections, and one project a quarter. Reads, and
// claims that wait for no lock (InOneRoundTrip), use the rest. One project's reads use half the connections.
func newProjectShares(connections, followers int) projectShares {
	return projectShares{
		changing: locks.NewFairSemaphore(part(connections, 2), part(connections, 4), patience),
		reading:  locks.NewFairSemaphore(connections, part(connections, 2), patience),
		behind:   locks.NewFairSemaphore(followers, part(followers, 2), patience),
	}
}

func part(of, divisor int) int { return max(1, of/divisor) }

// enter waits for a slot in the share that belongs to the paying project.
func enter(ctx context.Context, of *locks.FairSemaphore) (leave func(), err error) {
	return of.Acquire(ctx, tenancy.PayerOf(ctx))
}
