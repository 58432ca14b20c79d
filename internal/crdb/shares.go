package crdb

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// shares bounds the connections that one project's requests use at once. So a project that waits for locks or reads much leaves connections to the
// others. A request beyond its project's share waits without a connection.
type shares struct {
	changing *turns.Places // transactions, which may wait for locks
	reading  *turns.Places
	behind   *turns.Places // stale reads, which have their own connections
}

// patience bounds one project's waiting requests. The next one is refused.
const patience = 256

// newShares divides the connections. Transactions may wait for locks: all together use half the connections, and one project a quarter. Reads, and
// claims that wait for no lock (InOneTrip), use the rest. One project's reads use half the connections.
func newShares(connections, followers int) shares {
	return shares{
		changing: turns.NewPlaces(part(connections, 2), part(connections, 4), patience),
		reading:  turns.NewPlaces(connections, part(connections, 2), patience),
		behind:   turns.NewPlaces(followers, part(followers, 2), patience),
	}
}

func part(of, divisor int) int { return max(1, of/divisor) }

// enter waits for a slot in the share that belongs to the paying project.
func enter(ctx context.Context, of *turns.Places) (leave func(), err error) {
	return of.Enter(ctx, tenancy.PayerOf(ctx))
}
