package crdb

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// shares bound the connections that the requests of one project use at once. A project that waits for locks or reads much leaves connections to the others.
// A request beyond its project's share waits without a connection.
type shares struct {
	changing *turns.Places // transactions, which may wait for locks
	reading  *turns.Places
	behind   *turns.Places // reads that may be stale, which have connections of their own
}

// patience bounds the requests of one project that wait for a share. The next one is refused.
const patience = 256

// newShares divides the connections. Transactions may wait for locks: all of them together use half of the connections, and one project a quarter. Reads,
// and claims that wait for no lock (InOneTrip), find the rest. One project reads with half of the connections.
func newShares(connections, followers int) shares {
	return shares{
		changing: turns.NewPlaces(part(connections, 2), part(connections, 4), patience),
		reading:  turns.NewPlaces(connections, part(connections, 2), patience),
		behind:   turns.NewPlaces(followers, part(followers, 2), patience),
	}
}

func part(of, divisor int) int { return max(1, of/divisor) }

// enter waits for a place in the share of the project that pays for the work.
func enter(ctx context.Context, of *turns.Places) (leave func(), err error) {
	return of.Enter(ctx, tenancy.PayerOf(ctx))
}
