package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// FreeReader reads free blocks.
type FreeReader interface {
	// Stocks counts each container's free and cooling blocks by size.
	Stocks(ctx context.Context, containers []Container) (map[ipam.ID]ipam.Stock, error)
	// RoomIn returns the containers that have a free block for the requested prefix length. The cost is one probe per container, whatever its size
	// is.
	RoomIn(ctx context.Context, ask []RoomQuery) (map[ipam.ID]bool, error)
	// FreeList returns up to limit free blocks with a prefix length of at most maxBits. They are in the order of length and address, after the given
	// block. A zero Prefix means from the start.
	FreeList(ctx context.Context, c Container, maxBits int, after netip.Prefix, limit int) ([]netip.Prefix, error)
	// FreeCover returns a pool's free blocks, in all its regions, that provide blocks with prefix length bits inside the block area. These are the
	// free blocks inside area, and the free block that contains area. They are in address order. Their number is at most the number of blocks with
	// prefix length bits in area.
	FreeCover(ctx context.Context, pool ipam.Pool, area netip.Prefix, bits int) ([]netip.Prefix, error)
}

// RoomQuery asks whether a container has room for a block with a prefix length.
type RoomQuery struct {
	Container Container
	Bits      int
}
