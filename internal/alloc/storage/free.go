package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// FreeReader reads free blocks.
type FreeReader interface {
	// Stocks counts the free and the cooling blocks of each container by size.
	Stocks(ctx context.Context, containers []Container) (map[ipam.ID]ipam.Stock, error)
	// RoomIn returns the containers that have a free block for the requested prefix length. The cost is one probe for each container of any size.
	RoomIn(ctx context.Context, ask []RoomQuery) (map[ipam.ID]bool, error)
	// FreeList returns up to limit free blocks with a prefix length of at most maxBits. They are ordered by length and then by address, and start after
	// the given block. A zero Prefix means from the start.
	FreeList(ctx context.Context, c Container, maxBits int, after netip.Prefix, limit int) ([]netip.Prefix, error)
	// FreeCover returns the free blocks of a pool, in all its regions, that provide blocks with prefix length bits inside within. These are the free
	// blocks inside within, and the free block that contains within. They are ordered by address. There are at most as many as blocks with prefix length
	// bits in within.
	FreeCover(ctx context.Context, pool ipam.Pool, within netip.Prefix, bits int) ([]netip.Prefix, error)
}

// RoomQuery requests whether a container has room for a block of a prefix length.
type RoomQuery struct {
	Container Container
	Bits      int
}
